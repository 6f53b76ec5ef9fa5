import type { Visit } from './visit.ts'

/**
 * One page for several tests, which take turns: opening one takes longer than most of them. A test
 * that fails leaves its page as it is then, so the next one gets another.
 */
export class SharedVisit {
  readonly #begin: () => Promise<Visit>
  #visit: Visit | undefined

  constructor(begin: () => Promise<Visit>) {
    this.#begin = begin
  }

  /** A test that does something on the page, which shows the overview and nothing else by then. */
  on(test: (visit: Visit) => Promise<void>): () => Promise<void> {
    return async () => {
      const visit = this.#visit ?? (await this.#begin())
      this.#visit = undefined
      try {
        await test(visit)
        await visit.tidy()
        visit.check()
        visit.problems.length = 0
        visit.expected.length = 0
        this.#visit = visit
      } finally {
        if (this.#visit === undefined) await visit.context.close()
      }
    }
  }

  async end(): Promise<void> {
    const visit = this.#visit
    this.#visit = undefined
    await visit?.end()
  }
}
