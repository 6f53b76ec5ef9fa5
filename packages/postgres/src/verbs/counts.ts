import { type Counts, keyStateWords } from '@sluice/core/driver'
import type { Store } from '../connection/store.ts'
import { flag, instant, number } from '../rows/columns.ts'

/** Counting is done in 32-bit integers, to twice the cap and one more. */
const capMax = 2 ** 30 - 1

/** The verb counts. */
export async function counts(store: Store, queue: string, cap: number): Promise<Counts> {
  const moment = store.time.moment()
  const values = [queue, Math.min(cap, capMax), moment.now, moment.least]
  const [row = {}] = await store.run('counts', values)
  store.time.noteRow(row, moment)
  const counted = Object.fromEntries(keyStateWords.map((word) => [word, number(row[word])]))
  return {
    ...(counted as Record<(typeof keyStateWords)[number], number>),
    capped: flag(row['capped']),
    paused: flag(row['paused']),
    oldestReadyAt: instant(row['oldest']),
    heldUntil: instant(row['held_until']),
  }
}
