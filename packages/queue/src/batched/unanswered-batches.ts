import type { SluiceError } from '@sluice/core'
import { type BatchJob, rejectJob } from './batch-job.ts'

/** Batches that the store has not answered yet. */
export class UnansweredBatches<Request, Reply> {
  /** Each with what ends the wait for it. */
  readonly #batches = new Map<readonly BatchJob<Request, Reply>[], () => void>()

  get isEmpty(): boolean {
    return this.#batches.size === 0
  }

  jobs(): readonly BatchJob<Request, Reply>[] {
    return [...this.#batches.keys()].flat()
  }

  /** When the time of the first job is up. */
  earliest(): number {
    let earliest = Infinity
    for (const jobs of this.#batches.keys()) {
      for (const job of jobs) if (!job.isAnswered) earliest = Math.min(earliest, job.deadline)
    }
    return earliest
  }

  /** Adds a batch; resolves when it is answered, or when none of its jobs waits any longer. */
  add(jobs: readonly BatchJob<Request, Reply>[]): Promise<void> {
    return new Promise((resolve) => {
      this.#batches.set(jobs, resolve)
    })
  }

  /** Takes a batch out, calls `answer` for its jobs, and ends the wait for it. */
  answer(jobs: readonly BatchJob<Request, Reply>[], answer: () => void): void {
    const goOn = this.#batches.get(jobs)
    this.#batches.delete(jobs)
    answer()
    goOn?.()
  }

  /** Rejects the jobs whose time is up at `now`. */
  expire(now: number, errorOf: (job: BatchJob<Request, Reply>) => SluiceError): void {
    for (const [jobs, goOn] of [...this.#batches]) {
      for (const job of jobs) if (job.deadline <= now) rejectJob(job, errorOf(job))
      if (!jobs.every((job) => job.isAnswered)) continue
      this.#batches.delete(jobs)
      goOn()
    }
  }
}
