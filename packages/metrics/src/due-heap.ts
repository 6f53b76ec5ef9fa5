import type { EpochMs } from '@sluice/core'

/** A key that is delayed, under which priority, and until when. */
export interface DelayedKey {
  readonly key: string
  readonly dueAt: EpochMs
  readonly priority: number
}

/** Delayed keys, each of them once, the one that is due next first. */
export class DueHeap {
  readonly #entries: DelayedKey[] = []
  readonly #positions = new Map<string, number>()

  get size(): number {
    return this.#entries.length
  }

  get(key: string): DelayedKey | undefined {
    const at = this.#positions.get(key)
    return at === undefined ? undefined : this.#entries[at]
  }

  /** Puts a key in; one that is in already is moved. */
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

  /** Takes out the first key if it is due at `now`. */
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

  /** Puts an entry where it belongs, from the position `from`, whose own entry is dropped. */
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
