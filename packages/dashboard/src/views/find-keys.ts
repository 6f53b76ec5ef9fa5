import type { Inspect, KeyInfo, KeyStateWord, QueueCounts, StoreInspection } from 'sluice'
import type { KeyLine, KeyLines, KeyQuery, Matching } from '../wire.ts'
import type { KeyDisplay } from './key-display.ts'

/** The maximum number of keys that are read to fill one page of a list. */
const readMax = 10_000

/** How many keys are read at a time. They are read with their items, so the number is small. */
const listMax = 200

/** The maximum JSON length of the items of one page; further items can be read one by one. */
const itemsCharactersMax: number = 1024 * 1024

/** The maximum number of matching keys that are counted. */
const matchingMax = 10_000

/** The maximum number of keys that are read for one answer with that count. */
const matchingReadMax = 20_000

/** Where keys are searched, and what visitors may see of them. */
export interface Searched {
  readonly store: StoreInspection
  readonly display: KeyDisplay
  readonly queue: string
}

function matches(info: KeyInfo, query: KeyQuery, { display, queue }: Searched): boolean {
  const { key, failures, lastError } = info
  const { failuresMin = 0, errorCode } = query
  if (failures < failuresMin) return false
  if (errorCode === undefined) return true
  // The name of an error stands for a missing code.
  if (lastError === undefined || (lastError.code ?? lastError.name) !== errorCode) return false
  // Finding a code that is hidden would confirm a guess of it.
  return display.code(lastError, { queue, key }) === errorCode
}

/** Whether the store applies the whole filter, so that every listed key matches. */
function isFilteredByStore({ failuresMin = 0, errorCode }: KeyQuery): boolean {
  return failuresMin === 0 && errorCode === undefined
}

/** A page of the keys that match a query. If matches are rare, a short page need not be the last. */
export async function findKeys(
  searched: Searched,
  query: KeyQuery,
  from: string | undefined,
  limit: number,
): Promise<{ keys: readonly KeyInfo[]; cursor: string | undefined; lookedAt: number }> {
  const inspect = searched.store.queue(searched.queue)
  const { state, prefix } = query
  const keys: KeyInfo[] = []
  let cursor = from
  let lookedAt = 0
  do {
    const wanted = isFilteredByStore(query) ? limit - keys.length : listMax
    const page = await inspect.list({ limit: wanted, state, prefix, cursor })
    lookedAt += page.keys.length
    cursor = page.cursor
    for (const info of page.keys) {
      if (!matches(info, query, searched)) continue
      keys.push(info)
      if (keys.length < limit) continue
      const hasMore = cursor !== undefined || info !== page.keys.at(-1)
      return { keys, lookedAt, cursor: hasMore ? info.key : undefined }
    }
    // A page that is not full means that the store itself has read many keys.
    if (page.keys.length < wanted) break
  } while (cursor !== undefined && lookedAt < readMax)
  return { keys, lookedAt, cursor }
}

/** Counts the keys that match a query, up to a cap; a bounded number of keys is read at a time. */
export async function countMatching(
  searched: Searched,
  query: KeyQuery,
  from: string | undefined,
): Promise<Matching> {
  const inspect = searched.store.queue(searched.queue)
  const { state, prefix } = query
  let count = 0
  let lookedAt = 0
  let read = 0
  let cursor = from
  do {
    const page = await inspect.list({ limit: listMax, state, prefix, cursor })
    for (const info of page.keys) if (matches(info, query, searched)) count += 1
    lookedAt += page.keys.length
    if (count > matchingMax) return { count: matchingMax, capped: true, lookedAt }
    // A page that is not full means that the store itself has read many keys.
    read += Math.max(page.keys.length, listMax)
    cursor = page.cursor
  } while (cursor !== undefined && read < matchingReadMax)
  return { count, capped: false, lookedAt, cursor }
}

/** Every state that a failed key can be in; first those in which few keys have not failed. */
const failingStates = [
  'backoff',
  'parked',
  'idle',
  'processing',
  'dirty',
  'ready',
  'delayed',
] as const

/** The maximum number of pages of one state that are read for its first keys. */
const pagesMax = 4

/** Some keys that have failed, and whether more may have. */
export interface FailingKeys {
  readonly keys: readonly KeyInfo[]
  readonly more: boolean
  /** When the next key in back-off is due; `undefined` also if not all of them were read. */
  readonly nextBackoffAt: number | undefined
}

/** Finds keys that have failed, reading at most `max`. */
export async function findFailingKeys(
  inspect: Inspect,
  counts: QueueCounts,
  max: number,
): Promise<FailingKeys> {
  const keys: KeyInfo[] = []
  let more = false
  let nextBackoffAt: number | undefined
  for (const state of failingStates) {
    if (counts[state] === 0) continue
    const found = await firstKeys(inspect, state, max - keys.length)
    keys.push(...found.keys)
    more ||= found.isCut
    if (state === 'backoff') nextBackoffAt = firstDue(found)
  }
  return { keys: keys.filter(({ failures }) => failures > 0), more, nextBackoffAt }
}

/** The first keys in a state, and whether more may follow. */
interface FirstKeys {
  readonly keys: readonly KeyInfo[]
  readonly isCut: boolean
}

/** When the first of the keys is due; unknown if not all were read, since they come in the order of their names. */
export function firstDue({ keys, isCut }: FirstKeys): number | undefined {
  let first: number | undefined
  if (isCut) return first
  for (const { dueAt } of keys) {
    if (dueAt !== undefined && (first === undefined || dueAt < first)) first = dueAt
  }
  return first
}

/** The first keys in a state, `max` at most, and whether more may follow. A page may be short, or empty. */
export async function firstKeys(
  inspect: Inspect,
  state: KeyStateWord,
  max: number,
): Promise<FirstKeys> {
  const keys: KeyInfo[] = []
  let cursor: string | undefined
  for (let pages = 0; pages < pagesMax && keys.length < max; pages += 1) {
    const limit = Math.min(listMax, max - keys.length)
    const page = await inspect.list({ state, limit, cursor })
    keys.push(...page.keys)
    cursor = page.cursor
    if (cursor === undefined) return { keys, isCut: false }
  }
  return { keys, isCut: true }
}

/** The found keys as a list shows them. */
export function shownLines(
  display: KeyDisplay,
  queue: string,
  at: number,
  found: Awaited<ReturnType<typeof findKeys>>,
  withItems: boolean,
): KeyLines {
  const { keys, ...rest } = found
  let left = itemsCharactersMax
  const lines = keys.map((info): KeyLine => {
    const line = display.line(queue, info, withItems && left > 0)
    if ('item' in line) left -= JSON.stringify(line.item).length
    return line
  })
  return { at, keys: lines, ...rest }
}
