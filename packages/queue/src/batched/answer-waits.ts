import type { Awaitable } from '@sluice/core'

interface Job {
  readonly isAnswered: boolean
}

interface Wait {
  readonly jobs: readonly Job[]
  readonly resolve: () => void
}

/**
 * Waits until given jobs are answered. A wait for a batcher without jobs would not end while a producer goes
 * on adding: its next call is made before a batch counts as answered.
 */
export class AnswerWaits {
  #waits: readonly Wait[] = []

  /** `undefined` if all of the jobs are answered. */
  until(submitted: readonly Job[]): Awaitable<void> {
    const jobs = submitted.filter(({ isAnswered }) => !isAnswered)
    if (jobs.length === 0) return undefined
    return new Promise((resolve) => {
      this.#waits = [...this.#waits, { jobs, resolve }]
    })
  }

  /** Some jobs may have been answered: ends the waits that are over. */
  check(): void {
    if (this.#waits.length === 0) return
    this.#waits = this.#waits.filter(({ jobs, resolve }) => {
      const isWaiting = jobs.some(({ isAnswered }) => !isAnswered)
      if (!isWaiting) resolve()
      return isWaiting
    })
  }
}
