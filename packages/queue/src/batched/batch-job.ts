import { doubtful } from './batch-errors.ts'

/** Receives the answers to jobs, each with the index that its job has among others. */
export interface Answers<Reply> {
  resolve(index: number, reply: Reply): void
  reject(index: number, error: unknown): void
}

/** A call that waits for its turn, or for its answer. */
export class BatchJob<Request, Reply> {
  /** Jobs of one batch are of one kind: one verb of the driver with the same options. */
  readonly kind: string
  /** Two jobs of one batch never have the same key. */
  readonly key: string
  request: Request
  readonly answers: Answers<Reply>
  readonly index: number
  /** When it gives up, on the system's monotonic clock. */
  readonly deadline: number
  /** How often it was sent without a definite answer. */
  tries = 0
  /** It was sent, and it is unknown whether it took effect. */
  mayHaveHappened = false
  /** Jobs that were merged into this one, and the answer of each. */
  followers: Follower<Request, Reply>[] | undefined = undefined
  isAnswered = false

  constructor(
    kind: string,
    key: string,
    request: Request,
    answers: Answers<Reply>,
    index: number,
    deadline: number,
  ) {
    this.kind = kind
    this.key = key
    this.request = request
    this.answers = answers
    this.index = index
    this.deadline = deadline
  }
}

/** A job that was merged into another, and its answer. */
interface Follower<Request, Reply> {
  readonly job: BatchJob<Request, Reply>
  readonly answer: (reply: Reply) => Reply
}

/** Has a job answered along with another one. */
export function follow<Request, Reply>(
  job: BatchJob<Request, Reply> | undefined,
  follower: Follower<Request, Reply>,
): void {
  if (job === undefined) return
  if (job.followers === undefined) job.followers = [follower]
  else job.followers.push(follower)
}

/** Answers a job, and those that were merged into it. */
export function resolveJob<Request, Reply>(job: BatchJob<Request, Reply>, reply: Reply): void {
  if (job.isAnswered) return
  job.isAnswered = true
  job.answers.resolve(job.index, reply)
  for (const { job: follower, answer } of job.followers ?? []) {
    if (follower.isAnswered) continue
    follower.isAnswered = true
    follower.answers.resolve(follower.index, answer(reply))
  }
}

/** Rejects a job, and those that were merged into it. */
export function rejectJob<Request, Reply>(job: BatchJob<Request, Reply>, error: unknown): void {
  if (job.isAnswered) return
  job.isAnswered = true
  const reason = job.mayHaveHappened ? doubtful(error) : error
  job.answers.reject(job.index, reason)
  for (const { job: follower } of job.followers ?? []) rejectJob(follower, reason)
}
