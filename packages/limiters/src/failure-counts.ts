import { canonicalJson } from '@sluice/core'

/** Counts failures by item, in memory. Items that are equal as JSON share a count. */
export class FailureCounts {
  readonly #counts = new Map<string, number>()

  /** Counts a failure of `item`; returns how many there were before it. */
  count(item: unknown): number {
    const key = canonicalJson(item, 'item')
    const before = this.#counts.get(key) ?? 0
    this.#counts.set(key, before + 1)
    return before
  }

  of(item: unknown): number {
    return this.#counts.get(canonicalJson(item, 'item')) ?? 0
  }

  forget(item: unknown): void {
    this.#counts.delete(canonicalJson(item, 'item'))
  }
}
