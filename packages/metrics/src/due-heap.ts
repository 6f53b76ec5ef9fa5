import type { EpochMs } from '@sluice/core'

interface Entry {
  readonly key: string
  readonly dueAt: EpochMs
}

/**
 * Keys by when they are due, the next one first.
 *
 * Nothing is taken out but the first: whoever puts a key in remembers what it is due at, and drops
 * what comes out of here and is not true any more.
 */
export class DueHeap {
  readonly #entries: Entry[] = []

  get size(): number {
    return this.#entries.length
  }

  push(key: string, dueAt: EpochMs): void {
    const entries = this.#entries
    const entry = { key, dueAt }
    let at = entries.length
    entries.push(entry)
    while (at > 0) {
      const above = (at - 1) >>> 1
      const other = entries[above] as Entry
      if (other.dueAt <= dueAt) break
      entries[at] = other
      at = above
    }
    entries[at] = entry
  }

  /** Takes out the first key if it is due at `now`. */
  popDue(now: EpochMs): Entry | undefined {
    const entries = this.#entries
    const first = entries[0]
    if (first === undefined || first.dueAt > now) return undefined
    const last = entries.pop() as Entry
    if (entries.length > 0) this.#sink(last)
    return first
  }

  #sink(entry: Entry): void {
    const entries = this.#entries
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      let other = entries[below]
      if (other === undefined) break
      const right = entries[below + 1]
      if (right !== undefined && right.dueAt < other.dueAt) {
        other = right
        below += 1
      }
      if (entry.dueAt <= other.dueAt) break
      entries[at] = other
      at = below
    }
    entries[at] = entry
  }

  clear(): void {
    this.#entries.length = 0
  }
}
