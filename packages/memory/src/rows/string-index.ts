import { hashOfEnd } from './hash-of-end.ts'
import { noRow as noRowImported } from './row-links.ts'

// A constant of this very module is folded into the code; an imported one is looked up each time.
const noRow = noRowImported

/** Where the index reads the key of a row, and keeps its hash; it keeps no string of its own. */
export interface IndexedRows {
  keyAt(row: number): string
  hashOf(row: number): number
  setHash(row: number, hash: number): void
}

/** How a string becomes 32 bits; see {@link hashOfEnd}. */
export type HashOfEnd = (key: string, units: number) => number

/** Up to this many keys are found by looking at all of them, without a hash. */
const scanMax = 4
const slotsInitial = 64
/**
 * How many code units are hashed, at first and after keys have turned out to share an end.
 * Integers, also for "all": with an infinity among them the loop would count in floats.
 */
const unitsOfLevel = [4, 8, 2 ** 30] as const
/** When this many keys share a hash, more of the keys is hashed. */
const sharedMax = 5
/**
 * When a key lies this many slots from where it belongs, likewise. With three quarters of the slots
 * in use, of a million keys that count up, the farthest is some 1,000 slots away.
 */
const distanceMax = 16_384

/**
 * Finds the row of a key.
 *
 * A few keys are simply looked through, for most queues are nearly empty most of the time. More are
 * in an open-addressed table of pairs (hash, row) that is probed in a line. Growing it moves pairs
 * and touches no string, where a `Map` reads the header of each. Only the end of a key is hashed
 * until too many keys share it. If even the whole keys collide, they were chosen to, and a `Map`
 * takes over, whose hash cannot be predicted.
 */
export class StringIndex {
  size = 0
  private readonly rows: IndexedRows
  private readonly hashOfEnd: HashOfEnd
  private readonly scanned: Int32Array = new Int32Array(scanMax)
  /** False: `scanned` is in use, true: the table is. */
  private isTable = false
  private pairs: Int32Array = new Int32Array(slotsInitial * 2)
  private mask: number = slotsInitial - 1
  private level = 0
  private units: number = unitsOfLevel[0]
  private map: Map<string, number> | undefined
  /** What the last search that found nothing came across. */
  private missedHash = 0
  private missedSlot = 0
  private missedIsCrowded = false

  constructor(rows: IndexedRows, expectedKeys: number, hash: HashOfEnd = hashOfEnd) {
    this.rows = rows
    this.hashOfEnd = hash
    let slots = slotsInitial
    while (expectedKeys > (slots >> 2) * 3) slots *= 2
    if (slots > slotsInitial) this.resize(slots)
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
    if (!this.isTable) {
      if (this.size < scanMax) {
        this.scanned[this.size] = row
        this.size += 1
        return
      }
      this.fillTable()
      this.probe(this.rows.keyAt(row))
    }
    this.size += 1
    if (this.map !== undefined) {
      this.map.set(this.rows.keyAt(row), row)
      return
    }
    if (this.missedIsCrowded) this.escalate(row)
    else this.putPair(this.missedSlot, this.missedHash, row)
    const isFull = this.size > (this.mask >> 2) * 3
    if (isFull && this.map === undefined) this.resize((this.mask + 1) * 2)
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
    else this.removePair(row)
    // Nearly empty again: back to looking through the keys. The table, now empty, is kept.
    if (this.size === 0) this.isTable = false
  }

  private probe(key: string): number {
    const hash = this.hashOfEnd(key, this.units)
    const pairs = this.pairs
    const mask = this.mask
    let slot = hash & mask
    let shared = 0
    for (;;) {
      const row = pairs[slot * 2 + 1]!
      if (row === noRow) break
      if (pairs[slot * 2] === hash) {
        if (this.rows.keyAt(row) === key) return row
        shared += 1
      }
      slot = (slot + 1) & mask
    }
    this.missedHash = hash
    this.missedSlot = slot
    this.missedIsCrowded = shared >= sharedMax - 1 || ((slot - hash) & mask) >= distanceMax
    return noRow
  }

  private putPair(slot: number, hash: number, row: number): void {
    this.pairs[slot * 2] = hash
    this.pairs[slot * 2 + 1] = row
    this.rows.setHash(row, hash)
  }

  /** The first free slot for `hash`. */
  private freeSlot(hash: number): number {
    const pairs = this.pairs
    const mask = this.mask
    let slot = hash & mask
    while (pairs[slot * 2 + 1] !== noRow) slot = (slot + 1) & mask
    return slot
  }

  private fillTable(): void {
    this.isTable = true
    if (this.map !== undefined) {
      for (const row of this.scanned) this.map.set(this.rows.keyAt(row), row)
      return
    }
    for (const row of this.scanned) {
      const hash = this.hashOfEnd(this.rows.keyAt(row), this.units)
      this.putPair(this.freeSlot(hash), hash, row)
    }
  }

  private removePair(row: number): void {
    const pairs = this.pairs
    const mask = this.mask
    let hole = this.rows.hashOf(row) & mask
    while (pairs[hole * 2 + 1] !== row) hole = (hole + 1) & mask
    // Moves back what would no longer be found behind the hole.
    for (let slot = (hole + 1) & mask; pairs[slot * 2 + 1] !== noRow; slot = (slot + 1) & mask) {
      const home = pairs[slot * 2]! & mask
      if (((slot - home) & mask) >= ((slot - hole) & mask)) {
        pairs[hole * 2] = pairs[slot * 2]!
        pairs[hole * 2 + 1] = pairs[slot * 2 + 1]!
        hole = slot
      }
    }
    pairs[hole * 2 + 1] = noRow
  }

  private resize(slots: number): void {
    const old = this.pairs
    this.pairs = new Int32Array(slots * 2)
    this.mask = slots - 1
    for (let at = 0; at < old.length; at += 2) {
      const row = old[at + 1]!
      if (row === noRow) continue
      const hash = old[at]!
      const slot = this.freeSlot(hash)
      this.pairs[slot * 2] = hash
      this.pairs[slot * 2 + 1] = row
    }
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
        this.pairs = new Int32Array(2)
        return
      }
      this.units = units
      this.pairs.fill(0)
    } while (!this.placeAll(rows))
  }

  private allRows(): number[] {
    const rows: number[] = []
    for (let at = 1; at < this.pairs.length; at += 2) {
      if (this.pairs[at] !== noRow) rows.push(this.pairs[at]!)
    }
    return rows
  }

  /** Puts rows into the empty table; false if they crowd. */
  private placeAll(rows: readonly number[]): boolean {
    for (const row of rows) {
      this.probe(this.rows.keyAt(row))
      if (this.missedIsCrowded) return false
      this.putPair(this.missedSlot, this.missedHash, row)
    }
    return true
  }
}
