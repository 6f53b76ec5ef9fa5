import { type ErrorCode, SluiceError } from '@sluice/core'

/** Whether what failed had been sent to the server. */
export type Progress = 'unsent' | 'sent'

/** What the server calls a failure: its SQLSTATE, if it was the server that spoke. */
export function sqlStateOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  const { code } = error
  // Node's own codes, such as ECONNRESET or EPIPE, are letters that could be taken for one.
  if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) return undefined
  return 'severity' in error || /[0-9]/.test(code) ? code : undefined
}

/** The connection is over, or leads to a server that cannot write: what has to be replaced. */
export function breaksConnection(error: unknown): boolean {
  const state = sqlStateOf(error)
  if (state === undefined) return true
  return /^(08|57P|25006|25P03|58|XX)/.test(state)
}

/** The statement lost a race with another one, had no effect, and may be sent again at once. */
export function isLostRace(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state === '40001' || state === '40P01'
}

/**
 * The server did not do this, and may well have been hindered by the hint that went along: its queue
 * of notices is full, this role may not notify, or somebody else's commit keeps the lock that all who
 * notify take in turn. That lock is waited for at the commit, where no function is at work any more.
 */
export function mayBeOfHint(error: unknown): boolean {
  if (!SluiceError.is(error)) return false
  const { cause } = error
  const state = sqlStateOf(cause)
  if (state === '54000' || state === '42501') return true
  const isOverdue = state === '55P03' || state === '57014'
  return isOverdue && ((cause as { where?: string }).where ?? '') === ''
}

/** The prepared statement is not there, or there twice: somebody pools connections in between. */
export function isForeignPrepared(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state === '26000' || state === '42P05'
}

function messageOf(error: unknown): string {
  // Addresses that could not be reached come as an AggregateError without a message of its own.
  if (error instanceof AggregateError && error.errors.length > 0) {
    return [...new Set(error.errors.map(messageOf))].join('; ')
  }
  const text = error instanceof Error ? error.message : String(error)
  return text.replaceAll(/(\w+:\/\/[^\s:@/]*):[^\s@]*@/g, '$1:***@')
}

interface Meaning {
  readonly code: ErrorCode
  readonly retryable: boolean
}

function meaningOf(error: unknown, progress: Progress): Meaning {
  const state = sqlStateOf(error)
  if (state === undefined || /^(08|57P0)/.test(state)) {
    // Between a connection that broke and the commit, nobody can say which came first.
    if (progress === 'sent') return { code: 'ERR_UNKNOWN_OUTCOME', retryable: false }
    return { code: 'ERR_STORE', retryable: true }
  }
  if (state === '55P03') return { code: 'ERR_STORE_BUSY', retryable: true }
  if (state === '53100') return { code: 'ERR_STORE_FULL', retryable: true }
  if (/^(40|53|25006|25P0|57014|55000|58)/.test(state))
    return { code: 'ERR_STORE', retryable: true }
  if (/^(XX)/.test(state)) return { code: 'ERR_STORE_DAMAGED', retryable: false }
  return { code: 'ERR_STORE', retryable: false }
}

/** Any failure of the store, as an error of ours. */
export function storeError(error: unknown, progress: Progress): SluiceError {
  if (SluiceError.is(error)) return error
  const { code, retryable } = meaningOf(error, progress)
  const state = sqlStateOf(error)
  const said = `${messageOf(error)}${state === undefined ? '' : ` (SQLSTATE ${state})`}`
  const message =
    code === 'ERR_UNKNOWN_OUTCOME'
      ? `the connection to Postgres broke while an answer was awaited: ${said}`
      : code === 'ERR_STORE_BUSY'
        ? `a row is locked by another transaction: ${said}`
        : `Postgres failed: ${said}`
  return new SluiceError(code, message, { cause: error, retryable })
}
