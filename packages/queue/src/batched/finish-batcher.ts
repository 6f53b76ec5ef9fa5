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
} from '@sluice/core'
import type { QueueCore } from '../core/queue-core.ts'
import type { HeldKey } from '../held/held-key.ts'
import type { KeyFailure } from './batch-errors.ts'
import type { Answers, BatchJob } from './batch-job.ts'
import { Batcher } from './batcher.ts'
import { finishesInFlightMax } from './in-flight-limits.ts'

/** A key that is given back, and how. */
export interface FinishRequest {
  readonly held: HeldKey<unknown>
  readonly finish: Finish
}

type FinishJob = BatchJob<FinishRequest, FinishReply>

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
 * The lane of finishes.
 *
 * A finish whose answer was lost is sent again. If the key turns out not to be held under its token
 * any more although the lease cannot be over yet, then the first sending took effect; once the lease
 * may be over nobody can say, and the caller is told so, never that the lease was lost.
 */
export class FinishBatcher {
  readonly #engine: QueueCore
  readonly #lane: Batcher<FinishRequest, FinishReply>

  constructor(engine: QueueCore) {
    this.#engine = engine
    this.#lane = new Batcher<FinishRequest, FinishReply>({
      send: (_kind, jobs) => this.#send(jobs),
      canRepeat: () => true,
      turn: () => engine.handle.gate.turn(engine),
      pass: engine.handle.gate.pass,
      watch: (send) => engine.handle.gate.watch(send),
      timeoutMs: engine.options.timeoutMs,
      batchMax: batchKeysMax,
      stepsMax: finishesInFlightMax,
    })
  }

  /** Gives back a key. */
  submit(request: FinishRequest, answers: Answers<FinishReply>): void {
    this.#lane.submitOne('finish', request.held.key, request, answers)
  }

  /** Gives back several keys, telling of each answer by its place. */
  submitMany(
    helds: readonly HeldKey<unknown>[],
    finishes: readonly Finish[],
    answers: Answers<FinishReply>,
  ): void {
    const requests = helds.map(
      (held, at): FinishRequest => ({ held, finish: finishes[at] as Finish }),
    )
    this.#lane.submitMany('finish', requests, keyOf, answers)
  }

  idle(): Awaitable<void> {
    return this.#lane.idle()
  }

  /** Answers every call that has no answer yet, since the queue is closed. */
  giveUp(): void {
    this.#lane.giveUp()
  }

  #send(jobs: readonly FinishJob[]): Awaitable<readonly (FinishReply | Failure)[]> {
    const answer = this.#engine.opened(() => this.#finish(jobs))
    if (!jobs.some((job) => job.mayHaveHappened)) return answer
    return answer instanceof Promise
      ? answer.then((replies) => this.#withoutDoubt(jobs, replies))
      : this.#withoutDoubt(jobs, answer)
  }

  #finish(jobs: readonly FinishJob[]): Awaitable<readonly (FinishReply | Failure)[]> {
    const { driver, name, askOptions } = this.#engine
    const finishes = jobs.map(({ request }) => request.finish)
    return this.#engine.call('finish', { finishes, options: askOptions }, () =>
      driver.finish(name, finishes, askOptions),
    )
  }

  #withoutDoubt(
    jobs: readonly FinishJob[],
    replies: readonly (FinishReply | Failure)[],
  ): Promise<readonly (FinishReply | Failure)[]> {
    return Promise.all(
      replies.map((reply, index) => {
        const job = jobs[index]
        const isDoubtful = job?.mayHaveHappened === true && reply.outcome === 'lost'
        return isDoubtful ? this.#resolveDoubt(job) : reply
      }),
    )
  }

  async #resolveDoubt({ request, key }: FinishJob): Promise<FinishReply | KeyFailure> {
    const { driver, name, handle } = this.#engine
    if (request.held.deadline <= handle.clock.monotonicMs()) {
      const error = new SluiceError(
        'ERR_UNKNOWN_OUTCOME',
        `cannot say whether key ${JSON.stringify(key)} was given back: the answer of the store was ` +
          'lost, and the lease may be over by now',
      )
      return { outcome: 'failed', error, isFinal: true }
    }
    const { rows } = await driver.list(name, { keys: [key], limit: 1 })
    const row = rows[0]
    const outcome = row === undefined ? 'idle' : outcomeOfState[row.state]
    return { outcome, dueAt: row?.dueAt ?? never, failures: row?.failures ?? 0 }
  }
}

function keyOf({ held }: FinishRequest): string {
  return held.key
}
