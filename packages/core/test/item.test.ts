import assert from 'node:assert/strict'
import process from 'node:process'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { SluiceError } from '../src/errors.ts'
import { decodeItem, encodeItem, keyOfItem } from '../src/keys/item.ts'
import { itemBytesDefault, itemBytesMax } from '../src/limits.ts'
import { nextTurn } from '../src/time/next-turn.ts'
import { refused } from './refused.ts'

interface Order {
  readonly id: number
  readonly note?: string
}

const keyOf = (order: Order): string => `order/${order.id}`

describe('keyOfItem', () => {
  const cases: [unknown, string][] = [
    ['order/42', 'order/42'],
    ['json', 'json'],
    ['jsonx', 'jsonx'],
    ['Json:x', 'Json:x'],
    [' json:x', ' json:x'],
    ['json:', 'json:"json:"'],
    ['json:{"a":1}', 'json:"json:{\\"a\\":1}"'],
    ['json:"json:"', 'json:"json:\\"json:\\""'],
    [{ b: 1, a: [true] }, 'json:{"a":[true],"b":1}'],
    [[1, 'x'], 'json:[1,"x"]'],
    [42, 'json:42'],
    [null, 'json:null'],
    [true, 'json:true'],
    [{}, 'json:{}'],
  ]
  for (const [item, key] of cases) {
    test(key, () => {
      assert.equal(keyOfItem(item), key)
      assert.deepEqual(encodeItem(item), { key, text: undefined })
      assert.deepEqual(decodeItem(key, undefined), item)
    })
  }

  test('a string item keeps to the rules of keys', () => {
    refused('range', 'item', () => keyOfItem(''), /must not be empty/)
    refused('range', 'item', () => keyOfItem('a\0b'), /NUL/)
    refused('range', 'item', () => keyOfItem('\ud800'), /half a surrogate pair/)
    refused('range', 'item', () => keyOfItem('json:\ud800'), /half a surrogate pair/)
    assert.equal(keyOfItem('x'.repeat(512)).length, 512)
    refused('range', 'item', () => keyOfItem('x'.repeat(513)), /at most 512 bytes/)
    assert.equal(keyOfItem('json:\0'), 'json:"json:\\u0000"')
  })

  test('the key of another item may be no longer either', () => {
    assert.equal(keyOfItem(['x'.repeat(503)]).length, 512)
    const message = /makes one of 513 bytes; give the queue a keyOf function/
    refused('range', 'item', () => keyOfItem(['x'.repeat(504)]), message)
    refused('range', 'item', () => keyOfItem(['é'.repeat(252)]), /makes one of 513 bytes/)
  })

  test('a value that is not JSON is refused with its path', () => {
    refused('type', 'item', () => keyOfItem(undefined))
    refused('type', 'item.at', () => keyOfItem({ at: new Date() }))
  })

  test('with keyOf, the key is its return value, and the item is not read', () => {
    assert.equal(keyOfItem({ id: 7 }, keyOf), 'order/7')
    assert.equal(keyOfItem({ id: 7, note: 5n } as unknown as Order, keyOf), 'order/7')
    assert.equal(
      keyOfItem('json:x', (item) => item),
      'json:x',
    )
  })
})

describe('keyOf', () => {
  const encode = (keyOf: (item: unknown) => unknown) => () =>
    encodeItem({ id: 1 }, { keyOf: keyOf as () => string })

  test('must return a key', () => {
    for (const other of [5, undefined, null, {}, Promise.resolve('x')]) {
      refused(
        'type',
        'keyOf(item)',
        encode(() => other),
        /must be a string; got /,
      )
    }
    for (const other of ['', 'a\0', '\ud800', 'x'.repeat(513)]) {
      refused(
        'range',
        'keyOf(item)',
        encode(() => other),
      )
    }
  })

  test('that throws anything is a typed error with the cause', () => {
    for (const cause of [new Error('boom'), undefined, 'text']) {
      const throws = () => {
        throw cause
      }
      const error = refused('type', 'keyOf(item)', encode(throws), /must return a key, but threw/)
      assert.ok('cause' in error)
      assert.equal(error.cause, cause)
      refused('type', 'keyOf(item)', () => keyOfItem({}, throws))
    }
  })

  test('that is async is refused, and its rejection does not end the process', async () => {
    const unhandled: unknown[] = []
    const onUnhandled = (error: unknown): void => void unhandled.push(error)
    process.on('unhandledRejection', onUnhandled)
    refused(
      'type',
      'keyOf(item)',
      encode(() => Promise.reject(new Error('no connection'))),
      /must be a string; got a Promise/,
    )
    await new Promise<void>(nextTurn)
    process.off('unhandledRejection', onUnhandled)
    assert.deepEqual(unhandled, [])
  })

  test('is not called for an item that is refused, and once for another', () => {
    let calls = 0
    const counting = (item: unknown): string => {
      calls += 1
      return String(item)
    }
    refused('type', 'item', () => encodeItem(undefined, { keyOf: counting }))
    refused('range', 'item', () => encodeItem('x'.repeat(itemBytesDefault), { keyOf: counting }))
    assert.equal(calls, 0)
    encodeItem('x', { keyOf: counting })
    assert.equal(calls, 1)
  })
})

