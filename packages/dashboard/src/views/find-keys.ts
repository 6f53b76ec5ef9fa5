import type { Inspect, KeyInfo, KeyPage, LastError } from 'sluice'
import { breathe } from './yield-to-event-loop.ts'
import type { AboutKey, DashboardOptions } from '../dashboard.ts'
import type { KeyLine, KeyLines, KeyQuery, Matching } from '../wire.ts'

/** How many keys one page of a list looks at, at the most, to find those that were asked for. */
const looksMax = 2_000

/** How many keys are listed at a time: their items come along, so not too many. */
const listMax = 200

/** How much JSON of items one page of a list has; what is beyond that can be asked for one by one. */
const itemsCharactersMax: number = 1024 * 1024

/** How many keys are counted to say how many a query finds. */
const matchingMax = 10_000

/** How many keys are looked at for that. */
const matchingLooksMax = 20_000

/** Makes of keys what may be shown of them. */
export class KeyDisplay {
  readonly #hooks: Pick<DashboardOptions, 'redact' | 'redactError'>
  readonly #report: (error: unknown) => void

  constructor(
    hooks: Pick<DashboardOptions, 'redact' | 'redactError'>,
    report: (error: unknown) => void,
  ) {
    this.#hooks = hooks
    this.#report = report
  }

  /** A key as lists show it; with its item only if somebody asked for that. */
  line(queue: string, info: KeyInfo, withItem: boolean): KeyLine {
    const { item, lastError, ...rest } = info
    const about = { queue, key: info.key }
    return {
      ...rest,
      // An item that is the key itself says nothing that the key does not say.
      hasItem: item !== info.key,
      ...(withItem ? { item: this.#item(item, about) } : {}),
      ...(lastError === undefined ? {} : { lastError: this.error(lastError, about) }),
    }
  }

  #item(item: unknown, about: AboutKey): unknown {
    const { redact } = this.#hooks
    if (redact === undefined) return item
    try {
      // `null` stands for what JSON cannot say.
      return redact(item, about) ?? null
    } catch (error) {
      this.#report(error)
      return '(not shown: it could not be redacted)'
    }
  }

  /** What may be shown of an error. */
  error(error: LastError, about: AboutKey): LastError {
    const { redactError } = this.#hooks
    if (redactError === undefined) return error
    try {
      const { name, message, code, stack } = redactError(error, about)
      return {
        name: String(name),
        message: String(message),
        ...(code === undefined ? {} : { code: String(code) }),
        ...(stack === undefined ? {} : { stack: String(stack) }),
      }
    } catch (failure) {
      this.#report(failure)
      return { name: 'Error', message: '(not shown: it could not be redacted)' }
    }
  }
}

function matches({ failures, lastError }: KeyInfo, query: KeyQuery): boolean {
  const { failuresMin = 0, errorCode } = query
  if (failures < failuresMin) return false
  return errorCode === undefined || lastError?.code === errorCode
}

/** Whether every key that the store lists is one that is asked for. */
function isPlain({ failuresMin = 0, errorCode }: KeyQuery): boolean {
  return failuresMin === 0 && errorCode === undefined
}

function listOf(
  inspect: Inspect,
  { state, prefix }: KeyQuery,
  cursor: string | undefined,
  limit: number,
): Promise<KeyPage> {
  return inspect.list({
    limit,
    ...(state === undefined ? {} : { state }),
    ...(prefix === undefined ? {} : { prefix }),
    ...(cursor === undefined ? {} : { cursor }),
  })
}

/** A page of the keys that a query finds. If they are rare, it may be short and not the last. */
export async function findKeys(
  inspect: Inspect,
  query: KeyQuery,
  from: string | undefined,
  limit: number,
): Promise<{ keys: readonly KeyInfo[]; cursor?: string; lookedAt: number }> {
  const keys: KeyInfo[] = []
  let cursor = from
  let lookedAt = 0
  do {
    const wanted = isPlain(query) ? limit - keys.length : listMax
    const page = await listOf(inspect, query, cursor, wanted)
    lookedAt += page.keys.length
    cursor = page.cursor
    for (const info of page.keys) {
      if (!matches(info, query)) continue
      keys.push(info)
      if (keys.length < limit) continue
      const hasMore = cursor !== undefined || info !== page.keys.at(-1)
      return { keys, lookedAt, ...(hasMore ? { cursor: info.key } : {}) }
    }
    // The store itself has looked at many keys for a page that is not full.
    if (page.keys.length < wanted) break
    await breathe()
  } while (cursor !== undefined && lookedAt < looksMax)
  return { keys, lookedAt, ...(cursor === undefined ? {} : { cursor }) }
}

/** How many keys a query finds, up to a cap, looking at a bounded number of them. */
export async function countMatching(inspect: Inspect, query: KeyQuery): Promise<Matching> {
  let count = 0
  let looks = 0
  let cursor: string | undefined
  do {
    const page = await listOf(inspect, query, cursor, listMax)
    for (const info of page.keys) if (matches(info, query)) count += 1
    if (count > matchingMax) return { count: matchingMax, capped: true }
    looks += Math.max(page.keys.length, listMax)
    cursor = page.cursor
    await breathe()
  } while (cursor !== undefined && looks < matchingLooksMax)
  return { count, capped: cursor !== undefined }
}

/** Keys as a page shows them. */
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
