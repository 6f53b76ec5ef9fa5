import {
  type Ask,
  type AskReply,
  type Awaitable,
  batchKeysMax,
  type CancelOutcome,
  type Failure,
  type ForgetOutcome,
} from '@sluice/core'
import type { QueueCore } from '../core/queue-core.ts'
import type { Answers, BatchJob } from './batch-job.ts'
import { Batcher } from './batcher.ts'

type AddRequest = Ask | undefined
type AddReply = AskReply | CancelOutcome | ForgetOutcome
type AddJob = BatchJob<AddRequest, AddReply>

/** The answer to an add that shares a step with an earlier add of its key, which asks for as much. */
function afterwards(reply: AddReply): AddReply {
  const { outcome, dueAt, failures } = reply as AskReply
  const isRefused = outcome === 'parked' || outcome === 'full'
  return { outcome: isRefused ? outcome : 'unchanged', dueAt, failures }
}

/** How many adds travel along with others of their keys: whoever counts adds cannot see them. */
function mergedInto(jobs: readonly AddJob[]): number {
  let merged = 0
  for (const { followers } of jobs) merged += followers?.length ?? 0
  return merged
}

function keyOf(request: AddRequest): string {
  return request?.key ?? ''
}

function isPlain({ delayMs, failed, plan }: Ask): boolean {
  return delayMs <= 0 && failed !== true && plan === undefined
}

/** The lane of everything that changes what is owed to keys without holding them. */
export class AddBatcher {
  readonly #engine: QueueCore
  readonly #lane: Batcher<AddRequest, AddReply>

  constructor(engine: QueueCore) {
    this.#engine = engine
    this.#lane = new Batcher<AddRequest, AddReply>({
      send: (kind, jobs) => engine.opened(() => this.#send(kind, jobs)),
      merge,
      // An add is owed at least as early as it was, however often it is repeated.
      canRepeat: () => true,
      turn: () => engine.handle.gate.turn(engine),
      pass: engine.handle.gate.pass,
      watch: (send) => engine.handle.gate.watch(send),
      timeoutMs: engine.options.timeoutMs,
      batchMax: batchKeysMax,
      // Keys stand in line in the order in which they were asked for.
      stepsMax: 1,
    })
  }

  #send(kind: string, jobs: readonly AddJob[]): Awaitable<readonly (AddReply | Failure)[]> {
    const { driver, name, askOptions } = this.#engine
    if (kind === 'add') {
      const asks = jobs.map(({ request }) => request as Ask)
      const request = { asks, options: askOptions, merged: mergedInto(jobs) }
      return this.#engine.call('add', request, () => driver.add(name, asks, askOptions))
    }
    const keys = jobs.map(({ key }) => key)
    return kind === 'cancel'
      ? this.#engine.call('cancel', { keys }, () => driver.cancel(name, keys))
      : this.#engine.call('forget', { keys }, () => driver.forget(name, keys))
  }

  async ask(ask: Ask): Promise<AskReply> {
    return (await this.#lane.submit('add', ask.key, ask)) as AskReply
  }

  /** Asks for several runs; the promise is for all of them. */
  askMany(asks: readonly Ask[], answers: Answers<AskReply>): void {
    this.#lane.submitMany('add', asks, keyOf, answers as Answers<AddReply>)
  }

  async cancel(key: string): Promise<CancelOutcome> {
    return (await this.#lane.submit('cancel', key, undefined)) as CancelOutcome
  }

  async forget(key: string): Promise<ForgetOutcome> {
    return (await this.#lane.submit('forget', key, undefined)) as ForgetOutcome
  }

  idle(): Awaitable<void> {
    return this.#lane.idle()
  }

  /** Answers every call that has no answer yet, since the queue is closed. */
  giveUp(): void {
    this.#lane.giveUp()
  }
}

/** Immediate adds of one key travel as one; each gets the answer that it would have got alone. */
function merge(earlier: AddJob, later: AddJob): ((reply: AddReply) => AddReply) | undefined {
  const first = earlier.request
  const second = later.request
  if (first === undefined || second === undefined) return undefined
  // Which of the two a higher priority would have moved, only a step of its own can tell.
  if (!isPlain(first) || !isPlain(second) || second.priority > first.priority) return undefined
  earlier.request = { ...first, item: second.item }
  return afterwards
}
