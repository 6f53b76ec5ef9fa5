import type { Awaitable, Failure } from '@sluice/core'
import { doubtful } from './batch-errors.ts'

/** Where the answers to jobs go, each with the place that its job has among others. */
export interface Answers<Reply> {
  resolve(at: number, reply: Reply): void
  reject(at: number, error: unknown): void
}

/** A call that waits for its turn, or for its answer. */
export interface BatchJob<Request, Reply> {
  /** What two jobs of one step must not share. */
  readonly key: string
  /** Jobs of one step are of one kind: one verb of the driver with the same options. */
  readonly kind: string
  request: Request
  readonly answers: Answers<Reply>
  readonly at: number
  /** When it gives up, on the system's monotonic clock. */
  readonly deadline: number
  /** How often it was sent without a definite answer. */
  tries: number
  /** It was sent, and nobody knows whether it took effect. */
  mayHaveHappened: boolean
  /** Jobs that were merged into this one, and what each of them is answered. */
  followers: Follower<Request, Reply>[] | undefined
  isAnswered: boolean
}

/** A job that has not been sent. */
export function newJob<Request, Reply>(
  call: Pick<BatchJob<Request, Reply>, 'key' | 'kind' | 'request' | 'answers' | 'at' | 'deadline'>,
): BatchJob<Request, Reply> {
  const { key, kind, request, answers, at, deadline } = call
  return {
    key,
    kind,
    request,
    answers,
    at,
    deadline,
    tries: 0,
    mayHaveHappened: false,
    followers: undefined,
    isAnswered: false,
  }
}

/** A job that was merged into another, and what it is answered. */
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
  job.answers.resolve(job.at, reply)
  for (const { job: follower, answer } of job.followers ?? []) {
    if (follower.isAnswered) continue
    follower.isAnswered = true
    follower.answers.resolve(follower.at, answer(reply))
  }
}

/** Rejects a job, and those that were merged into it. */
export function rejectJob<Request, Reply>(job: BatchJob<Request, Reply>, error: unknown): void {
  if (job.isAnswered) return
  job.isAnswered = true
  job.answers.reject(job.at, job.mayHaveHappened ? doubtful(error) : error)
  for (const { job: follower } of job.followers ?? []) rejectJob(follower, error)
}

/** What distinguishes one lane from another. */
export interface BatcherOptions<Request, Reply> {
  /** Sends one step to the driver: jobs of one kind, of different keys. */
  send(
    kind: string,
    jobs: readonly BatchJob<Request, Reply>[],
  ): Awaitable<readonly (Reply | Failure)[]>
  /**
   * Merges a job into an earlier one of the same step and key; gives what the later one is answered,
   * or `undefined` if the two cannot share a step.
   */
  merge?(
    earlier: BatchJob<Request, Reply>,
    later: BatchJob<Request, Reply>,
  ): ((reply: Reply) => Reply) | undefined
  /** Whether a step of this kind may be repeated when it is not known whether it took effect. */
  canRepeat(kind: string): boolean
  /** The turn of a repetition while the store is in trouble; `undefined` if it is now. */
  turn(): Promise<void> | undefined
  /** Gives on a turn for which there is nothing to repeat any more. */
  pass(): void
  /** Makes a repetition whose turn it is, so that others know what becomes of it. */
  watch<R>(send: () => Awaitable<R>): Awaitable<R>
  readonly timeoutMs: number
  readonly batchMax: number
  /**
   * How many steps may be on their way at a time. More than one only where the order in which steps
   * take effect is no matter; two of one key are never under way together.
   */
  readonly stepsMax: number
}
