// String.prototype.isWellFormed is in every Node this runs on, but not in the library of es2023.
/// <reference lib="es2024.string" />
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'vitest'
import { canonicalJson } from '../src/keys/canonical-json.ts'
import { parseJson } from '../src/keys/parse-json.ts'

// JSON values of every shape, with names that objects inherit and a __proto__ of their own.

type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

const text = fc.oneof(
  fc.string({ unit: 'binary' }).filter((value) => value.isWellFormed()),
  fc.constantFrom('', '\0', '"', '\\', '\u2028', '\u001f', 'json:', '😀'),
)
const name = fc.oneof(
  text,
  fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', '0', '10'),
)
const number = fc
  .oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer())
  .filter((value) => !Object.is(value, -0))

const { json } = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    text,
    number,
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('json'), { maxLength: 6 }),
    fc
      .array(fc.tuple(name, tie('json')), { maxLength: 6 })
      // Not by assignment, which would set the prototype for a member named __proto__.
      .map((members) => Object.fromEntries(members)),
  ),
}))

/** The same value with the members of every object in another order. */
function shuffled(value: Json, random: () => number): Json {
  if (Array.isArray(value)) return value.map((element) => shuffled(element, random))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
    .map(([member, inner]) => [random(), [member, shuffled(inner, random)]] as const)
    .sort(([a], [b]) => a - b)
  return Object.fromEntries(members.map(([, member]) => member))
}

/** RFC 8785 by the book: slow, and with nothing refused. */
function byTheBook(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(byTheBook).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.keys(value)
    .sort()
    .map((member) => `${JSON.stringify(member)}:${byTheBook(value[member]!)}`)
  return `{${members.join(',')}}`
}

const canonical = (value: unknown): string => canonicalJson(value, 'item')

test('what is written comes back equal, and is written the same again', () => {
  fc.assert(
    fc.property(json, (value) => {
      const written = canonical(value)
      const read: unknown = parseJson(written)
      assert.deepStrictEqual(read, value)
      assert.equal(canonical(read), written)
    }),
    { numRuns: 1_000 },
  )
})

test('the order of members makes no difference', () => {
  fc.assert(
    fc.property(json, fc.infiniteStream(fc.double({ noNaN: true })), (value, numbers) => {
      const other = shuffled(value, () => numbers.next().value)
      assert.equal(canonical(other), canonical(value))
    }),
    { numRuns: 500 },
  )
})

test('different values have different texts', () => {
  fc.assert(
    fc.property(json, json, (a, b) => {
      const isEqual = (() => {
        try {
          assert.deepStrictEqual(a, b)
          return true
        } catch {
          return false
        }
      })()
      assert.equal(canonical(a) === canonical(b), isEqual)
    }),
    { numRuns: 500 },
  )
})

test('it is the text of RFC 8785', () => {
  fc.assert(
    fc.property(json, (value) => {
      assert.equal(canonical(value), byTheBook(value))
    }),
    { numRuns: 1_000 },
  )
})

test('any value at all either comes back equal or is refused with a typed error', () => {
  const anything = fc.anything({
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withObjectString: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
  })
  let accepted = 0
  let refusals = 0
  fc.assert(
    fc.property(anything, (value) => {
      let written: string
      try {
        written = canonical(value)
      } catch (error) {
        refusals += 1
        assert.match((error as Error).name, /^Sluice(Type|Range)Error$/)
        return
      }
      accepted += 1
      assert.deepStrictEqual(parseJson(written), value)
    }),
    { numRuns: 2_000 },
  )
  assert.ok(accepted > 50 && refusals > 50, `${accepted} accepted, ${refusals} refused`)
})
