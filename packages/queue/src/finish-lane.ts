import {
  type Awaitable,
  batchKeysMax,
  type Failure,
  type Finish,
  type FinishOutcome,
  type FinishReply,
  type KeyStateWord,
  never,
  SluiceError,
  systemClock,
  type Timer,
} from '@sluice/core'
import type { Engine } from './engine.ts'
import type { HeldKey } from './held-key.ts'
import { Lane } from './lane.ts'
import type { Answers, Job } from './lane-job.ts'

type Request =
  | { readonly as: 'finish'; readonly held: HeldKey<unknown>; readonly finish: Finish }
  | { readonly as: 'run'; readonly run: () => Promise<void> }

type Reply =
  | { readonly as: 'finish'; readonly reply: FinishReply }
  | { readonly as: 'run'; readonly error: unknown }

type FinishJob = Job<Request, Reply>

/** What a finish would have answered that left a key in this state. */
const outcomeOfState: Readonly<Record<KeyStateWord, FinishOutcome>> = {
  ready: 'ready',
  delayed: 'delayed',
  backoff: 'delayed',
  parked: 'parked',
  idle: 'idle',
  // Somebody else has it already, so it was ready.
  processing: 'ready',
  dirty: 'ready',
}

/**
 * The lane of finishes, and of the claims between them.
 *
 * A finish whose answer was lost is sent again. If the key turns out not to be held under its token
 * any more although the lease cannot be over yet, then the first sending took effect; once the lease
 * may be over nobody can say, and the caller is told so, never that the lease was lost.
 */
export class FinishLane {
  readonly #engine: Engine
  readonly #lane: Lane<Request, Reply>
  /** Waits under way, and how to end them. */
  readonly #pauses = new Map<Timer, () => void>()

  constructor(engine: Engine) {
    this.#engine = engine
    this.#lane = new Lane<Request, Reply>({
      send: (_kind, jobs) => this.#send(jobs),
      canRepeat: () => true,
      timeoutMs: engine.options.timeoutMs,
      batchMax: batchKeysMax,
    })
  }

  async submit(held: HeldKey<unknown>, finish: Finish): Promise<FinishReply> {
    const reply = await this.#lane.submit('finish', held.key, { as: 'finish', held, finish })
    if (reply.as === 'finish') return reply.reply
    throw reply.error
  }

  /** Gives back several keys, telling of each answer by its place. */
  submitMany(
    helds: readonly HeldKey<unknown>[],
    finishes: readonly Finish[],
    answers: Answers<FinishReply>,
  ): void {
    const requests = helds.map((held, at): Request => {
      return { as: 'finish', held, finish: finishes[at] as Finish }
    })
    this.#lane.submitMany('finish', requests, keyOf, {
      resolve(at, reply) {
        if (reply.as === 'finish') answers.resolve(at, reply.reply)
        else answers.reject(at, reply.error)
      },
      reject: (at, error) => answers.reject(at, error),
    })
  }

  /** Runs something when it is its turn among the finishes. */
  async between(run: () => Promise<void>): Promise<void> {
    const reply = await this.#lane.submit('run', '', { as: 'run', run })
    if (reply.as === 'run' && reply.error !== undefined) throw reply.error
  }

  settled(): Awaitable<void> {
    return this.#lane.settled()
  }

  /** Waits in real time, at most until the lane is stopped. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = systemClock.startTimer(ms, () => {
        this.#pauses.delete(timer)
        resolve()
      })
      if (this.#engine.options.ref) timer.ref()
      this.#pauses.set(timer, resolve)
    })
  }

  stop(): void {
    for (const [timer, resolve] of this.#pauses) {
      timer.stop()
      resolve()
    }
    this.#pauses.clear()
  }

  #send(jobs: readonly FinishJob[]): Awaitable<readonly (Reply | Failure)[]> {
    const first = jobs[0]?.request
    if (first?.as === 'run') {
      return first.run().then(
        () => [{ as: 'run', error: undefined }],
        (error: unknown) => [{ as: 'run', error }],
      )
    }
    const answer = this.#engine.opened(() => this.#finish(jobs))
    return answer instanceof Promise
      ? answer.then((replies) => this.#replied(jobs, replies))
      : this.#replied(jobs, answer)
  }

  #finish(jobs: readonly FinishJob[]): Awaitable<readonly (FinishReply | Failure)[]> {
    const { driver, name, askOptions } = this.#engine
    const finishes: Finish[] = []
    for (const { request } of jobs) {
      if (request.as === 'finish') finishes.push(request.finish)
    }
    return this.#engine.call('finish', { finishes, options: askOptions }, () =>
      driver.finish(name, finishes, askOptions),
    )
  }

  #replied(
    jobs: readonly FinishJob[],
    replies: readonly (FinishReply | Failure)[],
  ): Awaitable<readonly (Reply | Failure)[]> {
    const isDoubtful = jobs.some((job) => job.mayHaveHappened)
    if (!isDoubtful) return replies.map(wrapped)
    return Promise.all(
      replies.map((reply, index) => {
        const job = jobs[index]
        return job?.mayHaveHappened === true && reply.outcome === 'lost'
          ? this.#resolveDoubt(job)
          : wrapped(reply)
      }),
    )
  }

  async #resolveDoubt({ request, key }: FinishJob): Promise<Reply | Failure> {
    const { driver, name, store } = this.#engine
    const isLeaseGood = request.as === 'finish' && request.held.deadline > store.clock.monotonicMs()
    if (!isLeaseGood) {
      const error = new SluiceError(
        'ERR_UNKNOWN_OUTCOME',
        `cannot say whether key ${JSON.stringify(key)} was given back: the answer of the store was ` +
          'lost, and the lease may be over by now',
      )
      return { outcome: 'failed', error }
    }
    const { rows } = await driver.list(name, { keys: [key], limit: 1 })
    const row = rows[0]
    const outcome = row === undefined ? 'idle' : outcomeOfState[row.state]
    const reply = { outcome, dueAt: row?.dueAt ?? never, failures: row?.failures ?? 0 }
    return { as: 'finish', reply }
  }
}

function keyOf(request: Request): string {
  return request.as === 'finish' ? request.held.key : ''
}

function wrapped(reply: FinishReply | Failure): Reply | Failure {
  return reply.outcome === 'failed' ? reply : { as: 'finish', reply }
}
