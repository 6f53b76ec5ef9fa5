import type { HeldKey } from '../held/held-key.ts'
import type { HandlerContext } from './worker.ts'

/** The context of a run. A signal is made only if the handler reads it. */
export class RunContext implements HandlerContext {
  readonly key: string
  readonly token: number
  readonly failures: number
  readonly crashes: number
  readonly priority: number
  readonly #held: HeldKey<unknown>

  constructor(held: HeldKey<unknown>) {
    this.key = held.key
    this.token = held.token
    this.failures = held.failures
    this.crashes = held.crashes
    this.priority = held.priority
    this.#held = held
  }

  get signal(): AbortSignal {
    return this.#held.signal
  }
}
