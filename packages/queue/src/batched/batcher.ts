import {
  type Awaitable,
  batchKeysMax,
  type Failure,
  isPromise,
  nextTurn,
  SluiceError,
  systemClock,
  type Timer,
} from '@sluice/core'
import { unknownOutcome } from '../core/queue-errors.ts'
import type { DriverCalls } from '../driver/driver-calls.ts'
import { retryDelayMs } from '../driver/retryable.ts'
import { pause } from '../environment/timing.ts'
import { AnswerWaits } from './answer-waits.ts'
import {
  closedUnsent,
  isFailure,
  isOfStore,
  isRetryable,
  type KeyFailure,
  timedOut,
  wasNotSent,
} from './batch-errors.ts'
import { type Answers, BatchJob, rejectJob, resolveJob } from './batch-job.ts'
import { atOnceMax, atOnceMin, callerTurns, parallelMin } from './in-flight-limits.ts'
import { LateJobs } from './late-jobs.ts'
import { UnansweredBatches } from './unanswered-batches.ts'
import { type BatchRules, WaitingJobs } from './waiting-jobs.ts'

/** How long a job waits whose row is locked: the first time, and the longest time. */
const lockedKeyDelay = { first: 20, longest: 1_000 }

/**
 * Gathers calls into batches: those that are made while a batch is in flight travel together in the
 * next one, in the order of the calls, two of one key never in one batch. Only when very many calls
 * have gathered may another batch leave before the last one is answered. Each call is answered
 * after its batch has committed. Every call may be repeated.
 *
 * Jobs that the driver could not serve because another session has locked their rows leave the others
 * and are tried again together, so that a locked row stalls no other key.
 */
export abstract class Batcher<Request, Reply> implements BatchRules<Request, Reply> {
  protected readonly calls: DriverCalls
  readonly #batchesMax: number
  readonly #waiting = new WaitingJobs<Request, Reply>()
  /** Halves of batches that failed for a reason that lasts; they are sent before other jobs. */
  #halves: (readonly BatchJob<Request, Reply>[])[] = []
  readonly #late = new LateJobs<Request, Reply>()
  #isScheduled = false
  #isTurnScheduled = false
  /** The store has answered the last batch before `send` returned. */
  #answersAtOnce = false
  /** About how many keys were answered at once since a turn of the event loop. */
  #atOnce = 0
  #isSending = false
  /** Batches in flight, without those that were sent alone. */
  #batchesInFlight = 0
  /** The answer to the last batch, until a call waits for it. */
  #inFlight: Promise<void> | undefined
  #watch: Timer | undefined
  readonly #unanswered = new UnansweredBatches<Request, Reply>()
  readonly #waits = new AnswerWaits()

  /**
   * `batchesMax`: how many batches may be in flight at a time. More than one only where the order
   * in which batches take effect does not matter; two of one key are never in flight together.
   */
  constructor(calls: DriverCalls, batchesMax: number) {
    this.calls = calls
    this.#batchesMax = batchesMax
  }

  /** Sends one batch to the driver: jobs of one kind, of different keys. */
  protected abstract send(
    kind: string,
    jobs: readonly BatchJob<Request, Reply>[],
  ): Awaitable<readonly (Reply | Failure)[]>

  sizeOf(_request: Request): number {
    return 0
  }

  orderedAt(_request: Request): number | undefined {
    return undefined
  }

  merge(
    _earlier: BatchJob<Request, Reply>,
    _later: BatchJob<Request, Reply>,
  ): ((reply: Reply) => Reply) | undefined {
    return undefined
  }

  /** Submits one call. `isAwaited`: whether the caller can do nothing before the answer. */
  submit(
    kind: string,
    key: string,
    request: Request,
    answers: Answers<Reply>,
    isAwaited = true,
  ): void {
    const deadline = systemClock.monotonicMs() + this.calls.options.timeoutMs
    this.#waiting.add(new BatchJob(kind, key, request, answers, 0, deadline))
    if (isAwaited || !this.#mayTurn()) this.#schedule()
    else this.#scheduleTurn()
  }

  /** Not with a clock that was given, whose steps wait for no more turns than necessary. */
  #mayTurn(): boolean {
    return this.#answersAtOnce && this.calls.handle.clock === systemClock
  }

  /**
   * Sends at the end of this turn of the event loop. Behind a store that answers at once no batch is
   * in flight, so that each turn of the microtask queue would be a batch, and a transaction.
   */
  #scheduleTurn(): void {
    if (this.#isTurnScheduled) return
    this.#isTurnScheduled = true
    nextTurn(() => {
      this.#isTurnScheduled = false
      this.#atOnce = 0
      this.#schedule()
    })
  }

  /** Submits several calls; each answer comes with the index of its request. */
  submitMany(
    kind: string,
    requests: readonly Request[],
    keyOf: (request: Request) => string,
    answers: Answers<Reply>,
  ): void {
    const deadline = systemClock.monotonicMs() + this.calls.options.timeoutMs
    requests.forEach((request, index) => {
      this.#waiting.add(new BatchJob(kind, keyOf(request), request, answers, index, deadline))
    })
    this.#schedule()
  }

