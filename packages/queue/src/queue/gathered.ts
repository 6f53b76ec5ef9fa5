/** The outcomes of several calls behind one promise, which fails with the first of them that fails. */
export class Gathered<Outcome> {
  readonly promise: Promise<Outcome[]>
  readonly #outcomes: Outcome[]
  #left: number
  #resolve!: (outcomes: Outcome[]) => void
  #reject!: (error: unknown) => void

  constructor(count: number) {
    this.#outcomes = new Array<Outcome>(count)
    this.#left = count
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    if (count === 0) this.#resolve([])
  }

  set(at: number, outcome: Outcome): void {
    this.#outcomes[at] = outcome
    this.#left -= 1
    if (this.#left === 0) this.#resolve(this.#outcomes)
  }

  fail(error: unknown): void {
    this.#reject(error)
  }
}
