import { doubtful } from './batch-errors.ts'

/** Receives the answers to jobs, each with the index that its job has among others. */
export interface Answers<Reply> {
  resolve(index: number, reply: Reply): void
  reject(index: number, error: unknown): void
}

/** A call that waits for its turn, or for its answer. */
export interface BatchJob<Request, Reply> {
  /** Two jobs of one batch never have the same key. */
  readonly key: string
  /** Jobs of one batch are of one kind: one verb of the driver with the same options. */
  readonly kind: string
  request: Request
  readonly answers: Answers<Reply>
  readonly index: number
  /** When it gives up, on the system's monotonic clock. */
  readonly deadline: number
  /** How often it was sent without a definite answer. */
  tries: number
  /** It was sent, and it is unknown whether it took effect. */
  mayHaveHappened: boolean
  /** Jobs that were merged into this one, and the answer of each. */
  followers: Follower<Request, Reply>[] | undefined
  isAnswered: boolean
}

/** A job that has not been sent. */
export function newJob<Request, Reply>(
  call: Pick<
    BatchJob<Request, Reply>,
    'key' | 'kind' | 'request' | 'answers' | 'index' | 'deadline'
  >,
): BatchJob<Request, Reply> {
  const { key, kind, request, answers, index, deadline } = call
  return {
    key,
    kind,
    request,
    answers,
    index,
    deadline,
    tries: 0,
    mayHaveHappened: false,
    followers: undefined,
    isAnswered: false,
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
  job.answers.reject(job.index, job.mayHaveHappened ? doubtful(error) : error)
  for (const { job: follower } of job.followers ?? []) rejectJob(follower, error)
}
