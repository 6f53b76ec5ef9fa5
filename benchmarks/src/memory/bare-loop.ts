// The yardstick: what the language costs, with no feature at all.

interface Row {
  readonly key: string
  isDirty: boolean
  isHeld: boolean
}

/** A Map of records and an array as ring, behind three async functions. */
export class BareLoop {
  readonly #rows = new Map<string, Row>()
  #ring: (Row | undefined)[] = []
  #head = 0

  async add(key: string): Promise<void> {
    this.addNow(key)
  }

  async get(): Promise<Row> {
    return this.getNow()
  }

  async done(row: Row): Promise<void> {
    this.doneNow(row)
  }

  addNow(key: string): void {
    const row = this.#rows.get(key)
    if (row === undefined) {
      const fresh = { key, isDirty: true, isHeld: false }
      this.#rows.set(key, fresh)
      this.#ring.push(fresh)
    } else if (!row.isDirty) {
      row.isDirty = true
      if (!row.isHeld) this.#ring.push(row)
    }
  }

  getNow(): Row {
    const row = this.#ring[this.#head]!
    this.#ring[this.#head] = undefined
    this.#head += 1
    if (this.#head === this.#ring.length) {
      this.#ring = []
      this.#head = 0
    }
    row.isDirty = false
    row.isHeld = true
    return row
  }

  doneNow(row: Row): void {
    row.isHeld = false
    if (row.isDirty) this.#ring.push(row)
    else this.#rows.delete(row.key)
  }
}
