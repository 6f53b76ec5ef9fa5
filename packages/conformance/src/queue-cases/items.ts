import assert from 'node:assert/strict'
import { SluiceError } from '@sluice/core'
import type { QueueCase } from './queue-case.ts'

const items: readonly unknown[] = [
  'plain',
  'json:"looks like one of ours"',
  '日本語 🚰',
  0,
  -1.5,
  true,
  false,
  null,
  [],
  {},
  [1, [2, [3]]],
  { b: 1, a: { d: [null], c: 'x' } },
  { toString: 'own', constructor: 1 },
]

/** Values that are not valid items, by the kind of error. */
const badItems: readonly (readonly [string, unknown])[] = [
  ['an empty string', ''],
  ['undefined', undefined],
  ['a function', () => {}],
  ['a symbol', Symbol('a')],
  ['a bigint', 5n],
  ['NaN', Number.NaN],
  ['infinity', Infinity],
  ['minus zero', -0],
  ['a regular expression', /x/],
  ['a map', new Map()],
  ['undefined in an object', { a: undefined }],
  ['undefined in an array', [undefined]],
  ['a lone surrogate', 'a\ud800b'],
  ['a key of 513 bytes', 'x'.repeat(513)],
  ['a NUL', 'a\u0000b'],
]

/** Items: what is returned, and what is rejected. */
export const queueItemCases: readonly QueueCase[] = [
  {
    id: 'q-item.round-trip',
    title: 'every JSON value is an item, and is returned equal',
    async run(s) {
      const queue = s.queue<unknown>()
      for (const item of items) {
        assert.equal(await queue.add(item), 'added')
        const held = await s.take(queue)
        assert.deepEqual(held.item, item)
        await held.done()
      }
    },
  },
  {
    id: 'q-item.key.canonical',
    title: 'objects that differ only in the order of their members have one key',
    async run(s) {
      const queue = s.queue<unknown>()
      await queue.add({ a: 1, b: { c: 2, d: 3 } })
      assert.equal(await queue.add({ b: { d: 3, c: 2 }, a: 1 }), 'unchanged')
      assert.equal((await s.take(queue)).key, 'json:{"a":1,"b":{"c":2,"d":3}}')
    },
  },
  {
    id: 'q-item.key.apart',
    title: 'a string and the value that its text looks like are two keys',
    async run(s) {
      const queue = s.queue<unknown>()
      for (const item of [1, '1', 'json:1', true, 'true', null, 'null', {}, '{}', 'json:{}']) {
        assert.equal(await queue.add(item), 'added')
      }
      assert.equal(await queue.len(), 10)
    },
  },
  {
    id: 'q-item.key-of',
    title: 'with keyOf, the last item added for a key is handed out',
    async run(s) {
      const queue = s.queue<{ id: string; n: number }>({
        keyOf: (item) => (item as { id: string }).id,
      })
      await queue.add({ id: 'a', n: 1 })
      assert.equal(await queue.add({ id: 'a', n: 2 }), 'unchanged')
      const held = await s.take(queue)
      assert.equal(held.key, 'a')
      assert.deepEqual(held.item, { id: 'a', n: 2 })
      await queue.add({ id: 'a', n: 3 })
      await held.done()
      assert.deepEqual((await s.take(queue)).item, { id: 'a', n: 3 })
    },
  },
  {
    id: 'q-item.fresh',
    title: 'items are never shared: each one handed out is a fresh value',
    async run(s) {
      const queue = s.queue<{ id: string; list: number[] }>({
        keyOf: (item) => (item as { id: string }).id,
      })
      const mine = { id: 'a', list: [1] }
      await queue.add(mine)
      mine.list.push(2)
      const held = await s.take(queue)
      assert.deepEqual(held.item, { id: 'a', list: [1] })
      held.item.list.push(3)
      await held.release()
      assert.deepEqual((await s.take(queue)).item, { id: 'a', list: [1] })
    },
  },
  {
    id: 'q-item.refused',
    title:
      'values that JSON cannot round-trip are rejected; the error names the parameter, and nothing changes',
    async run(s) {
      const queue = s.limited<unknown>()
      for (const [what, item] of badItems) {
        const verbs = [
          () => queue.add(item),
          () => queue.addMany(['fine', item]),
          () => queue.addAfter(item, 5),
          () => queue.addRateLimited(item),
          () => queue.done(item as never),
          () => queue.cancel(item),
        ]
        for (const verb of verbs) {
          const error: unknown = await verb().then(
            (answer) => assert.fail(`${what} is taken: ${String(answer)}`),
            (reason: unknown) => reason,
          )
          assert.ok(SluiceError.is(error, 'ERR_INVALID_INPUT'), `${what}: ${String(error)}`)
          assert.ok(error instanceof TypeError || error instanceof RangeError, what)
          assert.ok('parameter' in error, what)
        }
      }
      assert.equal(await queue.len(), 0)
      await queue.add('a')
      assert.equal((await s.take(queue)).item, 'a')
    },
  },
  {
    id: 'q-item.limits',
    title: 'keys of 512 bytes and items of 64 kB are the longest that are accepted',
    async run(s) {
      const queue = s.queue<unknown>({ keyOf: () => 'a' })
      assert.equal(await queue.add('x'.repeat(65_534)), 'added')
      await s.refused(queue.add('x'.repeat(65_535)), 'ERR_INVALID_INPUT')
      assert.equal((await s.take(queue)).item, 'x'.repeat(65_534))
      const keyed = s.queue({ name: 'keyed' })
      for (const key of ['x'.repeat(512), '🚰'.repeat(128)]) {
        assert.equal(await keyed.add(key), 'added')
        assert.equal((await s.take(keyed)).key, key)
      }
      await s.refused(keyed.add('🚰'.repeat(129)), 'ERR_INVALID_INPUT')
    },
  },
  {
    id: 'q-item.arguments',
    title: 'delays, priorities and numbers beyond their limits are rejected and change nothing',
    async run(s) {
      const queue = s.delaying()
      const tenYears = 10 * 365.25 * 86_400_000
      for (const ms of [Number.NaN, Infinity, -Infinity, tenYears + 1, '5', 5n, undefined, null]) {
        await s.refused(queue.addAfter('a', ms as number), 'ERR_INVALID_INPUT')
      }
      for (const priority of [Number.NaN, 0.5, 1_001, -1_001, '1']) {
        await s.refused(queue.add('a', { priority: priority as number }), 'ERR_INVALID_INPUT')
      }
      for (const n of [0, -1, 0.5, Number.NaN, 1_001]) {
        await s.refused(queue.getMany(n), 'ERR_INVALID_INPUT')
      }
      assert.equal(await queue.len(), 0)
      assert.equal(await queue.addAfter('a', tenYears), 'added')
      assert.equal(await queue.add('a', { priority: 1_000 }), 'added')
    },
  },
]
