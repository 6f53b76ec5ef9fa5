import { randomUUID } from 'node:crypto'
import { type Counts, never, SluiceError, systemClock } from '@sluice/core'
import type { StoreGauges } from '../queue/queue-meters.ts'
import { inStore, isAlone, type QueueRecord, type StoreRecord } from '../queue/queue-record.ts'
import { Election } from './election.ts'
import type { CheckedRecorderOptions } from './recorder-options.ts'

const nothing: StoreGauges = { depth: 0, delayed: 0, backoff: 0, parked: 0, oldestReadyAgeMs: 0 }

/** Reads the state of the queues from their stores, if this process is elected to export it. */
export class StoreReader {
  readonly #options: CheckedRecorderOptions
  readonly #queues: ReadonlyMap<string, QueueRecord>
  readonly #holder: string = randomUUID()

  constructor(options: CheckedRecorderOptions, queues: ReadonlyMap<string, QueueRecord>) {
    this.#options = options
    this.#queues = queues
  }

  /** Updates the gauges. Never rejects. */
  async read(): Promise<void> {
    if (!this.#options.readsStore) return
    const reading = Promise.all(
      [...this.#queues].map(([name, queue]) => this.#readOne(name, queue)),
    )
    await this.#inTime(reading)
  }

  /** Real time: a scrape waits in real time, whatever clock the queues have. */
  #inTime(reading: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      const timer = systemClock.startTimer(this.#options.timeoutMs, resolve)
      void reading.then(() => {
        timer.stop()
        resolve()
      })
    })
  }

  async #readOne(name: string, queue: QueueRecord): Promise<void> {
    const all: StoreGauges[] = []
    for (const store of [...queue.stores.values()]) {
      try {
        all.push(await this.#readStore(name, store))
        store.wasRead = true
      } catch (error) {
        // This zero means "not exported here": another process may be elected by now.
        const isOpen = store.wasRead || queue.isInUse(store.driver)
        if (isOpen || isOfDamage(error)) this.#options.onError(error)
        all.push(isAlone(store.driver) ? { ...nothing, depth: undefined } : nothing)
      }
    }
    try {
      queue.meters.setStoreGauges(sum(all, queue.isDepthRead ? 0 : undefined))
    } catch (error) {
      this.#options.onError(error)
    }
  }

  async #readStore(name: string, store: StoreRecord): Promise<StoreGauges> {
    const { driver } = store
    const { cap, clock, exporter } = this.#options
    const isCountedHere = isAlone(driver)
    let { now } = inStore(store, { now: clock.now(), monotonicMs: clock.monotonicMs() })
    if (!isCountedHere) {
      store.election ??= new Election(driver, name, exporter, clock, this.#holder)
      const verdict = await store.election.look()
      if (!verdict.isElected) return nothing
      now = verdict.now
    }
    return gaugesOf(await driver.counts(name, { cap }), now, isCountedHere)
  }

  /** Leaves every election, so that another process takes over at once. */
  async leave(): Promise<void> {
    const stores = [...this.#queues.values()].flatMap((queue) => [...queue.stores.values()])
    // An unreachable store cannot be informed; the registration there expires.
    await this.#inTime(Promise.allSettled(stores.map(({ election }) => election?.leave())))
  }
}

/** Whether an error is that of a queue, and not that no queue has opened the store yet. */
function isOfDamage(error: unknown): boolean {
  return SluiceError.is(error, 'ERR_STORE_DAMAGED') || SluiceError.is(error, 'ERR_SCHEMA_NEWER')
}

function gaugesOf(counts: Counts, now: number, isCountedHere: boolean): StoreGauges {
  const { ready, processing, dirty, delayed, backoff, parked, oldestReadyAt, heldUntil } = counts
  // Nothing ends leases without a worker, so the keys wait, and no other state shows it.
  const abandoned = heldUntil <= now ? processing : 0
  return {
    depth: isCountedHere ? undefined : ready + dirty + abandoned,
    delayed,
    backoff,
    parked,
    oldestReadyAgeMs: oldestReadyAt === never ? 0 : Math.max(0, now - oldestReadyAt),
  }
}

function sum(all: readonly StoreGauges[], none: number | undefined): StoreGauges {
  let { depth, delayed, backoff, parked, oldestReadyAgeMs }: StoreGauges = {
    ...nothing,
    depth: none,
  }
  for (const gauges of all) {
    if (gauges.depth !== undefined) depth = (depth ?? 0) + gauges.depth
    delayed += gauges.delayed
    backoff += gauges.backoff
    parked += gauges.parked
    oldestReadyAgeMs = Math.max(oldestReadyAgeMs, gauges.oldestReadyAgeMs)
  }
  return { depth, delayed, backoff, parked, oldestReadyAgeMs }
}
