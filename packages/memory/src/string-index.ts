import { noRow } from './row-links.ts'
import { hashOfEnd } from './string-hash.ts'

/** Where the index reads the keys that it has rows for; it keeps no string of its own. */
export interface KeySource {
  keyAt(row: number): string
}

/** How a string becomes 32 bits; see {@link hashOfEnd}. */
export type HashOfEnd = (key: string, units: number) => number

/** Up to this many keys are found by looking at all of them, without a hash. */
const scanMax = 4
const slotsInitial = 64
/** How many code units are hashed, at first and after keys have turned out to share an end. */
const unitsOfLevel = [4, 8, Infinity] as const
/** When this many keys share a hash, more of the keys is hashed. */
const sharedMax = 5
/**
 * When a key lies this many slots from where it belongs, likewise. With an even hash and three
 * quarters of the slots in use that has a chance of one in 10^11, for a million keys.
 */
const distanceMax = 1_024

/**
 * Finds the row of a key.
 *
 * A few keys are simply looked through, for most queues are nearly empty most of the time. More are
 * in an open-addressed table of pairs (hash, row) that is probed in a line. Growing it moves pairs
 * and touches no string, where a `Map` reads the header of each. Only the end of a key is hashed
 * until that proves too little. If even the whole key does, someone has chosen keys that collide,
 * and a `Map` takes over, whose hash nobody can foresee.
 */
export class StringIndex {
  size = 0
  readonly #keys: KeySource
  readonly #hashOfEnd: HashOfEnd
  readonly #scanned: Int32Array = new Int32Array(scanMax)
  /** False: `#scanned` is in use, true: the table is. */
  #isTable = false
  #pairs: Int32Array = new Int32Array(slotsInitial * 2)
  #mask: number = slotsInitial - 1
  #level = 0
  #units: number = unitsOfLevel[0]
  /** The hash of each row in the table. */
  #hashes: Int32Array = new Int32Array(slotsInitial)
  #map: Map<string, number> | undefined
  /** What the last search that found nothing came across. */
  #missedHash = 0
  #missedSlot = 0
  #missedIsCrowded = false

  constructor(keys: KeySource, expectedKeys: number, hash: HashOfEnd = hashOfEnd) {
    this.#keys = keys
    this.#hashOfEnd = hash
    let slots = slotsInitial
    while (expectedKeys > (slots >> 2) * 3) slots *= 2
    if (slots > slotsInitial) this.#resize(slots)
  }

