import type { EpochMs } from '@sluice/core'

/** A delayed key, its priority and its due time. */
export interface DelayedKey {
  readonly key: string
  readonly dueAt: EpochMs
  readonly priority: number
}

/** Delayed keys, each once, in the order of their due times. */
export class DueHeap {
  readonly #entries: DelayedKey[] = []
  readonly #positions = new Map<string, number>()

  get(key: string): DelayedKey | undefined {
    const at = this.#positions.get(key)
    return at === undefined ? undefined : this.#entries[at]
  }

  /** Inserts or moves a key. */
  set(entry: DelayedKey): void {
    this.#settle(this.#positions.get(entry.key) ?? this.#entries.length, entry)
  }

  delete(key: string): void {
    const at = this.#positions.get(key)
    if (at === undefined) return
    this.#positions.delete(key)
    const last = this.#entries.pop() as DelayedKey
    if (at < this.#entries.length) this.#settle(at, last)
  }

  /** Removes and returns the first key if it is due at `now`. */
  popDue(now: EpochMs): DelayedKey | undefined {
    const first = this.#entries[0]
    if (first === undefined || first.dueAt > now) return undefined
    this.delete(first.key)
    return first
  }

  clear(): void {
    this.#entries.length = 0
    this.#positions.clear()
  }

  /** Moves an entry to its position, starting at `from`, whose own entry is dropped. */
  #settle(from: number, entry: DelayedKey): void {
    const entries = this.#entries
    let at = from
    for (;;) {
      const above = (at - 1) >>> 1
      const other = at === 0 ? undefined : entries[above]
      if (other === undefined || other.dueAt <= entry.dueAt) break
      this.#put(at, other)
      at = above
    }
    while (at >= from) {
      let below = 2 * at + 1
      const right = entries[below + 1]
      const left = entries[below]
      if (left === undefined) break
      if (right !== undefined && right.dueAt < left.dueAt) below += 1
      const other = entries[below] as DelayedKey
      if (entry.dueAt <= other.dueAt) break
      this.#put(at, other)
      at = below
    }
    this.#put(at, entry)
  }

  #put(at: number, entry: DelayedKey): void {
    this.#entries[at] = entry
    this.#positions.set(entry.key, at)
  }
}
