import { type EpochMs, type WorkerInfo, type WorkerRow, workerMsMax } from '@sluice/core'

/** The workers of a queue. */
export class WorkerRegistry {
  /** Those that were seen last are the last. */
  readonly #rows: Map<string, WorkerRow> = new Map()

  /** How many workers are on record. */
  get size(): number {
    return this.#rows.size
  }

  /** Registers a worker, or renews its registration. */
  register(worker: WorkerInfo, now: EpochMs): void {
    const startedAt = this.#rows.get(worker.holder)?.startedAt ?? now
    this.#rows.delete(worker.holder)
    this.#rows.set(worker.holder, { ...worker, startedAt, seenAt: now })
  }

  /** The workers that were seen at `since` or after it. */
  seenSince(since: EpochMs): WorkerRow[] {
    return [...this.#rows.values()].filter(({ seenAt }) => seenAt >= since)
  }

  /** Deletes the workers that are not on record any more at `now`. */
  deleteGone(now: EpochMs): void {
    for (const [holder, { seenAt }] of this.#rows) {
      if (now - seenAt <= workerMsMax) return
      this.#rows.delete(holder)
    }
  }
}
