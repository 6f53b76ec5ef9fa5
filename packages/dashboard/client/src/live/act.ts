import type {
  ActionName,
  ActionRequest,
  ActionResult,
  Matching,
  SessionInfo,
} from '../../../src/wire.ts'
import { messageOf, post, request } from './ask.ts'
import { refresh } from './live.ts'
import { notify } from './notices.ts'
import { session } from './session.ts'

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

/** Sends an action and shows its result; true if it succeeded. */
export async function act(request: ActionRequest): Promise<boolean> {
  try {
    const result = await post<ActionResult>('api/act', request, session.value?.csrf)
    notify('done', result.words)
    void refresh()
    return true
  } catch (error) {
    notify('failed', `Nothing changed: ${messageOf(error)}`)
    return false
  }
}

/** Sends an action for each of several keys, and shows one result. */
export async function actOnEach(
  action: ActionName,
  queue: string,
  keys: readonly string[],
): Promise<boolean> {
  let changed = 0
  try {
    for (const key of keys) {
      const result = await post<ActionResult>(
        'api/act',
        { queue, action, key } satisfies ActionRequest,
        session.value?.csrf,
      )
      changed += result.changed
    }
    notify('done', `${changed} of ${keys.length} keys changed.`)
    void refresh()
    return true
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
