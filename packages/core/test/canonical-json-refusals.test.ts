import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { canonicalJson } from '../src/keys/canonical-json.ts'
import { refused } from './refused.ts'

// What would not come back equal is refused, with the path to it, and without being touched.

const canonical = (value: unknown): string => canonicalJson(value, 'item')
const never = (): never => assert.fail('called')

function argumentsOf(..._: unknown[]): unknown {
  // biome-ignore lint/complexity/noArguments: the very thing that is refused.
  return arguments
}

/** `value` inside `depth` arrays. */
function nested(depth: number, value: unknown): unknown {
  let result = value
  for (let level = 0; level < depth; level += 1) result = [result]
  return result
}

describe('values', () => {
  const cases: [string, unknown, RegExp][] = [
    ['undefined', undefined, /must be a JSON value; got undefined; use null, or leave/],
    ['function', () => {}, /got a function/],
    ['class', class {}, /got a function/],
    ['symbol', Symbol('x'), /got a symbol/],
    ['bigint', 5n, /got the bigint 5/],
    ['NaN', Number.NaN, /got NaN/],
    ['Infinity', Infinity, /got Infinity/],
    ['-Infinity', -Infinity, /got -Infinity/],
    ['-0', -0, /got -0, which JSON writes as 0/],
    ['Date', new Date(0), /got a Date; use its toISOString\(\) or getTime\(\)/],
    ['Invalid Date', new Date(Number.NaN), /got a Date/],
    ['RegExp', /x/, /got a RegExp/],
    ['Map', new Map([[1, 2]]), /got a Map; use Object\.fromEntries\(\)/],
    ['Set', new Set(), /got a Set; use an array/],
    ['WeakMap', new WeakMap(), /got a WeakMap/],
    ['Promise', Promise.resolve(), /got a Promise/],
    ['Error', new Error('m'), /got an Error/],
    ['URL', new URL('https://example.org'), /got a URL/],
    ['Uint8Array', new Uint8Array(1), /got a Uint8Array/],
    ['Buffer', Buffer.from('x'), /got a Buffer/],
    ['ArrayBuffer', new ArrayBuffer(1), /got an ArrayBuffer/],
    ['boxed string', Object('x'), /got a String/],
    ['boxed number', Object(5), /got a Number/],
    ['boxed boolean', Object(true), /got a Boolean/],
    ['boxed bigint', Object(5n), /got a BigInt/],
    ['boxed symbol', Object(Symbol('x')), /got a Symbol/],
    ['instance of a class', new (class Order {})(), /got an Order/],
    ['arguments', argumentsOf(1), /named by a symbol/],
    ['Math', Math, /named by a symbol/],
    ['JSON', JSON, /named by a symbol/],
    ['an array of a subclass', new (class Keys extends Array<number> {})(), /array of a subclass/],
    ['an array without prototype', Object.setPrototypeOf([], null), /array of a subclass/],
    [
      'an array with the prototype of an object',
      Object.setPrototypeOf([], Object.prototype),
      /array of a subclass/,
    ],
    ['an array that inherits from an array', Object.setPrototypeOf([], [1]), /array of a subclass/],
    ['without prototype', Object.create(null), /without prototype; copy it with/],
    ['with a prototype of its own', Object.create({ a: 1 }), /with a prototype of its own/],
    ['with a prototype that has none', Object.create(Object.create(null)), /prototype of its own/],
  ]
  for (const [name, value, message] of cases) {
    test(name, () => {
      refused('type', 'item', () => canonical(value), message)
      refused('type', 'item.a[1]', () => canonical({ a: [0, value] }), message)
      refused('type', 'item[0].b', () => canonical([{ b: value }]), message)
    })
  }

  test('undefined as a member, which JSON would leave out', () => {
    refused('type', 'item.a', () => canonical({ a: undefined }), /leave the member out/)
  })

  test('half a surrogate pair, in strings and in names', () => {
    for (const text of ['\ud800', 'a\udfff', '\udc00\ud800', '😀\ud83d', `"\n\ud800`]) {
      refused('range', 'item', () => canonical(text), /half a surrogate pair; got '.*\\ud/)
      refused('range', 'item.a', () => canonical({ a: text }))
      assert.throws(() => canonical({ [text]: 1 }), /item\[".*half a surrogate pair/s)
    }
  })
})

describe('members', () => {
  test('accessors are refused and never called', () => {
    const getter = {
      get x() {
        return never()
      },
    }
    const setter = {
      set x(_: unknown) {
        never()
      },
    }
    refused('type', 'item.x', () => canonical(getter), /plain data; got a getter or setter/)
    refused('type', 'item.x', () => canonical(setter), /plain data/)
    const array = Object.defineProperty([1, 2], 1, { get: never, enumerable: true })
    refused('type', 'item[1]', () => canonical(array), /plain data/)
  })

  test('toJSON is refused and never called, hidden or not', () => {
    refused('type', 'item.toJSON', () => canonical({ toJSON: never }), /got a function/)
    const hidden = Object.defineProperty({ a: 1 }, 'toJSON', { value: never })
    refused('type', 'item', () => canonical(hidden), /got an object with a toJSON method/)
    assert.equal(
      canonical({ toJSON: 'a word like any other' }),
      '{"toJSON":"a word like any other"}',
    )
  })

  test('names that are symbols', () => {
    refused('type', 'item', () => canonical({ [Symbol('x')]: 1 }), /named by a symbol/)
    refused('type', 'item.a', () => canonical({ a: Object.assign([], { [Symbol.iterator]: 1 }) }))
    const hidden = Object.defineProperty({}, Symbol.toStringTag, { value: 'Order' })
    refused('type', 'item', () => canonical(hidden), /named by a symbol/)
  })

  test('what is not enumerable is not seen, as by deepStrictEqual', () => {
    const value = Object.defineProperties({ a: 1 } as object, {
      b: { value: never },
      c: { get: never },
    })
    assert.equal(canonical(value), '{"a":1}')
    assert.deepEqual(JSON.parse(canonical(value)), value)
  })

  test('holes, and members that are not elements', () => {
    // biome-ignore lint/suspicious/noSparseArray: the very thing that is refused.
    refused('type', 'item[1]', () => canonical([1, , 3]), /a hole in an array; use null/)
    refused('type', 'item[0]', () => canonical(new Array(5)), /hole/)
    refused('type', 'item', () => canonical(Object.assign([1], { k: 2 })), /got a member named 'k'/)
    refused('type', 'item[1]', () => canonical(Object.assign([1, undefined], { 5: 1 })))
    refused('type', 'item', () => canonical('ab'.match(/a/)), /a member named/)
    const sparse: unknown[] = []
    sparse.length = 2 ** 32 - 1
    assert.throws(() => canonical(sparse), RangeError)
  })
})

describe('nesting', () => {
  test('a hundred deep is fine, one more is not', () => {
    const hundred = nested(99, {})
    assert.deepEqual(JSON.parse(canonical(hundred)), hundred)
    assert.equal(canonical(nested(100, 1)).length, 201)
    const path = `item${'[0]'.repeat(33)}[…${'[0]'.repeat(100).slice(-100)}`
    refused('range', path, () => canonical(nested(101, 1)), /nested deeper than 100/)
    refused('range', path, () => canonical(nested(100, {})), /nested deeper than 100/)
  })

  test('depth does not exhaust the stack, wherever it is', () => {
    const deep = nested(100_000, 1)
    for (const value of [deep, { a: deep }, [1, 'x', deep]]) {
      assert.throws(() => canonical(value), /nested deeper/)
    }
  })

  test('cycles of any length, with the place where they close', () => {
    const self: Record<string, unknown> = { a: 1 }
    self['self'] = self
    refused(
      'type',
      'item.self',
      () => canonical(self),
      /must not be an object or array that contains/,
    )
    const [a, b, c]: [unknown[], unknown[], unknown[]] = [[], [], []]
    a.push(0, b)
    b.push(0, 0, c)
    c.push(a)
    refused('type', 'item[1][2][0]', () => canonical(a), /contains it/)
    refused('type', 'item.x[1][2][0]', () => canonical({ x: a }), /contains it/)
  })

  test('a cycle is named even where the size would be exceeded first', () => {
    const big: Record<string, unknown> = { a: 'x'.repeat(100_000) }
    big['b'] = { c: big }
    refused('type', 'item.b.c', () => canonical(big), /contains it/)
  })

  test('an endless proxy is too deep', () => {
    const endless = (): object => new Proxy({ a: 1 }, { get: () => endless() })
    assert.throws(() => canonical(endless()), /nested deeper/)
  })
})

describe('proxies that misbehave', () => {
  const boom = new Error('boom')
  const fail = () => {
    throw boom
  }
  for (const trap of ['ownKeys', 'get', 'getPrototypeOf', 'getOwnPropertyDescriptor']) {
    test(`a throwing ${trap} becomes the cause`, () => {
      const value = new Proxy({ a: 1 }, { [trap]: fail })
      const error = (() => {
        try {
          return canonical([value])
        } catch (thrown) {
          return thrown
        }
      })()
      assert.ok(error instanceof TypeError)
      assert.match(error.message, /^item\[0\](\.a)? cannot be read/)
      assert.equal(error.cause, boom)
    })
  }

  test('a revoked one cannot be read', () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    refused('type', 'item', () => canonical(proxy), /cannot be read/)
  })
})

describe('paths', () => {
  test('names that are no identifiers are quoted, escaped and shortened', () => {
    const at = (name: string): unknown => ({ a: [{ [name]: undefined }] })
    refused('type', 'item.a[0]["x y"]', () => canonical(at('x y')))
    refused('type', 'item.a[0].$_1', () => canonical(at('$_1')))
    refused('type', 'item.a[0]["1"]', () => canonical(at('1')))
    refused('type', 'item.a[0][""]', () => canonical(at('')))
    refused('type', 'item.a[0]["\\""]', () => canonical(at('"')))
    refused('type', 'item.a[0]["\\u001b[2J"]', () => canonical(at('\u001b[2J')))
    refused('type', `item.a[0]["${'x'.repeat(40)}…"]`, () => canonical(at('x'.repeat(500))))
  })

  test('name nothing of an array or object that came before', () => {
    refused('type', 'item.b', () => canonical({ a: { c: 1 }, b: undefined }))
    refused('type', 'item.b', () => canonical({ a: [1], b: undefined }))
    refused('type', 'item[1]', () => canonical([{ c: { d: 1 } }, undefined]))
  })

  test('start with the name of the parameter', () => {
    refused('type', 'items[3].a', () => canonicalJson({ a: 5n }, 'items[3]'))
  })
})
