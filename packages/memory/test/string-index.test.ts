import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hashOfEnd } from '../src/rows/hash-of-end.ts'
import { type HashOfEnd, type IndexedRows, StringIndex } from '../src/rows/string-index.ts'

/** Rows with nothing but a key. */
class Rows implements IndexedRows {
  readonly keys: string[] = ['']
  readonly #free: number[] = []

  take(key: string): number {
    const row = this.#free.pop() ?? this.keys.length
    this.keys[row] = key
    return row
  }

  free(row: number): void {
    this.keys[row] = ''
    this.#free.push(row)
  }

  keyAt(row: number): string {
    return this.keys[row]!
  }
}

/** An index, its rows, and what it should say. */
class Pair {
  readonly rows = new Rows()
  readonly index: StringIndex
  readonly expected = new Map<string, number>()

  constructor(hash: HashOfEnd = hashOfEnd, expectedKeys = 0) {
    this.index = new StringIndex(this.rows, expectedKeys, hash)
  }

  add(key: string): void {
    if (this.#find(key) !== 0) return
    const row = this.rows.take(key)
    this.index.addMissed(row)
    this.expected.set(key, row)
  }

  remove(key: string): void {
    const found = this.#find(key)
    if (found === 0) return
    this.index.remove(found)
    this.rows.free(found)
    this.expected.delete(key)
  }

  check(): void {
    expect(this.index.size).toBe(this.expected.size)
    const wrong = [...this.expected].filter(([key, row]) => this.index.find(key) !== row)
    expect(wrong).toEqual([])
  }

  #find(key: string): number {
    const row = this.index.find(key)
    const expected = this.expected.get(key) ?? 0
    // An `expect` at each of a million steps took 40 s of processor time.
    if (row !== expected) expect({ key, row }).toEqual({ key, row: expected })
    return row
  }
}

const count = (length: number): number[] => Array.from({ length }, (_, at) => at)

test('looks through up to four keys, hashes more, and goes back when it is empty', () => {
  const pair = new Pair()
  for (const key of ['a', 'b', 'c', 'd']) pair.add(key)
  expect(pair.index.method).toBe('scan')
  pair.check()
  pair.add('e')
  expect(pair.index.method).toBe('table')
  pair.check()
  for (const key of ['b', 'a', 'e', 'd', 'c']) pair.remove(key)
  expect(pair.index.method).toBe('scan')
  pair.check()
})

test('finds keys that share a long end', () => {
  const pair = new Pair()
  for (const at of count(5_000)) pair.add(`${at}/namespace/with/a/long/name`)
  pair.check()
  expect(pair.index.method).toBe('table')
})

test('finds keys that share a long beginning', () => {
  const pair = new Pair()
  for (const at of count(20_000)) pair.add(`namespace/with/a/long/name/${at}`)
  pair.check()
  expect(pair.index.method).toBe('table')
})

test('distinguishes keys that differ only in their length', () => {
  const pair = new Pair()
  for (const at of count(600)) pair.add('x'.repeat(at + 1))
  pair.check()
})

test('falls back to a map when keys collide that were chosen to', () => {
  const pair = new Pair(() => 7)
  for (const at of count(4_000)) pair.add(`key-${at}`)
  expect(pair.index.method).toBe('map')
  pair.check()
  for (const at of count(4_000)) if (at % 3 > 0) pair.remove(`key-${at}`)
  pair.check()
})

test('falls back to a map when keys crowd a bucket without sharing a hash', () => {
  // All belong to one bucket of any table, and no two have the same hash.
  const hashes = new Map<string, number>()
  const crowding: HashOfEnd = (key) => {
    const known = hashes.get(key) ?? Math.imul(hashes.size, 2 ** 18)
    hashes.set(key, known)
    return known
  }
  const pair = new Pair(crowding)
  for (const at of count(63)) pair.add(`key-${at}`)
  expect(pair.index.method).toBe('table')
  pair.add('one too many')
  pair.add('and one more')
  expect(pair.index.method).toBe('map')
  expect(pair.index.find('key-0')).toBe(pair.expected.get('key-0'))
  expect(pair.index.find('and one more')).toBe(pair.expected.get('and one more'))
  expect(pair.index.find('nobody')).toBe(0)
})

test('stays with the map once it has come to that, also after it was empty', () => {
  const pair = new Pair(() => 7)
  for (const at of count(50)) pair.add(`key-${at}`)
  for (const at of count(50)) pair.remove(`key-${at}`)
  expect(pair.index.size).toBe(0)
  for (const at of count(50)) pair.add(`other-${at}`)
  expect(pair.index.method).toBe('map')
  pair.check()
})

test('works with room that was made in advance', () => {
  const pair = new Pair(hashOfEnd, 100_000)
  for (const at of count(1_000)) pair.add(`key-${at}`)
  pair.check()
})

test('a million keys that count up stay in the table', () => {
  const rows = new Rows()
  const index = new StringIndex(rows, 0)
  for (const at of count(1_000_000)) {
    const key = `namespace/object-${at}`
    index.find(key)
    index.addMissed(rows.take(key))
  }
  expect(index.method).toBe('table')
  expect(index.find('namespace/object-777777')).toBe(777_778)
})

const anyHash = fc.constantFrom<HashOfEnd>(
  hashOfEnd,
  // Bad ones: few values, all in neighbouring buckets, only the first unit.
  (key) => key.length % 3,
  (key, units) => (units > 8 ? hashOfEnd(key, units) : key.charCodeAt(0)),
)

const anyKey = fc.oneof(
  fc.nat(60).map((at) => `object-${at}`),
  fc.nat(60).map((at) => `${at}-object`),
  fc.string({ unit: 'binary', minLength: 1, maxLength: 3 }),
  fc.constantFrom('__proto__', 'constructor', 'é', 'e\u0301', '\u{1f600}'),
)

test('finds what a Map finds, after any adds and removals', () => {
  fc.assert(
    fc.property(
      anyHash,
      fc.array(fc.tuple(fc.integer({ min: 0, max: 4 }), anyKey), { maxLength: 400, size: 'max' }),
      (hash, steps) => {
        const pair = new Pair(hash)
        for (const [dice, key] of steps) {
          if (dice < 3) pair.add(key)
          else pair.remove(key)
        }
        pair.check()
      },
    ),
    { numRuns: 300 },
  )
})
