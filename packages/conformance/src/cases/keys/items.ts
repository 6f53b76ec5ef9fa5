import assert from 'node:assert/strict'
import type { Claim } from '@sluice/core'
import type { Case } from '../../case.ts'

const texts: readonly string[] = [
  '""',
  'null',
  'true',
  '0',
  '-1.5e-7',
  '[]',
  '{}',
  '{"__proto__":{"a":1},"constructor":null}',
  '"\\u0000"',
  '"tab\\tline\\nquote\\"backslash\\\\"',
  '"日本語 — ‏עברית‎ — 🚰"',
  '"\u2028\u2029\ufeff"',
  '"\'; DROP TABLE keys; --"',
  '"$1 ? :x %s %_ \\\\"',
  `"${'x'.repeat(64 * 1024)}"`,
  JSON.stringify(Array.from({ length: 500 }, (_, i) => ({ i, deep: [[i]] }))),
  ' {"spaces" : "kept"} ',
]

const keys: readonly string[] = [
  'a',
  'A',
  'a ',
  ' a',
  'namespace/name',
  'e\u0301',
  '\u00e9',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  "'; DROP TABLE keys; --",
  '%',
  '_',
  '\\',
  '"',
  '$1',
  '?',
  ':x',
  '@x',
  'line\nfeed',
  'return\r',
  '\u001b[31mred',
  '\u202eright to left',
  '\ufeffmark',
  '🚰',
  'json:{"a":1}',
  'x'.repeat(512),
  '🚰'.repeat(128),
]

/** Items and keys of every shape are returned unchanged. */
export const itemCases: readonly Case[] = [
  {
    id: 'item.round-trip',
    title: 'a claim returns the text of an item unchanged, every character of it',
    async run(s) {
      for (const [index, item] of texts.entries()) {
        await s.add(`k${index}`, { item })
        const claim = await s.claimOne(`k${index}`)
        assert.equal(claim.item, item)
        await s.done(claim)
      }
    },
  },
  {
    id: 'item.batch.long',
    title:
      'a claim of many long items returns each key with its own item, and none where there is none',
    async run(s) {
      const items = Array.from({ length: 24 }, (_, at) =>
        at % 5 === 2 ? undefined : JSON.stringify(`${at} "\\\n🚰`.repeat(at % 3 === 0 ? 1 : 4_000)),
      )
      await s.addAll(items.map((item, at) => ({ ...s.ask(`k${at}`), item })))
      // A driver with `batchBytes` may hand out fewer keys at a time.
      const claims: Claim[] = []
      for (let some = 1; some > 0; ) {
        const more = await s.claim({ limit: 100 })
        claims.push(...more.claims)
        some = more.claims.length
      }
      const expected = items.map((item, at) => ({ key: `k${at}`, item }))
      const byPlace = claims.map(({ key, item }) => ({ key, item }))
      byPlace.sort((a, b) => Number(a.key.slice(1)) - Number(b.key.slice(1)))
      assert.deepEqual(byPlace, expected)
    },
  },
  {
    id: 'item.none',
    title: 'a key that was added without an item is claimed without one',
    async run(s) {
      await s.add('a')
      assert.equal((await s.claimOne('a')).item, undefined)
    },
  },
  {
    id: 'item.waiting.last',
    title: 'a waiting key keeps the last item added',
    async run(s) {
      await s.add('a', { item: '1' })
      assert.equal((await s.add('a', { item: '2' })).outcome, 'unchanged')
      assert.equal((await s.claimOne('a')).item, '2')
    },
  },
  {
    id: 'item.delayed.last',
    title: 'a delayed key keeps the last item added, even if nothing else changes',
    async run(s) {
      await s.addAfter('a', 100, { item: '1' })
      assert.equal((await s.addAfter('a', 900, { item: '2' })).outcome, 'unchanged')
      await s.step(100)
      assert.equal((await s.claimOne('a')).item, '2')
    },
  },
  {
    id: 'item.held.last',
    title: 'a held key keeps the last item added for its next run',
    async run(s) {
      await s.add('a', { item: '1' })
      const claim = await s.claimOne('a')
      await s.add('a', { item: '2' })
      await s.add('a', { item: '3' })
      assert.equal(claim.item, '1')
      await s.done(claim)
      assert.equal((await s.claimOne('a')).item, '3')
    },
  },
  {
    id: 'item.none.replaces',
    title: 'an add without an item removes the stored item',
    async run(s) {
      await s.add('a', { item: '1' })
      await s.add('a')
      assert.equal((await s.claimOne('a')).item, undefined)
    },
  },
  {
    id: 'item.returns.retry',
    title: 'a key that is retried keeps its item',
    async run(s) {
      await s.add('a', { item: '{"n":1}' })
      await s.retry(await s.claimOne('a'), 0)
      assert.equal((await s.claimOne('a')).item, '{"n":1}')
    },
  },
  {
    id: 'item.returns.release',
    title: 'a released key keeps its item, or the one added in the meantime',
    async run(s) {
      await s.add('a', { item: '1' })
      await s.release(await s.claimOne('a'))
      const claim = await s.claimOne('a')
      assert.equal(claim.item, '1')
      await s.add('a', { item: '2' })
      await s.release(claim)
      assert.equal((await s.claimOne('a')).item, '2')
    },
  },
  {
    id: 'item.returns.lease-end',
    title: 'a key whose lease expired keeps its item',
    async run(s) {
      await s.add('a', { item: '1' })
      const claim = await s.claimOne('a', { leaseMs: 1_000 })
      await s.step(1_000)
      await s.expire(claim)
      assert.equal((await s.claimOne('a')).item, '1')
    },
  },
  {
    id: 'item.batch.own',
    title: 'the item of one key of a batch does not leak into the next key',
    async run(s) {
      await s.addAll([
        s.ask('a', { item: '1', priority: 3 }),
        s.ask('b'),
        s.ask('c', { item: '3', delayMs: 100 }),
        s.ask('d', { item: '4' }),
      ])
      const { claims } = await s.claim({ limit: 10 })
      const seen = claims.map(({ key, item, priority }) => ({ key, item, priority }))
      assert.deepEqual(
        seen.sort((x, y) => (x.key < y.key ? -1 : 1)),
        [
          { key: 'a', item: '1', priority: 3 },
          { key: 'b', item: undefined, priority: 0 },
          { key: 'd', item: '4', priority: 0 },
        ],
      )
      assert.equal((await s.row('c')).item, '3')
    },
  },
  {
    id: 'key.exact',
    title: 'keys are compared byte by byte, and returned unchanged',
    async run(s) {
      await s.addAll(keys)
      const claimed = await s.claimKeys()
      assert.equal(claimed.length, keys.length, 'each key once')
      assert.deepEqual([...claimed].sort(), [...keys].sort())
      for (const key of keys) assert.equal((await s.row(key)).key, key)
    },
  },
  {
    id: 'item.batch.first-without',
    title: 'a batch that begins with a key without an item stores the items of the others',
    async run(s) {
      await s.addAll(['a', s.ask('b', { item: '2' }), 'c', s.ask('d', { item: '4' })])
      const { claims } = await s.claim({ limit: 4 })
      assert.deepEqual(claims.map(({ key, item }) => [key, item]).sort(), [
        ['a', undefined],
        ['b', '2'],
        ['c', undefined],
        ['d', '4'],
      ])
    },
  },
]
