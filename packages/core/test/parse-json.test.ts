import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { alteredNumber, parseJson } from '../src/keys/parse-json.ts'

// Texts are put together from parts whose values are known, so that nothing here depends on the
// parser of the runtime, whose mistakes with escaped names are the reason for this one.

const escapes: [string, string][] = [
  ['\\n', '\n'],
  ['\\"', '"'],
  ['\\\\', '\\'],
  ['\\/', '/'],
  ['\\u0000', '\0'],
  ['\\u00e9', 'é'],
  ['\\ud83d\\ude00', '😀'],
  ['\\t\\r\\b\\f', '\t\r\b\f'],
  ['a:b', 'a:b'],
  ['{"'.replace('"', '\\"'), '{"'],
  [',]', ',]'],
  ['\u2028', '\u2028'],
  ['__proto__', '__proto__'],
  ['plain', 'plain'],
  ['', ''],
]

describe('parseJson', () => {
  for (const [written, read] of escapes) {
    test(`reads "${written}" as a value, as a name and as both`, () => {
      const member = Object.fromEntries([[read, 1]])
      assert.equal(parseJson(`"${written}"`), read)
      assert.deepStrictEqual(parseJson(`{"${written}":1}`), member)
      assert.deepStrictEqual(parseJson(`[{"${written}" : 1}, "${written}"]`), [member, read])
      const both = Object.fromEntries([
        ['\n', [read]],
        [`x${read}`, { a: [] }],
      ])
      const text = ` { "\\n" :\t["${written}"],\n"x${written}":{"a":[ ]}} `
      assert.deepStrictEqual(parseJson(text), both)
    })
  }

  test('reads every kind of value next to an escaped name', () => {
    const text = '{"\\n":[0,-1.5e-7,1E3,true,false,null,"",[],{},[[{"":{}}]]]}'
    const values = [0, -1.5e-7, 1000, true, false, null, '', [], {}, [[{ '': {} }]]]
    assert.deepStrictEqual(parseJson(text), { '\n': values })
  })

  test('the last of two members of one name wins', () => {
    assert.deepStrictEqual(parseJson('{"\\n":1,"a":2,"\\u000a":3}'), { '\n': 3, a: 2 })
  })

  test('refuses what is not JSON', () => {
    for (const text of ['', '{', '{"\\n":}', '{"\\n":1,}', "{'\\n':1}", '"\\x"', '[1', '1 2']) {
      assert.throws(() => parseJson(text), SyntaxError)
    }
  })

  test('is not misled by names that were parsed before', () => {
    const units = fc.constantFrom('a', '\\', '"', '\n', '\0', 'é', '\u2028')
    const names = fc.string({ unit: units, maxLength: 3 })
    const objects = fc
      .uniqueArray(names, { maxLength: 4 })
      .map((list) => Object.fromEntries(list.map((name) => [name, 0])))
    fc.assert(
      fc.property(fc.array(objects, { maxLength: 8 }), (values) => {
        for (const value of values) {
          const members = Object.keys(value).map((name) => `${JSON.stringify(name)}:0`)
          assert.deepStrictEqual(parseJson(`{${members.join(',')}}`), value)
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('alteredNumber', () => {
  test('finds the first whole number that is read as another one', () => {
    assert.equal(alteredNumber('9007199254740993'), '9007199254740993')
    assert.equal(alteredNumber('{"a":[1, -9007199254740993 ]}'), '-9007199254740993')
    assert.equal(alteredNumber('[12345678901234567891,9007199254740993]'), '12345678901234567891')
    assert.equal(alteredNumber('[1000000000000000000001]'), '1000000000000000000001')
  })

  test('finds none in strings, in fractions, and among numbers that are read as they are', () => {
    const kept = [
      '"9007199254740993"',
      '{"9007199254740993":1}',
      '"\\"9007199254740993"',
      '[-0,0,42,9007199254740991,9007199254740992]',
      '[1.9007199254740993,9007199254740993.5,9007199254740993e1,1e9007199254740993,1E-9007199254740993]',
      '1000000000000000000000',
      // The digits of a double, and those by which it is written.
      '[1541815603606036480,1541815603606036500]',
      '9'.repeat(400),
    ]
    for (const text of kept) assert.equal(alteredNumber(text), undefined, text)
  })

  test('agrees with the parser of the runtime about every whole number', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (whole) => {
        const text = String(whole)
        const read: unknown = JSON.parse(text)
        const isKept = BigInt(read as number) === whole || String(read) === text
        assert.equal(alteredNumber(`[${text}]`), isKept ? undefined : text)
      }),
    )
  })
})
