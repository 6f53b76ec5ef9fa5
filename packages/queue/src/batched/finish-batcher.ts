import {
  type Awaitable,
  type Failure,
  type Finish,
  type FinishOutcome,
  type FinishReply,
  type KeyStateWord,
  never,
  SluiceError,
} from '@sluice/core'
import type { Finishes, FinishReceiver } from '../core/backend.ts'
import type { QueueCore } from '../core/queue-core.ts'
import type { HeldKey } from '../held/held-key.ts'
import type { KeyFailure } from './batch-errors.ts'
import type { Answers, BatchJob } from './batch-job.ts'
import { Batcher } from './batcher.ts'
import type { NextDue } from './claims/next-due.ts'
import { finishesInFlightMax } from './in-flight-limits.ts'

/** A key that is given back, and how. */
interface FinishRequest {
  readonly held: HeldKey<unknown>
  readonly finish: Finish
}

type FinishJob = BatchJob<FinishRequest, FinishReply>

/** One key that is given back, and the receiver of the outcome: one object, and no closures. */
class SingleFinish implements FinishRequest, Answers<FinishReply> {
  readonly held: HeldKey<unknown>
  readonly finish: Finish
  readonly #core: QueueCore
  readonly #nextDue: NextDue
  readonly #receiver: FinishReceiver

  constructor(
    core: QueueCore,
    nextDue: NextDue,
    held: HeldKey<unknown>,
    finish: Finish,
    receiver: FinishReceiver,
  ) {
    this.held = held
    this.finish = finish
    this.#core = core
    this.#nextDue = nextDue
    this.#receiver = receiver
  }

  resolve(_index: number, { outcome, dueAt }: FinishReply): void {
    this.#nextDue.learn(dueAt, isDelayed(this.finish))
    this.#core.noteFinished(this.held, this.finish, outcome)
    this.#receiver.finished(outcome)
  }

  reject(_index: number, error: unknown): void {
    this.held.phase = 'held'
    this.#receiver.finishFailed(error)
  }
}

/** The outcome that a finish had which left a key in this state. */
const outcomeOfState: Readonly<Record<KeyStateWord, FinishOutcome>> = {
  ready: 'ready',
  delayed: 'delayed',
  backoff: 'delayed',
  parked: 'parked',
  idle: 'idle',
  // Another worker has it already, so it was ready.
  processing: 'ready',
  dirty: 'ready',
}

/**
 * Batches finishes.
 *
 * A finish whose answer was lost is sent again. If the key turns out not to be held under its token
 * any more although the lease cannot have expired yet, then the first sending took effect. Once the
 * lease may have expired the outcome cannot be known, and the caller gets ERR_UNKNOWN_OUTCOME,
 * never the outcome that the lease was lost.
 */
export class FinishBatcher extends Batcher<FinishRequest, FinishReply> implements Finishes {
  readonly #core: QueueCore
  readonly #nextDue: NextDue

  constructor(core: QueueCore, nextDue: NextDue) {
    super(core.calls, finishesInFlightMax)
    this.#core = core
    this.#nextDue = nextDue
  }

  finish(held: HeldKey<unknown>, finish: Finish): Promise<FinishOutcome> {
    return new Promise((resolve, reject) => {
      this.finishFor(held, finish, { finished: resolve, finishFailed: reject })
    })
  }

  finishFor(held: HeldKey<unknown>, finish: Finish, receiver: FinishReceiver): void {
    const single = new SingleFinish(this.#core, this.#nextDue, held, finish, receiver)
    this.submit('finish', held.key, single, single, !held.hasReturned)
  }

  /** Gives back several keys; each answer comes with the index of its key. */
  finishMany(
    helds: readonly HeldKey<unknown>[],
    finishes: readonly Finish[],
    answers: Answers<FinishReply>,
  ): void {
    const requests = helds.map(
      (held, index): FinishRequest => ({ held, finish: finishes[index] as Finish }),
    )
    this.submitMany('finish', requests, keyOf, {
      resolve: (index, reply) => {
        this.#nextDue.learn(reply.dueAt, isDelayed(finishes[index]))
        answers.resolve(index, reply)
      },
      reject: (index, error) => answers.reject(index, error),
    })
  }

  protected override send(
    _kind: string,
    jobs: readonly FinishJob[],
  ): Awaitable<readonly (FinishReply | Failure)[]> {
    const answer = this.#send(jobs)
    if (!jobs.some((job) => job.mayHaveHappened)) return answer
    return Promise.resolve(answer).then((replies) => this.#withoutDoubt(jobs, replies))
  }

  #send(jobs: readonly FinishJob[]): Awaitable<readonly (FinishReply | Failure)[]> {
    const { driver, name, askOptions } = this.calls
    const finishes = jobs.map(({ request }) => request.finish)
    return this.calls.call('finish', { finishes, options: askOptions }, () =>
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
        if (!isDoubtful) return reply
        // The other keys of the batch have their answers, and must not be given back again.
        return this.#resolveDoubt(job).catch((error): Failure => ({ outcome: 'failed', error }))
      }),
    )
  }

  async #resolveDoubt({ request, key }: FinishJob): Promise<FinishReply | KeyFailure> {
    const { driver, name, handle } = this.calls
    if (request.held.deadline <= handle.clock.monotonicMs()) {
      const error = new SluiceError(
        'ERR_UNKNOWN_OUTCOME',
        `cannot say whether key ${JSON.stringify(key)} was given back: the answer of the store was ` +
          'lost, and the lease may have expired',
      )
      return { outcome: 'failed', error, isFinal: true }
    }
    const { rows } = await driver.list(name, { keys: [key], limit: 1 })
    const row = rows[0]
    const outcome = row === undefined ? 'idle' : outcomeOfState[row.state]
    return { outcome, dueAt: row?.dueAt ?? never, failures: row?.failures ?? 0 }
  }
}

/** Whether a finish adds the key again for later. */
function isDelayed(finish: Finish | undefined): boolean {
  return finish?.as === 'retry' || (finish?.as === 'done' && finish.again !== undefined)
}

function keyOf({ held }: FinishRequest): string {
  return held.key
}
