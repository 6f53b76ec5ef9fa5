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

/**
 * The connection has ended, leads to a server that cannot write, or keeps a plan that no longer fits:
 * it has to be replaced.
 */
export function breaksConnection(error: unknown): boolean {
  const state = sqlStateOf(error)
  if (state === undefined) return true
  return /^(08|57P|25006|25P03|58|XX|0A000)/.test(state)
}

/** The statement lost a race with another one, had no effect, and may be sent again at once. */
export function isLostRace(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state === '40001' || state === '40P01'
}

/**
 * The server did not do this, and may well have been hindered by the notice that went along: its queue
 * of notices is full, this role may not notify, or somebody else's commit keeps the lock that all who
 * notify take in turn. That lock is waited for at the commit, where no function is at work any more.
 */
export function mayBeOfNotice(error: unknown): boolean {
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

/** SQLSTATEs of a page or an index that is damaged. */
const damage: ReadonlySet<string> = new Set(['XX001', 'XX002'])

/**
 * Whether the connection ended with this error, so that the statement may have taken effect. A pooler
 * says XX000 and 58000 of everything that it cannot name, and ends the connection; a server says them
 * of a statement that it did not do, as an ERROR.
 */
function leavesUnknown(error: unknown, state: string | undefined): boolean {
  if (state === undefined || /^(08|57P0|40003)/.test(state)) return true
  const isError = (error as { severity?: unknown }).severity === 'ERROR'
  return !isError && !damage.has(state) && /^(XX|58)/.test(state)
}

/**
 * What passes: lost races; a server that is out of something, starting, stopping or not writable;
 * credentials that are being changed; and internal errors, which poolers give for passing reasons.
 * Errors that need an administrator reject an add at once; workers wait for them to pass as well.
 */
const passing = /^(08|0A000|25006|25P0|28|40|53|55000|55006|57|58|XX)/

function meaningOf(error: unknown, progress: Progress): Meaning {
  const state = sqlStateOf(error)
  // Between a connection that broke and the commit, it is not known which came first.
  if (progress === 'sent' && leavesUnknown(error, state)) {
    return { code: 'ERR_UNKNOWN_OUTCOME', retryable: false }
  }
  if (state === undefined) return { code: 'ERR_STORE', retryable: true }
  if (state === '55P03') return { code: 'ERR_STORE_BUSY', retryable: true }
  if (state === '53100') return { code: 'ERR_STORE_FULL', retryable: true }
  if (damage.has(state)) return { code: 'ERR_STORE_DAMAGED', retryable: false }
  return { code: 'ERR_STORE', retryable: passing.test(state) }
}

/** What to do about errors that pass only if the database is changed. */
function adviceFor(state: string | undefined): string {
  switch (state) {
    case '42501':
      return '; grant this role what rolesSql() lists'
    case '3F000':
    case '42P01':
    case '42883':
      return "; the schema is not there or was changed: apply migrationSql(), or open with migrate: 'apply'"
    case '2200H':
      return '; fencing tokens end at 2^53 - 1, and the store has given out the last one'
    default:
      return ''
  }
}

/** Any failure of the store, as an error of ours. */
export function storeError(error: unknown, progress: Progress): SluiceError {
  if (SluiceError.is(error)) return error
  const { code, retryable } = meaningOf(error, progress)
  const state = sqlStateOf(error)
  const stateText = state === undefined ? '' : ` (SQLSTATE ${state})`
  const said = `${messageOf(error)}${stateText}${adviceFor(state)}`
  const message =
    code === 'ERR_UNKNOWN_OUTCOME'
      ? `the connection to Postgres broke while an answer was awaited: ${said}`
      : code === 'ERR_STORE_BUSY'
        ? `a row is locked by another transaction: ${said}`
        : `Postgres failed: ${said}`
  return new SluiceError(code, message, { cause: error, retryable })
}
