interface BareRecord {
  isDirty: boolean
  isProcessing: boolean
}

/**
 * The yardstick: the least that can be called a work queue in this language. A `Map` of records, an
 * array as ring, `async` methods; no priorities, no tokens, no limits, no times, no checks.
 */
export class BareLoop {
  readonly #records = new Map<string, BareRecord>()
  #ring: string[] = []
  #head = 0
  readonly #waiting: ((key: string) => void)[] = []

  #push(key: string): void {
    const waiting = this.#waiting.shift()
    if (waiting === undefined) this.#ring.push(key)
    else waiting(key)
  }

  addNow(key: string): void {
    const record = this.#records.get(key)
    if (record === undefined) {
      this.#records.set(key, { isDirty: true, isProcessing: false })
      this.#push(key)
    } else if (!record.isDirty) {
      record.isDirty = true
      if (!record.isProcessing) this.#push(key)
    }
  }

  #take(key: string): string {
    const record = this.#records.get(key)!
    record.isDirty = false
    record.isProcessing = true
    return key
  }

  getNow(): string | undefined {
    const key = this.#ring[this.#head]
    if (key === undefined) return undefined
    this.#head += 1
    if (this.#head === this.#ring.length) {
      this.#ring = []
      this.#head = 0
    }
    return this.#take(key)
  }

  doneNow(key: string): void {
    const record = this.#records.get(key)
    if (record === undefined) return
    record.isProcessing = false
    if (record.isDirty) this.#push(key)
    else this.#records.delete(key)
  }

  async add(key: string): Promise<void> {
    this.addNow(key)
  }

  async get(): Promise<string> {
    const key = this.getNow()
    if (key !== undefined) return key
    return this.#take(await new Promise<string>((resolve) => this.#waiting.push(resolve)))
  }

  async done(key: string): Promise<void> {
    this.doneNow(key)
  }
}
