import {
  batchKeysMax,
  checkBoolean,
  checkFunction,
  checkObject,
  type EpochMs,
  type ForgetOutcome,
  type KeyRow,
  type ListReply,
  type ListRequest,
  never,
  nextTurn,
  type OperateOutcome,
} from '@sluice/core'
import { lastErrorOf } from './key-info.ts'
import {
  type BulkOptions,
  type BulkResult,
  checkFilter,
  type KeyFilter,
  type Selection,
  type SelectionCount,
} from './selection.ts'

/** A verb of an operator's, for a page of keys. */
export type BulkVerb = 'park' | 'unpark' | 'runNow' | 'remove' | 'forget'

/**
 * The keys that each verb is for. Those that are as it would make them are not selected: they would use
 * up the cap each time the verb is repeated, and `unpark` would forget the failures of keys that are not
 * parked.
 */
const concerns: Readonly<Record<BulkVerb, (row: KeyRow, now: EpochMs) => boolean>> = {
  park: ({ parked }) => !parked,
  unpark: ({ parked }) => parked,
  runNow: ({ dueAt }, now) => dueAt > now && dueAt !== never,
  remove: ({ dueAt, failures, crashes, parked }) =>
    dueAt !== never || failures + crashes > 0 || parked,
  forget: ({ failures, crashes }) => failures + crashes > 0,
}

/** The queue of a selection. */
export interface SelectionSource {
  /** A page of keys, as large as suits the store. */
  list(request: Omit<ListRequest, 'limit'>): Promise<ListReply>
  operate(
    verb: BulkVerb,
    keys: readonly string[],
    options: { readonly forget: boolean },
  ): Promise<readonly (OperateOutcome | ForgetOutcome)[]>
}

/** The keys of one queue that a filter finds. */
export class KeySelection implements Selection {
  readonly #source: SelectionSource
  readonly #filter: ReturnType<typeof checkFilter>

  constructor(source: SelectionSource, filter: KeyFilter) {
    this.#source = source
    this.#filter = checkFilter(filter)
  }

  async count(verb?: BulkVerb): Promise<SelectionCount> {
    const { cap } = this.#filter
    let count = 0
    for await (const keys of this.#batches(verb)) {
      count += keys.length
      if (count > cap) return { count: cap, capped: true }
    }
    return { count, capped: false }
  }

  /** The keys that are found, of those that the verb is for, a batch at a time, in their order. */
  async *#batches(verb?: BulkVerb): AsyncGenerator<string[], void> {
    const { state, prefix } = this.#filter
    let cursor: string | undefined
    do {
      const page = await this.#source.list({ state, prefix, cursor })
      const isFor = (row: KeyRow): boolean => verb === undefined || concerns[verb](row, page.now)
      const keys = page.rows.filter((row) => this.#matches(row) && isFor(row)).map(({ key }) => key)
      cursor = page.cursor
      let from = 0
      do {
        if (keys.length > 0) yield keys.slice(from, from + batchKeysMax)
        from += batchKeysMax
        // A store in this process answers at once: without this, a long way would be one block of
        // time.
        await new Promise<void>(nextTurn)
      } while (from < keys.length)
    } while (cursor !== undefined)
  }

  #matches({ failures, lastError }: KeyRow): boolean {
    const { failuresMin = 0, errorCode } = this.#filter
    if (failures < failuresMin) return false
    if (errorCode === undefined) return true
    if (lastError === undefined) return false
    const { code, name } = lastErrorOf(lastError)
    return (code ?? name) === errorCode
  }

  async #operate(
    verb: BulkVerb,
    options: BulkOptions & { readonly forget?: boolean | undefined } = {},
    names: readonly string[] = ['confirm'],
  ): Promise<BulkResult> {
    checkObject('options', options, names)
    const { confirm, forget = false } = options
    checkBoolean('forget', forget)
    if (confirm !== undefined) checkFunction('confirm', confirm)
    const found = await this.count(verb)
    if (confirm !== undefined && (await confirm(found)) !== true) {
      return { ...found, confirmed: false, changed: 0, unchanged: 0 }
    }
    let changed = 0
    let left = found.count
    for await (const keys of left === 0 ? [] : this.#batches(verb)) {
      // No more than were confirmed, though more may match by now.
      const some = keys.slice(0, left)
      left -= some.length
      const outcomes = await this.#source.operate(verb, some, { forget })
      for (const outcome of outcomes) {
        if (outcome === 'changed' || outcome === 'forgotten') changed += 1
      }
      if (left === 0) break
    }
    return { ...found, confirmed: true, changed, unchanged: found.count - left - changed }
  }

  park(options?: BulkOptions): Promise<BulkResult> {
    return this.#operate('park', options)
  }

  unpark(options?: BulkOptions & { readonly forget?: boolean | undefined }): Promise<BulkResult> {
    return this.#operate('unpark', options, ['confirm', 'forget'])
  }

  runNow(options?: BulkOptions): Promise<BulkResult> {
    return this.#operate('runNow', options)
  }

  forget(options?: BulkOptions): Promise<BulkResult> {
    return this.#operate('forget', options)
  }

  remove(options?: BulkOptions): Promise<BulkResult> {
    return this.#operate('remove', options)
  }
}
