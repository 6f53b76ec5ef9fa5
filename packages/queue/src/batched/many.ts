import type { AddOutcome, Ask, Finish, FinishOutcome } from '@sluice/core'
import type { QueueCore } from '../core/queue-core.ts'
import type { HeldKey } from '../held/held-key.ts'
import type { AddBatcher } from './add-batcher.ts'
import type { FinishBatcher } from './finish-batcher.ts'

// Half of the time of a batch went to the promises of its keys: from 56 to 75 thousand keys
// a second end to end on SQLite, `SLUICE_BENCH_TIME=cpu node src/bench.ts sqlite` in benchmarks/.

/** See `Backend.addMany`. */
export function addMany(
  core: QueueCore,
  adds: AddBatcher,
  asks: readonly Ask[],
): Promise<AddOutcome[]> {
  const gathered = new AllOutcomes<AddOutcome>(asks.length)
  adds.addMany(asks, {
    resolve(at, { outcome }) {
      if (outcome === 'full') {
        gathered.fail(core.fullError())
        return
      }
      core.noteAdded(outcome)
      gathered.set(at, outcome)
    },
    reject: (_, error) => gathered.fail(error),
  })
  return gathered.promise
}

/** See `Backend.doneMany`. */
export function doneMany(
  core: QueueCore,
  batcher: FinishBatcher,
  count: number,
  heldAt: (at: number) => HeldKey<unknown> | undefined,
  forget: boolean,
): Promise<FinishOutcome[]> {
  const gathered = new AllOutcomes<FinishOutcome>(count)
  const helds: HeldKey<unknown>[] = []
  const indexes: number[] = []
  for (let at = 0; at < count; at += 1) {
    const held = heldAt(at)
    if (held === undefined || held.phase !== 'held' || core.phase === 'closed') {
      gathered.set(at, 'lost')
      continue
    }
    held.phase = 'finishing'
    helds.push(held)
    indexes.push(at)
  }
  const finishes = helds.map(({ key, token }): Finish => ({ as: 'done', key, token, forget }))
  batcher.finishMany(helds, finishes, {
    resolve(at, { outcome }) {
      core.noteFinished(helds[at]!, finishes[at]!, outcome)
      gathered.set(indexes[at]!, outcome)
    },
    reject(at, error) {
      helds[at]!.phase = 'held'
      gathered.fail(error)
    },
  })
  return gathered.promise
}

/**
 * The outcomes of several calls behind one promise, which fails with the error of the first of them
 * that fails. It settles once all are answered: a caller that catches the error must not find that
 * the others take effect only afterwards.
 */
class AllOutcomes<Outcome> {
  readonly promise: Promise<Outcome[]>
  readonly #outcomes: Outcome[]
  #left: number
  #error: unknown
  #resolve!: (outcomes: Outcome[] | Promise<never>) => void

  constructor(count: number) {
    this.#outcomes = new Array<Outcome>(count)
    this.#left = count
    this.promise = new Promise((resolve) => {
      this.#resolve = resolve
    })
    if (count === 0) this.#resolve([])
  }

  set(at: number, outcome: Outcome): void {
    this.#outcomes[at] = outcome
    this.#answered()
  }

  fail(error: unknown): void {
    this.#error ??= error
    this.#answered()
  }

  #answered(): void {
    this.#left -= 1
    if (this.#left > 0) return
    this.#resolve(this.#error === undefined ? this.#outcomes : Promise.reject(this.#error))
  }
}
