import type { Handle } from './floors.ts'
import { SetsQueue } from './sets-queue.ts'

const added = Promise.resolve('added')
const forgotten = Promise.resolve('forgotten')

interface Entry {
  readonly key: string
  readyAt: number
  /** Its position in the heap. */
  index: number
}

/**
 * The delaying and the rate-limited Go queue in JavaScript: a heap, a map that finds the entry of a key in it, and
 * a map of failures. Nothing else, as in `SetsQueue`.
 */
export class DelayingSetsQueue extends SetsQueue {
  readonly #heap: Entry[] = []
  readonly #entries = new Map<string, Entry>()
  readonly #failures = new Map<string, number>()
  readonly #baseMs: number
  readonly #maxMs: number
  #timer: NodeJS.Timeout | undefined

  constructor(baseMs: number, maxMs: number) {
    super()
    this.#baseMs = baseMs
    this.#maxMs = maxMs
  }

  addAfter(key: string, delayMs: number): Promise<string> {
    const readyAt = performance.now() + delayMs
    const known = this.#entries.get(key)
    if (known === undefined) {
      const entry = { key, readyAt, index: this.#heap.length }
      this.#entries.set(key, entry)
      this.#heap.push(entry)
      this.#rise(entry)
    } else if (readyAt < known.readyAt) {
      known.readyAt = readyAt
      this.#rise(known)
    }
    return added
  }

  addRateLimited(key: string): Promise<string> {
    const failures = this.#failures.get(key) ?? 0
    this.#failures.set(key, failures + 1)
    return this.addAfter(key, Math.min(this.#baseMs * 2 ** failures, this.#maxMs))
  }

  forget(key: string): Promise<string> {
    this.#failures.delete(key)
    return forgotten
  }

  override get(): Promise<Handle> {
    this.#addDue()
    return super.get()
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  #addDue(): void {
    const heap = this.#heap
    if (heap.length === 0) return
    const now = performance.now()
    while (heap.length > 0 && heap[0]!.readyAt <= now) {
      const { key } = heap[0]!
      const last = heap.pop()!
      if (heap.length > 0) this.#sink(last)
      this.#entries.delete(key)
      void this.add(key)
    }
    if (heap.length > 0 && this.#timer === undefined) this.#wake(heap[0]!.readyAt - now)
  }

  #wake(ms: number): void {
    const wake = (): void => {
      this.#timer = undefined
      this.#addDue()
    }
    this.#timer = setTimeout(wake, Math.min(ms, 10_000))
  }

  #rise(entry: Entry): void {
    const heap = this.#heap
    let { index } = entry
    while (index > 0) {
      const parent = heap[(index - 1) >> 1]!
      if (parent.readyAt <= entry.readyAt) break
      heap[index] = parent
      const above = parent.index
      parent.index = index
      index = above
    }
    heap[index] = entry
    entry.index = index
  }

  /** Puts the entry at the top, and lets it sink to where it belongs. */
  #sink(entry: Entry): void {
    const heap = this.#heap
    let index = 0
    for (;;) {
      let below = 2 * index + 1
      if (below >= heap.length) break
      if (below + 1 < heap.length && heap[below + 1]!.readyAt < heap[below]!.readyAt) below += 1
      const child = heap[below]!
      if (entry.readyAt <= child.readyAt) break
      heap[index] = child
      child.index = index
      index = below
    }
    heap[index] = entry
    entry.index = index
  }
}
