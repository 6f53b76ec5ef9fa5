import { type BatchJob, follow } from './batch-job.ts'

/** The most that a store takes at a time. */
export interface BatchLimits {
  readonly batchKeys: number
  readonly batchBytes: number
}

/** The rules by which the jobs of one kind of call go together in a batch. */
export interface BatchRules<Request, Reply> {
  /** About how many bytes a request has, for the limit of a batch. */
  sizeOf(request: Request): number
  /** The priority at which a request puts its key into the order now; `undefined` if it does not. */
  orderedAt(request: Request): number | undefined
  /**
   * Merges a job into an earlier one of the same batch and key; returns how the later one is
   * answered, or `undefined` if the two cannot share a batch.
   */
  merge(
    earlier: BatchJob<Request, Reply>,
    later: BatchJob<Request, Reply>,
  ): ((reply: Reply) => Reply) | undefined
}

/** The jobs that were not sent yet, in the order of their calls. */
export class WaitingJobs<Request, Reply> {
  #jobs: BatchJob<Request, Reply>[] = []
  /** Where the first one is: a list that gets shorter by every batch would be copied for each of them. */
  #first = 0

  get size(): number {
    return this.#jobs.length - this.#first
  }

  add(job: BatchJob<Request, Reply>): void {
    this.#jobs.push(job)
  }

  all(): readonly BatchJob<Request, Reply>[] {
    return this.#first === 0 ? this.#jobs : this.#jobs.slice(this.#first)
  }

  takeAll(): readonly BatchJob<Request, Reply>[] {
    const all = this.all()
    this.#jobs = []
    this.#first = 0
    return all
  }

  /** Drops those that were answered otherwise. */
  dropAnswered(): void {
    for (const job of this.takeAll()) if (!job.isAnswered) this.add(job)
  }

  /**
   * Takes the jobs of the next batch: of one kind and of different keys. `busy`: the keys whose jobs have
   * to wait for an answer. None overtakes an earlier job of its key, and no ordered job overtakes one of
   * its priority, unless that has to wait for an answer, which may take long. Others may pass, so that
   * floods of them keep their batches.
   */
  takeBatch(
    busy: ReadonlySet<string>,
    { batchKeys, batchBytes }: BatchLimits,
    rules: BatchRules<Request, Reply>,
  ): readonly BatchJob<Request, Reply>[] {
    const chosen = new Map<string, BatchJob<Request, Reply>>()
    const left: BatchJob<Request, Reply>[] = []
    const leftKeys = new Set<string>()
    let kind: string | undefined
    const heldUp = new Set<number | undefined>()
    let seen = this.#first
    let bytes = 0
    // Jobs far behind a full batch are not visited: there may be very many.
    for (; seen < this.#jobs.length; seen += 1) {
      if (chosen.size >= batchKeys || bytes >= batchBytes) break
      const job = this.#jobs[seen]!
      if (busy.has(job.key)) {
        left.push(job)
        continue
      }
      kind ??= job.kind
      const priority = rules.orderedAt(job.request)
      const mayJoin = job.kind === kind && !leftKeys.has(job.key)
      const earlier = chosen.get(job.key)
      if (mayJoin && earlier === undefined && !heldUp.has(priority)) {
        chosen.set(job.key, job)
        bytes += rules.sizeOf(job.request)
        continue
      }
      const answer = mayJoin && earlier !== undefined ? rules.merge(earlier, job) : undefined
      if (answer !== undefined) {
        follow(earlier, { job, answer })
      } else {
        leftKeys.add(job.key)
        if (priority !== undefined) heldUp.add(priority)
        left.push(job)
      }
    }
    this.#leave(left, seen)
    return [...chosen.values()]
  }

  /** Keeps those that were left among those before `seen`, and all from there on. */
  #leave(left: readonly BatchJob<Request, Reply>[], seen: number): void {
    this.#first = seen - left.length
    for (const [at, job] of left.entries()) this.#jobs[this.#first + at] = job
    if (this.#first * 2 < this.#jobs.length) return
    this.#jobs = this.#jobs.slice(this.#first)
    this.#first = 0
  }
}
