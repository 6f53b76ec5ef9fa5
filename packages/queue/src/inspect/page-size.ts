import { batchKeysMax, type Driver } from '@sluice/core'
import type { KeyRow } from '@sluice/core/driver'
import { pageKeysMax } from './page-keys-max.ts'

/** How many keys the first page asks for, and how many times as many the next one may. */
const firstKeys = 50
const growth = 4

/** How many characters of items a page is to have: over a slow network, all of it has to arrive in time. */
const pageChars = 1024 * 1024

/** How many keys to list at once, on a way through all of a queue, whose items may be long. */
export class PageSize {
  readonly #max: number
  /** How many keys the next page asks for. */
  keys: number

  constructor(driver: Driver) {
    this.#max = pageKeysMax(driver)
    this.keys = driver.direct === undefined ? firstKeys : this.#max
  }

  /** Fits the next page to the rows of the last one. */
  fit(rows: readonly KeyRow[]): void {
    if (this.#max > batchKeysMax || rows.length === 0) return
    const chars = rows.reduce((sum, { item }) => sum + (item?.length ?? 0), 0)
    const wanted = Math.floor((pageChars * rows.length) / Math.max(1, chars))
    this.keys = Math.max(1, Math.min(this.#max, growth * this.keys, wanted))
  }
}
