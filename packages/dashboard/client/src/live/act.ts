import type {
  ActionName,
  ActionRequest,
  ActionResult,
  Matching,
  SessionInfo,
} from '../../../src/wire.ts'
import { HttpError, messageOf, request } from './ask.ts'
import { notify } from './notices.ts'
import { ownActions } from './own-actions.ts'
import { postSigned, session } from './session.ts'
import { refresh } from './views.ts'

const verbs: Readonly<Record<ActionName, string>> = {
  add: 'add keys',
  runNow: 'end delays',
  release: 'release keys',
  forget: 'forget failures',
  park: 'park keys',
  unpark: 'unpark keys',
  remove: 'remove keys',
  pause: 'pause a queue',
  resume: 'resume a queue',
  purge: 'purge a queue',
}

const always: ReadonlySet<ActionName> = new Set(['add', 'forget', 'release'])

/** Why an action is not available, as a sentence; `undefined` if it is. */
export function whyNot(action: ActionName): string | undefined {
  const info = session.value
  if (info === undefined) return 'not connected yet'
  if (!info.mayAct) return info.readOnlyBecause ?? 'this dashboard is read-only'
  if (!always.has(action) && !can(info.capabilities)) {
    return `the ${info.driver} driver cannot ${verbs[action]}: it lacks the capability “operate”`
  }
  return undefined
}

function can(capabilities: SessionInfo['capabilities']): boolean {
  return capabilities.operate
}

/** Whether this page may act. */
export function mayAct(): boolean {
  return session.value?.mayAct === true
}

function send(request: ActionRequest): Promise<ActionResult> {
  const answered = ownActions.note(request)
  return postSigned<ActionResult>('api/act', request).finally(answered)
}

/** Errors of a store that has done nothing. */
const doneNothing: ReadonlySet<string> = new Set([
  'ERR_STORE',
  'ERR_STORE_BUSY',
  'ERR_STORE_FULL',
  'ERR_TIMEOUT',
  'ERR_QUEUE_FULL',
])

/** Whether an action that failed changed nothing: of many keys, some may be done. */
function changedNothing(error: unknown, { action, all }: ActionRequest): boolean {
  if (!(error instanceof HttpError) || error.status === 0) return false
  if (error.status < 500) return true
  return doneNothing.has(error.code) && all === undefined && action !== 'purge'
}

/** Sends an action and shows its result; true if it succeeded. */
export async function act(request: ActionRequest): Promise<boolean> {
  try {
    const result = await send(request)
    notify('done', result.words)
    void refresh()
    return true
  } catch (error) {
    const words = changedNothing(error, request)
      ? 'Nothing changed'
      : 'The change may have been made, or a part of it'
    notify('failed', `${words}: ${messageOf(error)}`)
    return false
  }
}

/** Sends an action for each of several keys until it is cancelled, and shows one result. */
export async function actOnEach(
  action: ActionName,
  queue: string,
  keys: readonly string[],
  cancelled: AbortSignal,
): Promise<boolean> {
  let changed = 0
  let sent = 0
  try {
    for (const key of keys) {
      if (cancelled.aborted) break
      sent += 1
      const result = await send({ queue, action, key })
      changed += result.changed
    }
    notify(
      'done',
      sent < keys.length
        ? `Cancelled after ${changed} of ${keys.length} keys.`
        : `${changed} of ${keys.length} keys changed.`,
    )
    void refresh()
    return !cancelled.aborted
  } catch (error) {
    notify('failed', `Stopped after ${changed} of ${keys.length} keys: ${messageOf(error)}`)
    return false
  }
}

/** An action changes no more keys than this. */
const bulkMax = 10_000

/**
 * Counts the keys that match a query now, with the count so far after each part of the queue that was
 * read. A part without a cursor is the last.
 */
export async function* countMatching(
  queue: string,
  params: URLSearchParams,
  signal: AbortSignal,
): AsyncGenerator<Matching, void> {
  const query = new URLSearchParams(params)
  query.set('queue', queue)
  let [count, lookedAt] = [0, 0]
  for (;;) {
    const part = await request<Matching>(`api/matching?${query}`, { signal })
    count += part.count
    lookedAt += part.lookedAt
    const capped = part.capped || count > bulkMax
    const isLast = capped || part.cursor === undefined
    const sum = { count: Math.min(count, bulkMax), capped, lookedAt }
    yield isLast ? sum : { ...sum, cursor: part.cursor ?? '' }
    if (isLast) return
    query.set('cursor', part.cursor ?? '')
  }
}
