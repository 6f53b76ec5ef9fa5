import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, test } from 'vitest'
import { bookNamePrefix, checkKey, checkQueueName } from '../src/keys/key.ts'
import { refused } from './refused.ts'

const odd = [
  ' ',
  ' trailing ',
  '\n\r\t',
  '\u001b[31m',
  '\u0001',
  '\u007f',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  "'; DROP TABLE keys; --",
  '%_\\"$1?:x{}',
  'json:{"a":1}',
  '\ufeffbom',
  'right\u202eleft',
  'zero\u200bwidth',
  'caf\u00e9',
  'cafe\u0301',
  'Key',
  '漢字',
  '😀',
  '\u{10ffff}',
  '\uffff',
]

/** Each limit, with what is exactly as long and what is one byte too long. */
const edges = (bytesMax: number): [string, string][] => [
  ['x'.repeat(bytesMax), 'x'.repeat(bytesMax + 1)],
  ['é'.repeat(bytesMax / 2), `x${'é'.repeat(bytesMax / 2)}`],
  [`${'漢'.repeat(Math.floor(bytesMax / 3))}xx`, `${'漢'.repeat(Math.floor(bytesMax / 3))}xxx`],
  ['😀'.repeat(bytesMax / 4), `${'x'.repeat(bytesMax - 3)}😀`],
]

const checks = [
  ['checkKey', checkKey, 512],
  ['checkQueueName', checkQueueName, 128],
] as const

for (const [name, check, bytesMax] of checks) {
  describe(name, () => {
    test('anything well-formed passes and comes back untouched', () => {
      for (const text of ['a', 'order/42', ...odd]) assert.equal(check('name', text), text)
    })

    test('length is counted in bytes of UTF-8', () => {
      for (const [longest, tooLong] of edges(bytesMax)) {
        assert.equal(check('name', longest), longest)
        const message = new RegExp(`at most ${bytesMax} bytes of UTF-8; got ${bytesMax + 1} bytes`)
        refused('range', 'name', () => check('name', tooLong), message)
      }
    })

    test('huge texts are refused with a short message', () => {
      for (const length of [1_000_000, 100_000_000]) {
        const error = refused('range', 'name', () => check('name', 'x'.repeat(length)))
        assert.ok(error.message.length < 250)
      }
    })

    test('NUL is refused anywhere', () => {
      for (const text of ['\0', 'a\0', '\0a', 'a\0b', `é\0${'x'.repeat(bytesMax - 10)}`]) {
        refused('range', 'name', () => check('name', text), /NUL character; got '.*\\u0000/)
      }
    })

    test('half a surrogate pair is refused anywhere', () => {
      const long = 'x'.repeat(bytesMax - 10)
      for (const text of ['\ud800', 'a\udfff', '\udc00\ud800', '😀\ud83d', `\ud800${long}`]) {
        refused('range', 'name', () => check('name', text), /half a surrogate pair; got '.*\\ud/)
      }
    })

    test('what is no string is the wrong type', () => {
      const others = [5, 5n, null, undefined, Symbol('x'), {}, [], Object('x'), Buffer.from('x')]
      for (const value of [...others, new Date(), () => 'x', Promise.resolve('x')]) {
        refused('type', 'name', () => check('name', value), /must be a string; got /)
      }
    })
  })
}

test('a key is not empty; a queue name only where that is allowed', () => {
  refused('range', 'key', () => checkKey('key', ''), /must not be empty/)
  refused('range', 'name', () => checkQueueName('name', ''), /must not be empty/)
  refused('range', 'name', () => checkQueueName('name', '', {}), /must not be empty/)
  assert.equal(checkQueueName('name', '', { empty: true }), '')
  refused('type', 'name', () => checkQueueName('name', undefined, { empty: true }))
})

test('a queue has no name of those that exporters of metrics register under', () => {
  const reserved =
    /must not begin with 'sluice:metrics:', which is reserved; got 'sluice:metrics:x'/
  refused('range', 'name', () => checkQueueName('name', `${bookNamePrefix}x`), reserved)
  assert.equal(checkQueueName('name', 'sluice:metric'), 'sluice:metric')
})

test('the fast path and the slow one agree with the rules', () => {
  const units = fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)) })
  const texts = fc.oneof(units, fc.string({ unit: 'grapheme', maxLength: 300 }))
  fc.assert(
    fc.property(texts, fc.constantFrom('', 'x'.repeat(100), 'x'.repeat(400)), (text, filler) => {
      const key = text + filler
      const isAllowed =
        key !== '' &&
        Buffer.byteLength(key) <= 512 &&
        !key.includes('\0') &&
        Buffer.from(key).toString() === key
      if (isAllowed) assert.equal(checkKey('key', key), key)
      else refused('range', 'key', () => checkKey('key', key))
    }),
    { numRuns: 1_000 },
  )
})
