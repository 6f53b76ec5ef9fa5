import assert from 'node:assert/strict'
import { createContext, runInContext } from 'node:vm'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { describeValue, quoted, shortened } from '../src/checks/describe-value.ts'

describe('describeValue', () => {
  const never = (): never => assert.fail('called')
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()

  const cases: [unknown, string][] = [
    ['order/42', "'order/42'"],
    ['', "''"],
    ["it's", "'it\\'s'"],
    ['postgres://app:hu@sh@db/shop', "'postgres://app:***@db/shop'"],
    ['redis://:hush@db', "'redis://:***@db'"],
    ['https://example.com/a@b', "'https://example.com/a@b'"],
    [42, '42'],
    [-0, '-0'],
    [Number.NaN, 'NaN'],
    [-Infinity, '-Infinity'],
    [5n, 'the bigint 5'],
    [true, 'true'],
    [null, 'null'],
    [undefined, 'undefined'],
    [Symbol('secret'), 'a symbol'],
    [() => {}, 'a function'],
    [class Foo {}, 'a function'],
    [[1, 2], 'an array'],
    [{ a: 1 }, 'an object'],
    [Object.create(null), 'an object'],
    [new Date(Number.NaN), 'a Date'],
    [new Map(), 'a Map'],
    [Object('x'), 'a String'],
    [new (class Order {})(), 'an Order'],
    [new (class {})(), 'an object'],
    [Promise.resolve(), 'a Promise'],
    [Buffer.from('x'), 'a Buffer'],
    [new Uint8Array(1), 'a Uint8Array'],
    [new Error('m'), 'an Error'],
    [runInContext('new Date(0)', createContext()), 'a Date'],
    [revoked.proxy, 'an object'],
    [new Proxy({}, { getPrototypeOf: never }), 'an object'],
    [Object.create(Object.defineProperty({}, 'constructor', { get: never })), 'an object'],
    [Object.create({ constructor: 5 }), 'an object'],
    [
      Object.create({ constructor: Object.defineProperty(() => {}, 'name', { get: never }) }),
      'an object',
    ],
    [
      Object.create({ constructor: Object.defineProperty(() => {}, 'name', { value: 5 }) }),
      'an object',
    ],
  ]
  for (const [value, expected] of cases) {
    test(expected, () => assert.equal(describeValue(value), expected))
  }

  test('huge values stay short', () => {
    const long = 'x'.repeat(1_000_000)
    assert.equal(describeValue(long), `'${'x'.repeat(40)}…' (1000000 characters)`)
    assert.ok(describeValue(10n ** 5_000n).length < 60)
    const Class = { [long]: class {} }[long]!
    assert.ok(describeValue(new Class()).length < 60)
  })

  test('never throws', () => {
    fc.assert(
      fc.property(
        fc.anything({ withBigInt: true, withDate: true, withProxy: true } as object),
        (value) => {
          assert.equal(typeof describeValue(value), 'string')
        },
      ),
    )
  })
})

describe('what a terminal or a log would obey is escaped', () => {
  const cases: [string, string][] = [
    ['a\nb\r\tc', 'a\\nb\\r\\tc'],
    ['\0', '\\u0000'],
    ['\u001b[31mred', '\\u001b[31mred'],
    ['\u009b2J\u007f', '\\u009b2J\\u007f'],
    ['abc\u202edef', 'abc\\u202edef'],
    ['a\u200bb\ufeff\u00ad', 'a\\u200bb\\ufeff\\u00ad'],
    ['\u2028\u2029', '\\u2028\\u2029'],
    ['tag \u{e0041}', 'tag \\u{e0041}'],
    ['half \ud800 pair \udc00', 'half \\ud800 pair \\udc00'],
    ['Grüße, 漢字, 😀', 'Grüße, 漢字, 😀'],
  ]
  for (const [text, expected] of cases) {
    test(expected, () => {
      assert.equal(shortened(text), expected)
      assert.equal(quoted(text), `'${expected}'`)
    })
  }

  test('for every string', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (text) => {
        assert.doesNotMatch(shortened(text), /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
      }),
    )
  })
})
