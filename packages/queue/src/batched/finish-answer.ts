import type { FinishOutcome, FinishReply } from '@sluice/core'
import type { QueueCore } from '../core/queue-core.ts'
import type { Answers } from './batch-job.ts'
import type { FinishRequest } from './finish-batcher.ts'
import type { NextDue } from './next-due.ts'

/** Where the answer for one key goes that was given back by itself: one object, and no closures. */
export class FinishAnswer implements Answers<FinishReply> {
  readonly request: FinishRequest
  readonly #engine: QueueCore
  readonly #outlook: NextDue
  readonly #resolve: (outcome: FinishOutcome) => void
  readonly #reject: (error: unknown) => void

  constructor(
    engine: QueueCore,
    outlook: NextDue,
    request: FinishRequest,
    resolve: (outcome: FinishOutcome) => void,
    reject: (error: unknown) => void,
  ) {
    this.#engine = engine
    this.#outlook = outlook
    this.request = request
    this.#resolve = resolve
    this.#reject = reject
  }

  resolve(_at: number, { outcome, dueAt }: FinishReply): void {
    const { held, finish } = this.request
    this.#outlook.learn(dueAt, finish.as === 'retry')
    this.#engine.noteFinished(held, finish, outcome)
    this.#resolve(outcome)
  }

  reject(_at: number, error: unknown): void {
    this.request.held.phase = 'held'
    this.#reject(error)
  }
}
