import { type ErrorCode, SluiceError } from '@sluice/core'

/** Whether a statement that failed had been sent to the server. */
export type Progress = 'unsent' | 'sent'

/** The SQLSTATE of an error that came from the server. */
export function sqlStateOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  const { code } = error
  // Codes of Node, such as EPIPE, have the form of an SQLSTATE.
  if (typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code)) return undefined
  return 'severity' in error || /[0-9]/.test(code) ? code : undefined
}

/**
 * Whether the connection has to be replaced: it has ended, leads to a server that cannot write, or has
 * a prepared plan that no longer fits.
 */
export function breaksConnection(error: unknown): boolean {
  const state = sqlStateOf(error)
  if (state === undefined) return true
  return /^(08|57P|25006|25P03|25P04|58|XX|0A000)/.test(state)
}

/**
 * Whether the client knew before it sent the statement that the connection had ended. `pg` gives that error no
 * code. A message of the server can arrive together with the answer to what was sent before.
 */
function isUnsent(error: unknown): boolean {
  return error instanceof Error && /^Client .* is not queryable$/.test(error.message)
}

/**
 * The connection was idle for too long, outside of a transaction or in one. A server ends it only before it reads
 * the next statement: also one that had come already when the server went on after it was held up.
 */
const idleTooLong: ReadonlySet<string | undefined> = new Set(['57P05', '25P03'])

/**
 * Whether the statement and its transaction had no effect, and may be sent again at once: they lost a race, or
 * their connection had ended before.
 */
function isWithoutEffect(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state === '40001' || state === '40P01' || idleTooLong.has(state) || isUnsent(error)
}

/**
 * Whether the statement failed, without effect, because of the notice that it carried: the server's
 * queue of notices is full, the role may not notify, or another commit keeps the lock that all notifying
 * transactions take in turn. The wait for that lock is at the commit, outside of any function.
 */
export function mayBeOfNotice(error: unknown): boolean {
  if (!SluiceError.is(error)) return false
  const { cause } = error
  const state = sqlStateOf(cause)
  if (state === '54000' || state === '42501') return true
  const isOverdue = state === '55P03' || state === '57014'
  return isOverdue && ((cause as { where?: string }).where ?? '') === ''
}

/** Whether a prepared statement is missing, or exists already: there is a pooler in between. */
export function isForeignPrepared(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state === '26000' || state === '42P05'
}

function messageOf(error: unknown): string {
  // Not `instanceof`: in a test of Jest, errors of Node are of another realm.
  const { errors, message } = Object(error) as Partial<AggregateError>
  // Several addresses that cannot be reached are an AggregateError without a message.
  if (Array.isArray(errors) && errors.length > 0) {
    return [...new Set(errors.map(messageOf))].join('; ')
  }
  const text = typeof message === 'string' ? message : String(error)
  // All that pg says of a connection that could not be opened in time.
  if (text === 'timeout expired') return 'a new connection got no answer in time'
  return text.replaceAll(/(\w+:\/\/[^\s:@/]*):\S*@/g, '$1:***@')
}

interface Meaning {
  readonly code: ErrorCode
  readonly retryable: boolean
}

/** SQLSTATEs of a page or an index that is damaged. */
const damage: ReadonlySet<string> = new Set(['XX001', 'XX002'])

/**
 * Whether the connection ended with this error, so that the statement may have taken effect. Poolers
 * use XX000 and 58000 for all other errors, and end the connection; a server uses them, with the
 * severity ERROR, for a statement that had no effect.
 */
function leavesUnknown(error: unknown, state: string | undefined): boolean {
  if (state === undefined || /^(08|57P0[^5]|40003)/.test(state)) return true
  const isError = (error as { severity?: unknown }).severity === 'ERROR'
  return !isError && !damage.has(state) && /^(XX|58)/.test(state)
}

/**
 * Transient errors: lost races; a server that is out of a resource, starting, stopping or not writable;
 * credentials that are being changed; and internal errors, which poolers also give for transient
 * conditions. Other errors need an administrator: they reject an add at once, while workers try again.
 */
const transient = /^(08|0A000|25006|25P0|28|40|53|55000|55006|57|58|XX)/

