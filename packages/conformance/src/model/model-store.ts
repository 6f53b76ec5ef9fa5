import {
  type BucketRow,
  type Clock,
  type Depth,
  type EpochMs,
  emptyKeyState,
  type FailedRun,
  type KeyState,
  type WorkerRow,
  type WorkRecord,
  workerMsMax,
} from '@sluice/core'
import type { StoreTime } from './store-time.ts'

/** One key in the model. */
export interface ModelKey {
  readonly key: string
  readonly state: KeyState
  item: string | undefined
  holder: string | undefined
  claimId: string | undefined
  lastError: string | undefined
}

/** A record, when it was added, and the depth of the queue then. */
export interface ModelRecord {
  readonly at: EpochMs
  readonly record: WorkRecord
  readonly depth: Depth
}

/** One queue in the model. */
export interface ModelQueue {
  paused: boolean
  readonly keys: Map<string, ModelKey>
  readonly workers: Map<string, WorkerRow>
  /** Every record that was ever added, and the failed runs in the order in which they came. */
  readonly records: ModelRecord[]
  readonly failedRuns: FailedRun[]
}

/** The store of a model driver, which outlives it; several drivers may share one. */
export class ModelStore {
  queues: Map<string, ModelQueue> = new Map()
  buckets: Map<string, BucketRow> = new Map()
  readonly watchers: Set<(queue: string | undefined) => void> = new Set()
  /** Whether a transaction is open, which locks out every other caller. */
  isInTransaction = false
  readonly #times = new WeakMap<Clock, StoreTime>()
  #lastToken = 0
  #lastSeq = 0

  nextToken(): number {
    this.#lastToken += 1
    return this.#lastToken
  }

  nextSeq(): number {
    this.#lastSeq += 1
    return this.#lastSeq
  }

  /** The greatest token so far. */
  get lastToken(): number {
    return this.#lastToken
  }

  raiseToken(floor: number): void {
    this.#lastToken = Math.max(this.#lastToken, floor)
  }

  raiseSeq(floor: number): void {
    this.#lastSeq = Math.max(this.#lastSeq, floor)
  }

  /** The time of the store by `clock`: the same for all drivers, however often they are opened. */
  time(clock: Clock, make: (clock: Clock) => StoreTime): StoreTime {
    const time = this.#times.get(clock) ?? make(clock)
    this.#times.set(clock, time)
    return time
  }

  queue(name: string): ModelQueue {
    let queue = this.queues.get(name)
    if (queue === undefined) {
      queue = { paused: false, keys: new Map(), workers: new Map(), records: [], failedRuns: [] }
      this.queues.set(name, queue)
    }
    return queue
  }

  /** The workers of a queue, each of which stays on record for a day. */
  workers(queueName: string, now: EpochMs): Map<string, WorkerRow> {
    const { workers } = this.queue(queueName)
    for (const [holder, { seenAt }] of workers) {
      if (seenAt < now - workerMsMax) workers.delete(holder)
    }
    return workers
  }

  /** The key; empty if it is new. */
  key(queueName: string, key: string): ModelKey {
    const { keys } = this.queue(queueName)
    let entry = keys.get(key)
    if (entry === undefined) {
      entry = {
        key,
        state: emptyKeyState(),
        item: undefined,
        holder: undefined,
        claimId: undefined,
        lastError: undefined,
      }
      keys.set(key, entry)
    }
    return entry
  }

  /** Deletes keys whose state is empty. */
  sweep(queueName: string, isGone: (state: KeyState) => boolean): void {
    const { keys } = this.queue(queueName)
    for (const [key, entry] of keys) if (isGone(entry.state)) keys.delete(key)
  }

  /** Runs a function inside the open transaction. */
  inside<T>(act: () => T): T {
    this.isInTransaction = false
    try {
      return act()
    } finally {
      this.isInTransaction = true
    }
  }

  /** A copy of everything that a transaction can roll back. */
  snapshot(): Pick<ModelStore, 'queues' | 'buckets'> {
    return structuredClone({ queues: this.queues, buckets: this.buckets })
  }

  wake(queue: string | undefined): void {
    for (const watcher of this.watchers) queueMicrotask(() => watcher(queue))
  }
}
