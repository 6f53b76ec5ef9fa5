import assert from 'node:assert/strict'
import { createContext, runInContext } from 'node:vm'
import { describe, test } from 'vitest'
import { canonicalJson } from '../src/keys/canonical-json.ts'
import { parseJson } from '../src/keys/parse-json.ts'
import { itemBytesMax } from '../src/limits.ts'
import { refused } from './refused.ts'

const canonical = (value: unknown): string => canonicalJson(value, 'item')

describe('the examples of RFC 8785', () => {
  test('3.2.2, literals, numbers and strings', () => {
    const value = JSON.parse(String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`)
    assert.equal(
      canonical(value),
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        String.raw`"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    )
  })

  test('3.2.3, members sorted by code units, not by code points', () => {
    const value = {
      '\u20ac': 'Euro Sign',
      '\r': 'Carriage Return',
      '\ufb33': 'Hebrew Letter Dalet With Dagesh',
      '1': 'One',
      '\ud83d\ude00': 'Emoji: Grinning Face',
      '\u0080': 'Control',
      '\u00f6': 'Latin Small Letter O With Diaeresis',
    }
    assert.equal(
      canonical(value),
      '{"\\r":"Carriage Return","1":"One","\u0080":"Control",' +
        '"ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign",' +
        '"😀":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    )
  })

  // Appendix B, each number as the bits of a double.
  const numbers: [string, string][] = [
    ['0000000000000000', '0'],
    ['0000000000000001', '5e-324'],
    ['8000000000000001', '-5e-324'],
    ['7fefffffffffffff', '1.7976931348623157e+308'],
    ['ffefffffffffffff', '-1.7976931348623157e+308'],
    ['4340000000000000', '9007199254740992'],
    ['c340000000000000', '-9007199254740992'],
    ['4430000000000000', '295147905179352830000'],
    ['44b52d02c7e14af5', '9.999999999999997e+22'],
    ['44b52d02c7e14af6', '1e+23'],
    ['44b52d02c7e14af7', '1.0000000000000001e+23'],
    ['444b1ae4d6e2ef4e', '999999999999999700000'],
    ['444b1ae4d6e2ef4f', '999999999999999900000'],
    ['444b1ae4d6e2ef50', '1e+21'],
    ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
    ['3eb0c6f7a0b5ed8d', '0.000001'],
    ['41b3de4355555553', '333333333.3333332'],
    ['41b3de4355555554', '333333333.33333325'],
    ['41b3de4355555555', '333333333.3333333'],
    ['41b3de4355555556', '333333333.3333334'],
    ['41b3de4355555557', '333333333.33333343'],
    ['becbf647612f3696', '-0.0000033333333333333333'],
    ['43143ff3c1cb0959', '1424953923781206.2'],
  ]
  for (const [bits, expected] of numbers) {
    test(`number ${expected}`, () => {
      assert.equal(canonical(Buffer.from(bits, 'hex').readDoubleBE()), expected)
    })
  }

  test('the numbers it has no text for are refused', () => {
    for (const bits of ['7fffffffffffffff', '7ff0000000000000', 'fff0000000000000']) {
      const value = Buffer.from(bits, 'hex').readDoubleBE()
      refused('type', 'item', () => canonical(value), /must be a JSON value; got /)
    }
  })
})

describe('the text', () => {
  const cases: [string, unknown, string][] = [
    ['primitives', ['x', 1, true, false, null], '["x",1,true,false,null]'],
    ['empty', [{}, [], ''], '[{},[],""]'],
    [
      'nested members are sorted too',
      { b: { z: 1, a: 2 }, a: [{ y: 1, x: 2 }] },
      '{"a":[{"x":2,"y":1}],"b":{"a":2,"z":1}}',
    ],
    [
      'numbers as names sort as text',
      { 10: 1, 9: 2, 1: 3, '': 4, A: 5, a: 6 },
      '{"":4,"1":3,"10":1,"9":2,"A":5,"a":6}',
    ],
    [
      'accents sort by code units',
      { pêche: 1, péché: 2, peach: 3, sin: 4 },
      '{"peach":3,"péché":2,"pêche":1,"sin":4}',
    ],
    ['nothing is normalized', { a: 'A\u030a', b: '\u00c5' }, '{"a":"A\u030a","b":"\u00c5"}'],
    [
      'short escapes, then lower-case hex',
      '\b\t\n\f\r\u000b\u001f"\\/',
      String.raw`"\b\t\n\f\r\u000b\u001f\"\\/"`,
    ],
    ['NUL is escaped', 'a\0', String.raw`"a\u0000"`],
    [
      'beyond ASCII nothing is escaped',
      '\u007f\u2028\u2029\ufeff😀',
      '"\u007f\u2028\u2029\ufeff😀"',
    ],
    ['names are escaped like strings', { 'a"\n': 1 }, String.raw`{"a\"\n":1}`],
  ]
  for (const [name, value, expected] of cases) {
    test(name, () => {
      assert.equal(canonical(value), expected)
      assert.deepEqual(parseJson(expected), value)
    })
  }

  test('many members are sorted like few', () => {
    const names = Array.from({ length: 200 }, (_, index) => `${(index * 7919) % 200}`)
    const value = Object.fromEntries(names.map((name) => [name, 1]))
    const expected = [...names].sort().map((name) => `"${name}":1`)
    assert.equal(canonical(value), `{${expected.join(',')}}`)
  })

  test('a member named __proto__ comes back as one', () => {
    const value: unknown = JSON.parse('{"__proto__":{"a":1},"constructor":2}')
    const text = canonical(value)
    assert.equal(text, '{"__proto__":{"a":1},"constructor":2}')
    assert.deepEqual(JSON.parse(text), value)
    assert.ok(Object.hasOwn(JSON.parse(text), '__proto__'))
  })

  test('the same object in two places is no cycle', () => {
    const shared = { a: [1] }
    assert.equal(
      canonical([shared, shared, { shared }]),
      '[{"a":[1]},{"a":[1]},{"shared":{"a":[1]}}]',
    )
  })

  test('frozen, sealed and proxied values are as good as others', () => {
    const value = { a: [1, { b: 2 }] }
    const text = '{"a":[1,{"b":2}]}'
    assert.equal(canonical(Object.freeze({ a: Object.freeze([1, { b: 2 }]) })), text)
    assert.equal(canonical(Object.seal(value)), text)
    assert.equal(canonical(new Proxy({ a: new Proxy([1, new Proxy({ b: 2 }, {})], {}) }, {})), text)
  })

  test('a proxy is taken for what it shows, and each member is read once', () => {
    const reads: PropertyKey[] = []
    const value = new Proxy({ b: 1, a: 2 } as Record<string, number>, {
      get(target, name) {
        reads.push(name)
        return target[String(name)]! * 10
      },
    })
    assert.equal(canonical(value), '{"a":20,"b":10}')
    assert.deepEqual(reads, ['a', 'b'])
  })

  test('plain values of another realm are accepted, and only those', () => {
    const realm = createContext()
    const value: unknown = runInContext('({ b: [{}, [1]], a: "x" })', realm)
    assert.notEqual(Object.getPrototypeOf(value), Object.prototype)
    assert.equal(canonical(value), '{"a":"x","b":[{},[1]]}')
    for (const source of ['new Map()', 'new Date(0)', 'new (class Foo {})()', 'Object("x")']) {
      refused('type', 'item', () => canonical(runInContext(source, realm)))
    }
    refused('type', 'item', () => canonical(runInContext('new (class extends Array {})()', realm)))
  })
})

describe('size', () => {
  test('up to the limit, counted in bytes', () => {
    for (const unit of ['x', 'é', '漢', '😀']) {
      const room = itemBytesMax - 2
      const bytes = Buffer.byteLength(unit)
      const text = unit
        .repeat(Math.floor(room / bytes))
        .padEnd(unit.length * Math.floor(room / bytes) + (room % bytes), 'x')
      assert.equal(Buffer.byteLength(canonical(text)), itemBytesMax)
      refused('range', 'item', () => canonical(`${text}x`), /at most 1048576 bytes as JSON; got /)
    }
  })

  test('the limit holds for escapes, for many parts and for the whole', () => {
    const big = 'x'.repeat(600_000)
    refused('range', 'item', () => canonical([big, big]), /got more/)
    refused('range', 'item', () => canonical({ [big]: 1, a: { [big]: 1 } }), /got more/)
    refused('range', 'item', () => canonical('\0'.repeat(200_000)), /got more/)
    refused('range', 'item', () => canonical('é'.repeat(600_000)), /got 1200002 bytes/)
    refused('range', 'item', () => canonical(new Array(1_048_577).fill(0)), /got more/)
    refused('range', 'item', () => canonical(new Array(600_000).fill(0)), /got more/)
  })

  test('a huge string is refused without being written', () => {
    refused('range', 'item', () => canonical('x'.repeat(100_000_000)), /got more/)
  })

  test('a small value that stands for a huge text is given up in time', () => {
    let value: unknown = 'ha'
    for (let level = 0; level < 90; level += 1) value = [value, value]
    refused('range', 'item', () => canonical(value), /got more/)
  })
})
