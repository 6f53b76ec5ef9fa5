import {
  type Ask,
  type AskReply,
  batchKeysMax,
  type CancelOutcome,
  type EpochMs,
  type Finish,
  type FinishOutcome,
  type FinishReply,
  type ForgetOutcome,
  transitions,
} from '@sluice/core'
import type { AlarmSetting } from '../core/alarm.ts'
import type { Backend } from '../core/backend.ts'
import type { QueueCore } from '../core/queue-core.ts'
import type { HeldKey } from '../held/held-key.ts'
import { AddBatcher } from './add-batcher.ts'
import type { Answers } from './batch-job.ts'
import { ClaimLoop } from './claim-loop.ts'
import { FinishAnswer } from './finish-answer.ts'
import { FinishBatcher } from './finish-batcher.ts'
import { NextDue } from './next-due.ts'

/** Counts as many as there are. */
const uncapped = Number.MAX_SAFE_INTEGER

/**
 * The way to a driver that takes batches: adds in one lane, finishes in another, claims and renewals
 * each by themselves, so that none waits for the others.
 */
export class BatchedBackend implements Backend {
  readonly #engine: QueueCore
  readonly #adds: AddBatcher
  readonly #finishes: FinishBatcher
  readonly #outlook: NextDue
  readonly #claimer: ClaimLoop

  constructor(engine: QueueCore) {
    this.#engine = engine
    this.#adds = new AddBatcher(engine)
    this.#finishes = new FinishBatcher(engine)
    this.#outlook = new NextDue(engine)
    this.#claimer = new ClaimLoop(engine, this.#finishes, this.#outlook)
  }

  async add(ask: Ask): Promise<AskReply> {
    const reply = await this.#adds.ask(ask)
    this.#outlook.learn(reply.dueAt, ask.delayMs > 0 || ask.plan !== undefined)
    return reply
  }

  addMany(asks: readonly Ask[], answers: Answers<AskReply>): void {
    this.#adds.askMany(asks, {
      resolve: (at, reply) => {
        this.#outlook.learn(reply.dueAt, false)
        answers.resolve(at, reply)
      },
      reject: (at, error) => answers.reject(at, error),
    })
  }

  cancel(key: string): Promise<CancelOutcome> {
    return this.#adds.cancel(key)
  }

  forget(key: string): Promise<ForgetOutcome> {
    return this.#adds.forget(key)
  }

  async failures(key: string): Promise<number> {
    const { driver, name, options } = this.#engine
    const request = { keys: [key], limit: 1 }
    const { rows, now } = await this.#engine.inquire(() =>
      this.#engine.call('list', request, () => driver.list(name, request)),
    )
    const row = rows[0]
    // A store may keep a count that has expired for a while.
    if (row === undefined) return 0
    return transitions.countedFailures(row, now, options.failuresExpireMs)
  }

  finish(held: HeldKey<unknown>, finish: Finish): Promise<FinishOutcome> {
    return new Promise((resolve, reject) => {
      const answer = new FinishAnswer(
        this.#engine,
        this.#outlook,
        { held, finish },
        resolve,
        reject,
      )
      this.#finishes.submit(answer.request, answer)
    })
  }

  finishMany(
    helds: readonly HeldKey<unknown>[],
    finishes: readonly Finish[],
    answers: Answers<FinishReply>,
  ): void {
    this.#finishes.submitMany(helds, finishes, {
      resolve: (at, reply) => {
        this.#outlook.learn(reply.dueAt, finishes[at]?.as === 'retry')
        answers.resolve(at, reply)
      },
      reject: (at, error) => answers.reject(at, error),
    })
  }

  async len(): Promise<number> {
    const { driver, name } = this.#engine
    const request = { cap: uncapped }
    const counts = await this.#engine.inquire(() =>
      this.#engine.call('counts', request, () => driver.counts(name, request)),
    )
    return counts.ready
  }

  async now(): Promise<EpochMs> {
    return (await this.#claimer.patiently(() => this.#outlook.tick(false))).now
  }

  estimatedNow(): EpochMs {
    return this.#outlook.now()
  }

  readyAt(held: HeldKey<unknown>): EpochMs {
    return held.readyAt
  }

  async isDrained(instant: EpochMs): Promise<boolean> {
    for (;;) {
      // What a claim under way has taken is neither ready any more nor held yet.
      const { inFlight } = this.#claimer
      await inFlight.answered()
      const { count } = inFlight
      if (!(await this.#isNothingDue(instant))) return false
      if (count === inFlight.count) return true
    }
  }

  async #isNothingDue(instant: EpochMs): Promise<boolean> {
    const { nextAt, now } = await this.#claimer.patiently(() => this.#outlook.tick(false))
    if (nextAt > now || nextAt <= instant) return nextAt > instant
    // Something is ready, perhaps only since `instant`: a driver need not say since when.
    return await this.#claimer.patiently(() => this.#nothingReadySince(instant))
  }

  async #nothingReadySince(instant: EpochMs): Promise<boolean> {
    const { driver, name } = this.#engine
    for (let cursor: string | undefined, limit = 10; ; limit = batchKeysMax) {
      const request = { state: 'ready', limit, cursor } as const
      const reply = await this.#engine.inquire(() =>
        this.#engine.call('list', request, () => driver.list(name, request)),
      )
      if (reply.rows.some(({ dueAt }) => dueAt <= instant)) return false
      if (reply.cursor === undefined) return true
      cursor = reply.cursor
    }
  }

  isDue(): boolean {
    return this.#outlook.nextAt <= this.#outlook.now()
  }

  handOut(): void {
    this.#claimer.handOut()
  }

  refresh(): void {
    this.#claimer.refresh()
  }

  onTimer(): void {
    this.#claimer.onTimer()
  }

  heartbeat(): Promise<void> {
    return this.#claimer.heartbeat()
  }

  async unregister(): Promise<void> {
    await this.#engine.attempt(() => this.#outlook.tick(true))
  }

  alarmSetting(): AlarmSetting {
    return this.#claimer.alarmSetting()
  }

  releasePrefetched(): Promise<void> {
    return this.#claimer.releasePrefetched()
  }

  async idle(): Promise<void> {
    await this.#adds.idle()
    await this.#claimer.inFlight.answered()
    await this.#finishes.idle()
  }

  giveUp(): void {
    this.#adds.giveUp()
    this.#finishes.giveUp()
    this.#engine.handle.gate.leave(this.#engine)
  }

  stop(): void {
    this.#claimer.stop()
    this.#engine.handle.gate.leave(this.#engine)
  }
}
