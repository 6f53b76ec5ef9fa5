import assert from 'node:assert/strict'

/** What happened in a run of the fuzzer, in the order in which it happened. */
export class RunBook {
  #events = 0
  /** When the last acknowledged add of a key was sent. */
  readonly #addedAt = new Map<string, number>()
  /** When the last run of a key that went well began. */
  readonly #ranAt = new Map<string, number>()
  readonly #tokens = new Map<string, number>()
  readonly #pending = new Map<Promise<unknown>, string>()
  readonly seen: Map<string, number> = new Map()
  readonly errors: unknown[] = []

  saw(what: string): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + 1)
  }

  /** Keeps an eye on a promise of the library until it has settled; answers `undefined` on failure. */
  watch<T>(what: string, promise: Promise<T>): Promise<T | undefined> {
    this.#pending.set(promise, what)
    return promise.then(
      (answer) => {
        this.#pending.delete(promise)
        return answer
      },
      (error: unknown) => {
        this.#pending.delete(promise)
        this.saw(`${what}: rejected`)
        this.errors.push(error)
        return undefined
      },
    )
  }

  /** What has not settled yet. */
  get pending(): string[] {
    return [...this.#pending.values()]
  }

  /** Adds keys, and remembers those that were acknowledged. */
  async add(what: string, keys: readonly string[], adding: Promise<unknown>): Promise<void> {
    this.#events += 1
    const sentAt = this.#events
    const answer = await this.watch(what, adding)
    if (answer === undefined) return
    this.saw(what)
    for (const key of keys) {
      this.#addedAt.set(key, Math.max(sentAt, this.#addedAt.get(key) ?? 0))
    }
  }

  /** A run begins: with the newest token there is, unless it can know that it has lost its lease. */
  begin(key: string, token: number, signal: AbortSignal): number {
    const last = this.#tokens.get(key) ?? 0
    assert.ok(
      token > last || signal.aborted,
      `${key} is handed out with token ${token}, after ${last} was`,
    )
    this.#tokens.set(key, Math.max(last, token))
    this.#events += 1
    return this.#events
  }

  /** Whether a run under this token has begun. */
  hasBegun(key: string, token: number): boolean {
    return this.#tokens.get(key) === token
  }

  wentWell(key: string, begunAt: number): void {
    this.#ranAt.set(key, Math.max(begunAt, this.#ranAt.get(key) ?? 0))
  }

  /** Acknowledged keys that have not run since. */
  get missing(): string[] {
    return [...this.#addedAt]
      .filter(([key, sentAt]) => (this.#ranAt.get(key) ?? 0) < sentAt)
      .map(([key]) => key)
  }
}
