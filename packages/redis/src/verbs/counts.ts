import { type Counts, keyStateWords } from '@sluice/core/driver'
import { number } from '../rows/columns.ts'
import { type Store, verbStart } from '../store.ts'

/** Counts keys by state. The sorted sets know their sizes, so the cap only bounds what is returned. */
export async function counts(store: Store, queue: string, cap: number): Promise<Counts> {
  const reply = await store.run('counts', queue, [])
  const all = keyStateWords.map((_, index) => number(reply[verbStart + 3 + index]))
  const [ready = 0, delayed = 0, backoff = 0, processing = 0, dirty = 0, parked = 0, idle = 0] =
    all.map((count) => Math.min(count, cap))
  return {
    ready,
    delayed,
    backoff,
    processing,
    dirty,
    parked,
    idle,
    capped: all.some((count) => count > cap),
    paused: reply[verbStart] === 1,
    oldestReadyAt: number(reply[verbStart + 1]),
    heldUntil: number(reply[verbStart + 2]),
  }
}
