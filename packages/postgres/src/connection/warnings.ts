import { safeListener } from '@sluice/core'
import type { Environment } from '@sluice/core/driver'

/** The least time between two warnings of one kind, in milliseconds. */
const silenceMs = 10_000

/** Limits the warnings of each kind, so that an outage does not fill the log. */
export class Warnings {
  readonly #environment: Environment
  readonly #warn: (message: string, cause: unknown) => void
  readonly #lastAt = new Map<string, number>()

  constructor(environment: Environment, warn: (message: string, cause: unknown) => void) {
    this.#environment = environment
    this.#warn = safeListener('onWarning', warn)
  }

  /** Warns, unless there was a warning of that kind lately. */
  warn(kind: string, message: string, cause: unknown): void {
    const now = this.#environment.clock.monotonicMs()
    const lastAt = this.#lastAt.get(kind)
    if (lastAt !== undefined && now - lastAt < silenceMs) return
    this.#lastAt.set(kind, now)
    this.#warn(message, cause)
  }

  /** Warns the first time only. */
  once(kind: string, message: string, cause: unknown): void {
    if (this.#lastAt.has(kind)) return
    this.warn(kind, message, cause)
  }
}
