import {
  batchKeysMax,
  checkBoolean,
  checkFunction,
  checkObject,
  type ForgetOutcome,
  type KeyRow,
  type ListReply,
  type ListRequest,
  type OperateOutcome,
} from '@sluice/core'
import { nextTurn } from '../environment/environment.ts'
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

/** The queue of a selection. */
export interface SelectionSource {
  list(request: ListRequest): Promise<ListReply>
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

  async count(): Promise<SelectionCount> {
    const { cap } = this.#filter
    let count = 0
    for await (const keys of this.#pages()) {
      count += keys.length
      if (count > cap) return { count: cap, capped: true }
    }
    return { count, capped: false }
  }

  /** The keys that are found, a page at a time, in their order. */
  async *#pages(): AsyncGenerator<string[], void> {
    const { state, prefix } = this.#filter
    let cursor: string | undefined
    do {
      const page = await this.#source.list({ state, prefix, cursor, limit: batchKeysMax })
      const keys = page.rows.filter((row) => this.#matches(row)).map(({ key }) => key)
      if (keys.length > 0) yield keys
      cursor = page.cursor
      // A store in this process answers at once: without this, a long way would be one block of
      // time.
      await new Promise<void>(nextTurn)
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

  async #operate(verb: BulkVerb, options: BulkOptions, forget = false): Promise<BulkResult> {
    const { confirm } = options
    if (confirm !== undefined) checkFunction('confirm', confirm)
    const found = await this.count()
    if (confirm !== undefined && (await confirm(found)) !== true) {
      return { ...found, confirmed: false, changed: 0, unchanged: 0 }
    }
    let changed = 0
    let left = found.count
    for await (const keys of this.#pages()) {
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

  async park(options: BulkOptions = {}): Promise<BulkResult> {
    checkObject('options', options, ['confirm'])
    return await this.#operate('park', options)
  }

  async unpark(
    options: BulkOptions & { readonly forget?: boolean | undefined } = {},
  ): Promise<BulkResult> {
    checkObject('options', options, ['confirm', 'forget'])
    const { forget = false } = options
    return await this.#operate('unpark', options, checkBoolean('forget', forget))
  }

  async runNow(options: BulkOptions = {}): Promise<BulkResult> {
    checkObject('options', options, ['confirm'])
    return await this.#operate('runNow', options)
  }

  async forget(options: BulkOptions = {}): Promise<BulkResult> {
    checkObject('options', options, ['confirm'])
    return await this.#operate('forget', options)
  }

  async remove(options: BulkOptions = {}): Promise<BulkResult> {
    checkObject('options', options, ['confirm'])
    return await this.#operate('remove', options)
  }
}