describe('encodeItem', () => {
  test('stores the canonical text with a key that does not give the item', () => {
    assert.deepEqual(encodeItem({ note: 'x', id: 7 }, { keyOf }), {
      key: 'order/7',
      text: '{"id":7,"note":"x"}',
    })
    assert.deepEqual(encodeItem('x', { keyOf: () => 'k' }), { key: 'k', text: '"x"' })
    assert.deepEqual(encodeItem(null, { keyOf: () => 'k' }), { key: 'k', text: 'null' })
  })

  test('stores no text with a key that gives the item', () => {
    const itself = (item: unknown): string => String(item)
    assert.deepEqual(encodeItem('x', { keyOf: itself }), { key: 'x', text: undefined })
    const json = (item: unknown): string => `json:${JSON.stringify(item)}`
    assert.deepEqual(encodeItem([1], { keyOf: json }), { key: 'json:[1]', text: undefined })
  })

  test('is not misled by keys that only look like it', () => {
    const cases: [unknown, string, string][] = [
      ['json:x', 'json:x', '"json:x"'],
      ['json:"x"', 'json:"x"', '"json:\\"x\\""'],
      [5, '5', '5'],
      [[1], 'json:[2]', '[1]'],
      ['[1]', 'json:[1]', '"[1]"'],
      [[1], '[1]', '[1]'],
    ]
    for (const [item, key, text] of cases) {
      assert.deepEqual(encodeItem(item, { keyOf: () => key }), { key, text })
      assert.deepEqual(decodeItem(key, text), item)
    }
  })

  test('limits the text, in bytes', () => {
    const options = { keyOf: () => 'k' }
    const fits = (bytes: number): string => 'x'.repeat(bytes - 2)
    assert.ok(encodeItem(fits(itemBytesDefault), options))
    const message = /at most 65536 bytes as JSON; got 65537 bytes/
    refused('range', 'item', () => encodeItem(fits(itemBytesDefault + 1), options), message)
    refused('range', 'item', () => encodeItem('é'.repeat(32_768), options), /got 65538 bytes/)
    const far =
      /at most 65536 bytes as JSON; got more than 1048576 bytes; store large data elsewhere/
    refused('range', 'item', () => encodeItem(fits(2 * itemBytesMax), options), far)
    const most = { ...options, itemBytesMax }
    assert.ok(encodeItem(fits(itemBytesMax), most))
    refused(
      'range',
      'item',
      () => encodeItem(fits(itemBytesMax + 1), most),
      /at most 1048576 bytes/,
    )
  })

  test('a limit lower than that of keys changes nothing for what fits into a key', () => {
    const options = { keyOf: () => 'k', itemBytesMax: 1 }
    assert.ok(encodeItem('x'.repeat(510), options))
    refused('range', 'item', () => encodeItem('x'.repeat(511), options), /at most 512 bytes/)
  })
})

describe('decodeItem', () => {
  test('gives a new value', () => {
    const { key, text } = encodeItem({ id: 1 }, { keyOf })
    assert.notEqual(decodeItem(key, text), decodeItem(key, text))
    assert.notEqual(decodeItem('json:[1]', undefined), decodeItem('json:[1]', undefined))
  })

  test('reads names with escapes as they were written, independent of earlier calls', () => {
    for (const [poison, item] of [
      ['{"h":[],"\\\\":0}', { h: 1, '\n': 2 }],
      ['{"h":[],"\\\\":0}', { h: 1, '"': 2 }],
      ['{"h":[],"\\\\":0}', { h: 1, '\0': 2 }],
      ['{"g":[],"a\\\\":0}', { g: 1, 'a\n': [2, { 'a\t': null }] }],
    ] as const) {
      JSON.parse(poison)
      const key = keyOfItem(item)
      assert.deepStrictEqual(decodeItem(key, undefined), item)
    }
  })

  test('reports a store with another text as damaged', () => {
    for (const [key, text] of [
      ['json:{', undefined],
      ['json:', undefined],
      ['k', ''],
      ['k', '{"a":'],
    ] as const) {
      assert.throws(
        () => decodeItem(key, text),
        (error) => SluiceError.is(error, 'ERR_STORE_DAMAGED') && error.cause instanceof SyntaxError,
      )
    }
  })
})

describe('laws', () => {
  const items = fc
    .oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.string({ maxLength: 40 }),
      fc.string({ maxLength: 40 }).map((text) => `json:${text}`),
    )
    // JSON text knows no -0, and what has no prototype is refused: neither is JSON to begin with.
    .map((item): unknown => JSON.parse(JSON.stringify(item)))

  const encodable = (encode: () => unknown): void => {
    try {
      encode()
    } catch {
      fc.pre(false)
    }
  }

  test('an item comes back equal', () => {
    fc.assert(
      fc.property(items, (item) => {
        encodable(() => encodeItem(item))
        const { key, text } = encodeItem(item)
        assert.equal(text, undefined)
        assert.deepStrictEqual(decodeItem(key, text), item)
      }),
    )
  })

  test('so it does with any keyOf', () => {
    const keys = fc.oneof(
      fc.string({ minLength: 1, maxLength: 40 }),
      fc.constantFrom('json:', 'json:{}', 'json:1', '1', 'null'),
    )
    fc.assert(
      fc.property(items, keys, (item, key) => {
        const encode = () => encodeItem(item, { keyOf: () => key })
        encodable(encode)
        const encoded = encode()
        assert.equal(encoded.key, key)
        assert.deepStrictEqual(decodeItem(key, encoded.text), item)
      }),
    )
  })

  test('two items have the same key only if they are equal', () => {
    fc.assert(
      fc.property(items, items, (a, b) => {
        encodable(() => [keyOfItem(a), keyOfItem(b)])
        if (keyOfItem(a) === keyOfItem(b)) assert.deepStrictEqual(a, b)
        else assert.notDeepStrictEqual(a, b)
      }),
    )
  })
})
