import type { BatchJob } from './batch-job.ts'

/** Jobs that are sent again later, and the keys whose other jobs wait until then. */
export class LateJobs<Request, Reply> {
  readonly #keys = new Map<string, number>()
  /** Waiting jobs, with the errors that they are rejected with when their time is up. */
  readonly #waiting = new Map<BatchJob<Request, Reply>, unknown>()

  /** Jobs that wait to be sent again. */
  jobs(): Iterable<BatchJob<Request, Reply>> {
    return this.#waiting.keys()
  }

  /** Keys that have a late job. */
  keys(): Iterable<string> {
    return this.#keys.keys()
  }

  get isEmpty(): boolean {
    return this.#keys.size === 0
  }

  /** Other jobs of this key wait until as many calls of {@link release}. */
  hold(key: string): void {
    this.#keys.set(key, (this.#keys.get(key) ?? 0) + 1)
  }

  release(key: string): void {
    const left = (this.#keys.get(key) ?? 1) - 1
    if (left === 0) this.#keys.delete(key)
    else this.#keys.set(key, left)
  }

  add(job: BatchJob<Request, Reply>, error: unknown): void {
    this.#waiting.set(job, error)
    this.hold(job.key)
  }

  /** Takes a job out; false if it no longer waits. */
  delete(job: BatchJob<Request, Reply>): boolean {
    return this.#waiting.delete(job)
  }

  /** When the time of the first one is up. */
  earliest(): number {
    let earliest = Infinity
    for (const { deadline } of this.#waiting.keys()) earliest = Math.min(earliest, deadline)
    return earliest
  }

  /** Jobs whose time is up at `now`, each with its error. */
  expired(now: number): [BatchJob<Request, Reply>, unknown][] {
    return [...this.#waiting].filter(([{ deadline }]) => deadline <= now)
  }
}
