import { doubled } from './doubled.ts'
import { hashOfEnd } from './hash-of-end.ts'
import { noRow as noRowImported } from './row-links.ts'

// A constant of this very module is folded into the code; an imported one is looked up each time.
const noRow = noRowImported

/** Where the index reads the key of a row; it keeps no string of its own. */
export interface IndexedRows {
  keyAt(row: number): string
}

/** How a string becomes 32 bits; see {@link hashOfEnd}. */
export type HashOfEnd = (key: string, units: number) => number

/** Up to this many keys are found by looking at all of them, without a hash. */
const scanMax = 4
const bucketsInitial = 64
/**
 * How many code units are hashed, at first and after keys have turned out to share an end.
 * Integers, also for "all": with an infinity among them the loop would count in floats.
 */
const unitsOfLevel = [4, 8, 2 ** 30] as const
/** When this many keys share a hash, more of the keys is hashed. */
const sharedMax = 5
/** When a bucket has this many keys, likewise: there are never more keys than buckets. */
const crowdedMax = 64

/**
 * Finds the row of a key.
 *
 * A few keys are simply looked through, for most queues are nearly empty most of the time. More are
 * in buckets by their hash; the rows of a bucket are linked. Growing moves integers and touches no
 * string, where a `Map` reads the header of each. Only the end of a key is hashed until too many
 * keys share it. If even the whole keys collide, they were chosen to, and a `Map` takes over, whose
 * hash cannot be predicted.
 */
export class StringIndex {
  size = 0
  private readonly rows: IndexedRows
  private readonly hashOfEnd: HashOfEnd
  private readonly scanned: Int32Array = new Int32Array(scanMax)
  /** False: `scanned` is in use, true: the buckets are. */
  private isTable = false
  /** The first row of each bucket. */
  private buckets: Int32Array
  private mask: number
  /** Of each row, the hash of its key, and the next row in its bucket. */
  private cells: Int32Array
  private level = 0
  private units: number = unitsOfLevel[0]
  private map: Map<string, number> | undefined
  /** What the last search that found nothing came across. */
  private missedHash = 0
  private missedIsCrowded = false

  constructor(rows: IndexedRows, expectedKeys: number, hash: HashOfEnd = hashOfEnd) {
    this.rows = rows
    this.hashOfEnd = hash
    const buckets = Math.max(bucketsInitial, 2 ** Math.ceil(Math.log2(Math.max(1, expectedKeys))))
    this.buckets = new Int32Array(buckets)
    this.cells = new Int32Array(buckets * 2)
    this.mask = buckets - 1
  }

  /** How keys are found at present: for tests. */
  get method(): 'scan' | 'table' | 'map' {
    if (this.map !== undefined) return 'map'
    return this.isTable ? 'table' : 'scan'
  }

  /** The row of `key`, or `noRow`. */
  find(key: string): number {
    if (!this.isTable) {
      const scanned = this.scanned
      const { size } = this
      for (let at = 0; at < size; at += 1) {
        const row = scanned[at]!
        if (this.rows.keyAt(row) === key) return row
      }
      return noRow
    }
    if (this.map !== undefined) return this.map.get(key) ?? noRow
    return this.probe(key)
  }

  /** Adds the key of `row`, which the last {@link find} did not find. */
  addMissed(row: number): void {
    if (!this.isTable && this.size < scanMax) {
      this.scanned[this.size] = row
      this.size += 1
    } else this.addToTable(row)
  }

  private addToTable(row: number): void {
    if (!this.isTable) {
      this.isTable = true
      for (const scanned of this.scanned) this.addFound(scanned)
      this.probe(this.rows.keyAt(row))
    }
    this.size += 1
    if (this.map !== undefined) this.map.set(this.rows.keyAt(row), row)
    else if (this.missedIsCrowded) this.escalate(row)
    else {
      this.link(row, this.missedHash)
      if (this.size > this.mask) this.widen()
    }
  }

  /** Removes a row that is in the index; its key must still be there to be read. */
  remove(row: number): void {
    this.size -= 1
    if (!this.isTable) {
      // By hand: `indexOf` of a typed array takes thirty times as long for so few.
      let at = 0
      while (this.scanned[at] !== row) at += 1
      this.scanned[at] = this.scanned[this.size]!
      this.scanned[this.size] = noRow
      return
    }
    if (this.map !== undefined) this.map.delete(this.rows.keyAt(row))
    else this.unlink(row)
    // Nearly empty again: back to looking through the keys. The buckets, now empty, are kept.
    if (this.size === 0) this.isTable = false
  }

  private probe(key: string): number {
    const { buckets, cells } = this
    const hash = this.hashOfEnd(key, this.units)
    let crowd = 0
    let shared = 0
    for (let row = buckets[hash & this.mask]!; row !== noRow; row = cells[(row << 1) | 1]!) {
      crowd += 1
      if (cells[row << 1] === hash) {
        if (this.rows.keyAt(row) === key) return row
        shared += 1
      }
    }
    this.missedHash = hash
    this.missedIsCrowded = shared >= sharedMax - 1 || crowd >= crowdedMax - 1
    return noRow
  }

  private link(row: number, hash: number): void {
    while (row << 1 >= this.cells.length) this.cells = doubled(this.cells)
    const bucket = hash & this.mask
    this.cells[row << 1] = hash
    this.cells[(row << 1) | 1] = this.buckets[bucket]!
    this.buckets[bucket] = row
  }

  private unlink(row: number): void {
    const { buckets, cells } = this
    const bucket = cells[row << 1]! & this.mask
    const next = cells[(row << 1) | 1]!
    let at = buckets[bucket]!
    if (at === row) {
      buckets[bucket] = next
      return
    }
    while (cells[(at << 1) | 1] !== row) at = cells[(at << 1) | 1]!
    cells[(at << 1) | 1] = next
  }

  /** Doubles the buckets. The rows of each are divided among it and a new one. */
  private widen(): void {
    const { cells } = this
    const { length } = this.buckets
    this.buckets = doubled(this.buckets)
    this.mask = this.buckets.length - 1
    for (let bucket = 0; bucket < length; bucket += 1) {
      let row = this.buckets[bucket]!
      this.buckets[bucket] = noRow
      while (row !== noRow) {
        const next = cells[(row << 1) | 1]!
        this.link(row, cells[row << 1]!)
        row = next
      }
    }
  }

  /** Adds a row whose key was not searched for; false if it crowds. */
  private addFound(row: number): boolean {
    const key = this.rows.keyAt(row)
    if (this.map !== undefined) {
      this.map.set(key, row)
      return true
    }
    this.probe(key)
    this.link(row, this.missedHash)
    return !this.missedIsCrowded
  }

  /** Hashes more of every key, that of `added` too, until they no longer crowd; for good. */
  private escalate(added: number): void {
    const rows = this.allRows()
    rows.push(added)
    do {
      this.level += 1
      const units = unitsOfLevel[this.level]
      if (units === undefined) {
        this.map = new Map(rows.map((row) => [this.rows.keyAt(row), row]))
        this.buckets = new Int32Array(1)
        this.cells = new Int32Array(2)
        return
      }
      this.units = units
      this.buckets.fill(noRow)
    } while (!rows.every((row) => this.addFound(row)))
    if (this.size > this.mask) this.widen()
  }

  private allRows(): number[] {
    const rows: number[] = []
    for (const first of this.buckets) {
      for (let row = first; row !== noRow; row = this.cells[(row << 1) | 1]!) rows.push(row)
    }
    return rows
  }
}