  /** How keys are found at present: for tests. */
  get method(): 'scan' | 'table' | 'map' {
    if (this.#map !== undefined) return 'map'
    return this.#isTable ? 'table' : 'scan'
  }

  /** The row of `key`, or `noRow`. */
  find(key: string): number {
    if (!this.#isTable) {
      const scanned = this.#scanned
      const { size } = this
      for (let at = 0; at < size; at += 1) {
        const row = scanned[at]!
        if (this.#keys.keyAt(row) === key) return row
      }
      return noRow
    }
    if (this.#map !== undefined) return this.#map.get(key) ?? noRow
    return this.#probe(key)
  }

  /** Adds the key of `row`, which the last {@link find} did not find. */
  addMissed(row: number): void {
    if (!this.#isTable) {
      if (this.size < scanMax) {
        this.#scanned[this.size] = row
        this.size += 1
        return
      }
      this.#fillTable()
      this.#probe(this.#keys.keyAt(row))
    }
    this.size += 1
    if (this.#map !== undefined) {
      this.#map.set(this.#keys.keyAt(row), row)
      return
    }
    if (this.#missedIsCrowded) this.#escalate(row)
    else this.#place(this.#missedSlot, this.#missedHash, row)
    const isFull = this.size > (this.#mask >> 2) * 3
    if (isFull && this.#map === undefined) this.#resize((this.#mask + 1) * 2)
  }

  /** Removes a row that is in the index; its key must still be there to be read. */
  remove(row: number): void {
    this.size -= 1
    if (!this.#isTable) {
      const at = this.#scanned.indexOf(row)
      this.#scanned[at] = this.#scanned[this.size]!
      this.#scanned[this.size] = noRow
      return
    }
    if (this.#map !== undefined) this.#map.delete(this.#keys.keyAt(row))
    else this.#removePair(row)
    // Nearly empty again: back to looking through the keys. The table, now empty, is kept.
    if (this.size === 0) this.#isTable = false
  }

  #probe(key: string): number {
    const hash = this.#hashOfEnd(key, this.#units)
    const pairs = this.#pairs
    const mask = this.#mask
    let slot = hash & mask
    let shared = 0
    for (;;) {
      const row = pairs[slot * 2 + 1]!
      if (row === noRow) break
      if (pairs[slot * 2] === hash) {
        if (this.#keys.keyAt(row) === key) return row
        shared += 1
      }
      slot = (slot + 1) & mask
    }
    this.#missedHash = hash
    this.#missedSlot = slot
    this.#missedIsCrowded = shared >= sharedMax - 1 || ((slot - hash) & mask) >= distanceMax
    return noRow
  }

  #place(slot: number, hash: number, row: number): void {
    this.#pairs[slot * 2] = hash
    this.#pairs[slot * 2 + 1] = row
    if (row >= this.#hashes.length) this.#widenHashes(row)
    this.#hashes[row] = hash
  }

  #widenHashes(row: number): void {
    let length = this.#hashes.length
    while (length <= row) length *= 2
    const hashes = new Int32Array(length)
    hashes.set(this.#hashes)
    this.#hashes = hashes
  }

  /** The first free slot for `hash`. */
  #freeSlot(hash: number): number {
    const pairs = this.#pairs
    const mask = this.#mask
    let slot = hash & mask
    while (pairs[slot * 2 + 1] !== noRow) slot = (slot + 1) & mask
    return slot
  }

  #fillTable(): void {
    this.#isTable = true
    if (this.#map !== undefined) {
      for (const row of this.#scanned) this.#map.set(this.#keys.keyAt(row), row)
      return
    }
    for (const row of this.#scanned) {
      const hash = this.#hashOfEnd(this.#keys.keyAt(row), this.#units)
      this.#place(this.#freeSlot(hash), hash, row)
    }
  }

  #removePair(row: number): void {
    const pairs = this.#pairs
    const mask = this.#mask
    let hole = this.#hashes[row]! & mask
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

  #resize(slots: number): void {
    const old = this.#pairs
    this.#pairs = new Int32Array(slots * 2)
    this.#mask = slots - 1
    for (let at = 0; at < old.length; at += 2) {
      const row = old[at + 1]!
      if (row === noRow) continue
      const hash = old[at]!
      const slot = this.#freeSlot(hash)
      this.#pairs[slot * 2] = hash
      this.#pairs[slot * 2 + 1] = row
    }
  }

  /** Hashes more of every key, that of `added` too, until they no longer crowd; for good. */
  #escalate(added: number): void {
    const rows = this.#rows()
    rows.push(added)
    do {
      this.#level += 1
      const units = unitsOfLevel[this.#level]
      if (units === undefined) {
        this.#map = new Map(rows.map((row) => [this.#keys.keyAt(row), row]))
        this.#pairs = new Int32Array(2)
        this.#hashes = new Int32Array(1)
        return
      }
      this.#units = units
      this.#pairs.fill(0)
    } while (!this.#placeAll(rows))
  }

  #rows(): number[] {
    const rows: number[] = []
    for (let at = 1; at < this.#pairs.length; at += 2) {
      if (this.#pairs[at] !== noRow) rows.push(this.#pairs[at]!)
    }
    return rows
  }

  /** Puts rows into the empty table; false if they crowd. */
  #placeAll(rows: readonly number[]): boolean {
    for (const row of rows) {
      this.#probe(this.#keys.keyAt(row))
      if (this.#missedIsCrowded) return false
      this.#place(this.#missedSlot, this.#missedHash, row)
    }
    return true
  }
}