  /** Rejects every job that has no answer yet, since the queue is closed. */
  giveUp(): void {
    for (const [job] of this.#late.expired(Infinity)) this.#drop(job, closedUnsent(job.key))
    const { isOpen } = this.calls.handle
    this.#unanswered.expire(Infinity, ({ key }) =>
      isOpen ? unknownOutcome('the queue was closed before the store answered') : closedUnsent(key),
    )
    const unsent = [...this.#waiting.takeAll(), ...this.#halves.flat()]
    for (const job of unsent) rejectJob(job, closedUnsent(job.key))
    this.#checkIdle()
  }

  /** Resolves when every job that was submitted before this call is answered. */
  answered(): Awaitable<void> {
    const sent = [...this.#unanswered.jobs(), ...this.#late.jobs(), ...this.#halves.flat()]
    return this.#waits.until([...sent, ...this.#waiting.all()])
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isSending) return
    if (!this.#maySend()) {
      // In the asynchronous context of its first call: under load, that of the batch in flight never ends.
      void this.#inFlight?.then(() => this.#run())
      this.#inFlight = undefined
      return
    }
    this.#isScheduled = true
    // One turn of the microtask queue, so that calls made together travel together.
    queueMicrotask(() => {
      this.#isScheduled = false
      this.#run()
    })
  }

  #maySend(): boolean {
    if (this.#batchesInFlight === 0) return true
    if (this.#batchesInFlight >= this.#batchesMax) return false
    return this.#halves.length > 0 || this.#waiting.size >= parallelMin
  }

  #run(): void {
    if (this.#isSending) return
    this.#isSending = true
    while (this.#maySend()) {
      if (this.#atOnce >= atOnceMax && this.#mayTurn()) {
        this.#scheduleTurn()
        break
      }
      const half = this.#halves.shift() ?? []
      const jobs = half.length > 0 ? half.filter((job) => !job.isAnswered) : this.#nextBatch()
      if (half.length === 0 && jobs.length === 0) break
      const answer = jobs.length === 0 ? undefined : this.#sendBatch(jobs)
      this.#answersAtOnce = answer === undefined
      if (answer === undefined) {
        this.#release(half)
        this.#atOnce += Math.max(jobs.length, atOnceMin)
        continue
      }
      this.#batchesInFlight += 1
      this.#inFlight = answer
      void answer.then(() => {
        this.#batchesInFlight -= 1
        this.#release(half)
      })
    }
    this.#isSending = false
    this.#checkIdle()
  }

  #checkIdle(): void {
    this.#waits.check()
    if (this.#waiting.size > 0 || !this.#unanswered.isEmpty || !this.#late.isEmpty) return
    this.#watch?.stop()
    this.#watch = undefined
  }

  /** Takes the jobs of the next batch, and leaves those that have to wait for a later one. */
  #nextBatch(): readonly BatchJob<Request, Reply>[] {
    // Awaited calls come one by one, and nothing can make a job wait that is alone.
    if (this.#waiting.size === 1 && this.#unanswered.isEmpty && this.#late.isEmpty) {
      return this.#waiting.takeAll()
    }
    const { batchKeys = batchKeysMax, batchBytes = Infinity } = this.calls.driver
    const busy = new Set(this.#late.keys())
    for (const { key } of this.#unanswered.jobs()) busy.add(key)
    return this.#waiting.takeBatch(busy, { batchKeys, batchBytes }, this)
  }

  #sendBatch(
    jobs: readonly BatchJob<Request, Reply>[],
    isRepetition = false,
  ): Promise<void> | undefined {
    const kind = jobs[0]?.kind ?? ''
    let answer: Awaitable<readonly (Reply | Failure)[]>
    const sendOpened = (): typeof answer => {
      // Jobs whose time was up before the store was open: the others are repeated without them.
      if (jobs.some(({ isAnswered }) => isAnswered))
        throw this.calls.handle.notInTime('open the store')
      return this.send(kind, jobs)
    }
    const send = (): typeof answer => this.calls.opened(sendOpened)
    try {
      answer = isRepetition ? this.calls.handle.gate.watch(send) : send()
    } catch (error) {
      this.#failed(jobs, error)
      return undefined
    }
    if (!isPromise(answer)) {
      this.#answered(jobs, answer)
      return undefined
    }
    return this.#awaitAnswer(jobs, answer)
  }

  async #awaitAnswer(
    jobs: readonly BatchJob<Request, Reply>[],
    answer: Promise<readonly (Reply | Failure)[]>,
  ): Promise<void> {
    const answered = this.#unanswered.add(jobs)
    this.#startWatch()
    answer.then(
      (replies) => this.#unanswered.answer(jobs, () => this.#answered(jobs, replies)),
      (error: unknown) => this.#unanswered.answer(jobs, () => this.#failed(jobs, error)),
    )
    await answered
    for (let turn = 0; turn < callerTurns; turn += 1) await undefined
  }

  #startWatch(): void {
    if (this.#watch !== undefined) return
    const now = systemClock.monotonicMs()
    let earliest = Math.min(this.#unanswered.earliest(), this.#late.earliest())
    for (const jobs of [this.#waiting.all(), ...this.#halves]) {
      for (const job of jobs) if (!job.isAnswered) earliest = Math.min(earliest, job.deadline)
    }
    if (earliest === Infinity) return
    this.#watch = systemClock.startTimer(Math.max(1, earliest - now), () => {
      this.#watch = undefined
      this.#expire()
      this.#startWatch()
    })
  }

  #expire(): void {
    const now = systemClock.monotonicMs()
    const { handle } = this.calls
    const unopened = () => (handle.isOpen ? undefined : handle.notInTime('open the store'))
    const unknown = 'the store did not answer in time'
    this.#unanswered.expire(now, () => unopened() ?? unknownOutcome(unknown))
    for (const job of [...this.#waiting.all(), ...this.#halves.flat()]) {
      if (job.deadline <= now) rejectJob(job, unopened() ?? timedOut())
    }
    this.#waiting.dropAnswered()
    for (const [job, error] of this.#late.expired(now)) this.#drop(job, error)
    this.#checkIdle()
  }

  #answered(
    jobs: readonly BatchJob<Request, Reply>[],
    replies: readonly (Reply | Failure)[],
  ): void {
    const repeated = new Map<BatchJob<Request, Reply>, unknown>()
    jobs.forEach((job, index) => {
      const reply = replies[index]
      if (reply === undefined) {
        rejectJob(job, unknownOutcome('the driver gave no answer for this key'))
      } else if (!isFailure(reply)) resolveJob(job, reply)
      else if (this.#mayRepeatReply(job, reply)) {
        job.tries += 1
        repeated.set(job, reply.error)
      } else rejectJob(job, reply.error)
    })
    // Jobs of one batch have been tried equally often.
    const [first] = repeated.keys()
    if (first === undefined) return
    this.#later(repeated, pause(retryDelayMs(first.tries, lockedKeyDelay)))
  }

  #failed(jobs: readonly BatchJob<Request, Reply>[], error: unknown): void {
    const isUnknown = SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME')
    const isOfKey = this.calls.handle.isOpen && !isUnknown && !isOfStore(error)
    if (jobs.length > 1 && isOfKey && !isRetryable(error)) {
      // One bad key must fail alone, and nothing was done yet.
      const middle = jobs.length >> 1
      this.#halves.unshift(jobs.slice(0, middle), jobs.slice(middle))
      for (const { key } of jobs) this.#late.hold(key)
      this.#schedule()
      return
    }
    const repeated = new Map<BatchJob<Request, Reply>, unknown>()
    for (const job of jobs) {
      if (isUnknown) job.mayHaveHappened = true
      if (this.#mayRepeat(job, error)) repeated.set(job, error)
      else rejectJob(job, error)
    }
    const { gate } = this.calls.handle
    if (repeated.size > 0) this.#later(repeated, gate.turn(this.calls), gate.pass)
  }

  #mayRepeatReply(job: BatchJob<Request, Reply>, { error, isFinal }: KeyFailure): boolean {
    const isUnknown = SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME')
    if (isUnknown) job.mayHaveHappened = true
    return (isUnknown || error.retryable) && isFinal !== true
  }