function meaningOf(error: unknown, progress: Progress): Meaning {
  const state = sqlStateOf(error)
  // The connection may have broken before or after the commit.
  if (progress === 'sent' && !isUnsent(error) && leavesUnknown(error, state)) {
    return { code: 'ERR_UNKNOWN_OUTCOME', retryable: false }
  }
  if (state === undefined) return { code: 'ERR_STORE', retryable: true }
  if (state === '55P03') return { code: 'ERR_STORE_BUSY', retryable: true }
  if (state === '53100') return { code: 'ERR_STORE_FULL', retryable: true }
  if (damage.has(state)) return { code: 'ERR_STORE_DAMAGED', retryable: false }
  return { code: 'ERR_STORE', retryable: transient.test(state) }
}

/** Advice for errors that only a change of the database ends. */
function adviceFor(state: string | undefined): string {
  switch (state) {
    case '25006':
      return '; this server is a standby, or the transaction is read-only: write to the primary, in a transaction that may write'
    case '42501':
      return '; grant this role what rolesSql() lists, and do not apply row level security to it; only the owner of the schema and its functions may migrate and prune'
    case '3F000':
    case '42883':
      return "; the schema or a function is missing: run `sluice migrate`, apply migrationSql(), or open with migrate: 'apply'"
    case '42P01':
    case '42703':
    case '42P10':
      return '; a table or a part of it is missing: `sluice doctor` names it; if the whole schema is, run `sluice migrate`'
    case '2200H':
      return '; the store has given out the last fencing token, 2^53 - 1'
    default:
      return ''
  }
}

/** What the server or its client said, and what to do about it. */
export function describe(error: unknown): string {
  // A standby refuses `begin read write` as an unsupported setting; messages may be translated.
  const routine = (error as { routine?: unknown } | undefined)?.routine
  const advice = adviceFor(routine === 'call_bool_check_hook' ? '25006' : sqlStateOf(error))
  return `${messageOf(error)}${stateText(error)}${advice}`
}

function stateText(error: unknown): string {
  const state = sqlStateOf(error)
  return state === undefined ? '' : ` (SQLSTATE ${state})`
}

/** Advice for errors of connecting. `pg` gives that of a pool that was ended no code. */
function connectAdviceFor(state: string | undefined, text: string): string {
  switch (state) {
    case undefined:
      if (text.includes('calling end on the pool'))
        return '; close the queues before their pool ends'
      return '; check the address, its sslmode, and whether Postgres answers there'
    case '28000':
    case '28P01':
      return '; correct the role or its password, or let pg_hba.conf accept them'
    case '3D000':
      return '; create it, or correct the address'
    case '42501':
      return '; grant it to this role'
    default:
      return ''
  }
}

/** The failure of an attempt to connect, as a `SluiceError` that says where to. */
export function connectError(error: unknown, to?: (isAnswered: boolean) => string): SluiceError {
  if (SluiceError.is(error)) return error
  const { code, retryable } = meaningOf(error, 'unsent')
  const state = sqlStateOf(error)
  const where = to?.(state !== undefined) ?? ''
  const text = messageOf(error)
  const why = `${text}${stateText(error)}${connectAdviceFor(state, text)}`
  return new SluiceError(code, `no connection to Postgres${where}: ${why}`, {
    cause: error,
    retryable,
  })
}

/** Any failure of the store, as a `SluiceError`, with more advice than its SQLSTATE gives. */
export function storeError(error: unknown, progress: Progress, advice = ''): SluiceError {
  if (SluiceError.is(error)) return error
  const { code, retryable } = meaningOf(error, progress)
  const said = `${describe(error)}${advice}`
  const message =
    code === 'ERR_UNKNOWN_OUTCOME'
      ? `the connection to Postgres broke while an answer was awaited: ${said}`
      : code === 'ERR_STORE_BUSY'
        ? `a row is locked by another transaction: ${said}`
        : `Postgres failed: ${said}`
  return new SluiceError(code, message, { cause: error, retryable })
}

/** The error of a step that may be repeated, so that an unknown outcome of it is no matter. */
export function repeatableError(error: unknown, what: string): unknown {
  if (!SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME')) return error
  return new SluiceError('ERR_STORE', `${what}: ${error.message}`, {
    cause: error,
    retryable: true,
  })
}

/** How often a statement or transaction that had no effect is attempted at most. */
const attemptsMax = 10

/** Attempts a statement or transaction again while the server ends it without effect, after what `lost` waits for. */
export async function whileWithoutEffect<T>(
  attempt: () => Promise<T>,
  lost?: (cause: unknown, tries: number) => Promise<void>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (tries === attemptsMax || !(SluiceError.is(error) && isWithoutEffect(error.cause)))
        throw error
      await lost?.(error.cause, tries)
    }
  }
}
