import type { EpochMs, WorkerInfo, WorkerRow } from '@sluice/core'

/** Who works on a queue. */
export class WorkerBook {
  readonly #rows: Map<string, WorkerRow> = new Map()

  /** How many workers are on record. */
  get size(): number {
    return this.#rows.size
  }

  /** Registers a worker, or renews its registration. */
  see(worker: WorkerInfo, now: EpochMs): void {
    const startedAt = this.#rows.get(worker.holder)?.startedAt ?? now
    this.#rows.set(worker.holder, { ...worker, startedAt, seenAt: now })
  }

  /** The workers that were seen at `since` or after it. */
  seenSince(since: EpochMs): WorkerRow[] {
    return [...this.#rows.values()].filter(({ seenAt }) => seenAt >= since)
  }

  /** Forgets the workers that were last seen before `since`. */
  forgetBefore(since: EpochMs): void {
    for (const [holder, { seenAt }] of this.#rows) if (seenAt < since) this.#rows.delete(holder)
  }
}