  #mayRepeat(job: BatchJob<Request, Reply>, error: unknown): boolean {
    // A job whose outcome is unknown is repeated through every transient error, until it is known.
    if (!job.mayHaveHappened) return wasNotSent(error)
    return SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME') || isRetryable(error)
  }

  /** Sends jobs again in a batch of their own, or calls `pass` if none is left. Others of their keys wait. */
  #sendAlone(jobs: readonly BatchJob<Request, Reply>[], pass?: () => void): void {
    const unanswered = jobs.filter(({ isAnswered }) => !isAnswered)
    if (unanswered.length === 0) {
      pass?.()
      return
    }
    for (const { key } of unanswered) this.#late.hold(key)
    const sent = this.#sendBatch(unanswered, true)
    void Promise.resolve(sent).then(() => this.#release(unanswered))
  }

  /** Sends jobs again together, after a wait; their errors are for those whose time is up by then. */
  #later(
    jobs: ReadonlyMap<BatchJob<Request, Reply>, unknown>,
    wait: Promise<void> | undefined,
    pass?: () => void,
  ): void {
    if (wait === undefined) {
      this.#sendAlone([...jobs.keys()], pass)
      return
    }
    for (const [job, error] of jobs) this.#late.add(job, error)
    this.#startWatch()
    wait.then(
      () => {
        const waiting = [...jobs.keys()].filter((job) => this.#late.delete(job))
        this.#sendAlone(waiting, pass)
        this.#release(waiting)
      },
      () => {
        for (const [job, error] of jobs) this.#drop(job, error)
      },
    )
  }

  #drop(job: BatchJob<Request, Reply>, error: unknown): void {
    if (!this.#late.delete(job)) return
    rejectJob(job, error)
    this.#release([job])
  }

  #release(jobs: readonly BatchJob<Request, Reply>[]): void {
    for (const { key } of jobs) this.#late.release(key)
    this.#schedule()
    this.#checkIdle()
  }
}
