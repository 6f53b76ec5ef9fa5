import assert from 'node:assert/strict'
import type { Case } from '../../case.ts'

const similar: readonly string[] = [
  'q',
  'Q',
  'q ',
  ' q',
  'qq',
  'q%',
  'q_',
  'q/',
  'q:',
  'q\\',
  "q'",
  'q"',
  '%',
  '_',
  '__proto__',
  'q\u0301',
  '🚰',
  'x'.repeat(128),
  `${'x'.repeat(127)}y`,
]

/** Queues share nothing. */
export const queueCases: readonly Case[] = [
  {
    id: 'queues.apart',
    title: 'the same key in two queues is two keys',
    async run(s) {
      const other = s.on('other')
      await s.add('a', { item: '1' })
      await other.add('a', { item: '2', priority: 3 })
      const claim = await s.claimOne('a')
      assert.equal(claim.item, '1')
      await s.add('a')
      await s.done(claim)
      const theirs = await other.claimOne('a')
      assert.equal(theirs.item, '2')
      await other.retry(theirs, 1_000)
      assert.equal(await s.state('a'), 'ready')
      assert.equal((await s.row('a')).failures, 0)
      assert.equal(await other.state('a'), 'backoff')
    },
  },
  {
    id: 'queues.similar-names',
    title: 'queues with similar names do not see each other',
    async run(s) {
      for (const name of similar) await s.on(name).add(`of ${name.slice(0, 8)}`)
      for (const name of similar) {
        const queue = s.on(name)
        assert.deepEqual(await queue.states(), { ready: 1 }, name)
        assert.deepEqual(await queue.claimKeys(), [`of ${name.slice(0, 8)}`])
      }
    },
  },
  {
    id: 'queues.verbs',
    title: 'no verb affects another queue',
    async run(s) {
      const other = s.on('other')
      await s.addAfter('a', 100, { failed: true })
      assert.equal(await other.cancel('a'), 'unchanged')
      assert.equal(await other.forget('a'), 'unchanged')
      assert.equal((await other.tick()).nextAt, Infinity)
      assert.deepEqual((await other.list()).rows, [])
      assert.deepEqual(await other.states(), {})
      const row = await s.row('a')
      assert.equal(row.failures, 1)
      assert.equal(row.state, 'backoff')
    },
  },
  {
    id: 'queues.lease-ends',
    title: 'a queue reports the expired leases of its own keys only',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a', { leaseMs: 1_000 })
      await s.step(1_000)
      const other = s.on('other')
      assert.deepEqual((await other.claim()).leaseEnds, [])
      assert.deepEqual((await other.tick()).leaseEnds, [])
      assert.equal(await other.expire(claim), 'lost')
      assert.equal(await s.expire(claim), 'expired')
    },
  },
  {
    id: 'queues.listed',
    title: 'only queues that have keys or are paused are listed',
    needs: { queues: true, operate: true },
    async run(s) {
      await s.on('with key').add('a')
      await s.on('with delay').addAfter('a', 100)
      const held = s.on('with held')
      await held.add('a')
      await held.claimOne('a')
      const empty = s.on('empty')
      await empty.add('a')
      await empty.done(await empty.claimOne('a'))
      await s.operate.pause('paused')
      await s.operate.pause('resumed')
      await s.operate.resume('resumed')
      const names = await s.driver.queues?.()
      assert.deepEqual([...(names ?? [])].sort(), ['paused', 'with delay', 'with held', 'with key'])
    },
  },
  {
    id: 'queues.names-and-keys',
    title:
      'a queue and a key are two texts: they are not mistaken for others that join to the same',
    async run(s) {
      for (const joint of [
        '/',
        ':',
        ' ',
        '\n',
        '|',
        '.',
        ',',
        '-',
        '#',
        '\u0001',
        '"',
        '}',
        '\uffff',
      ]) {
        const one = s.on(`a${joint}b`)
        const two = s.on('a')
        await one.add('c', { item: '1' })
        await two.add(`b${joint}c`, { item: '2' })
        const first = await one.claimOne('c')
        const second = await two.claimOne(`b${joint}c`)
        assert.deepEqual([first.item, second.item], ['1', '2'])
        await one.done(first)
        await two.done(second)
      }
    },
  },
  {
    id: 'queues.listed.once',
    title: 'a queue with parked keys, idle keys, or keys and a pause is listed once',
    needs: { queues: true, operate: true },
    async run(s) {
      await s.on('parked').add('a')
      await s.operate.park('parked', ['a'])
      await s.on('idle').add('a', { failed: true })
      await s.on('idle').cancel('a')
      await s.on('paused').add('a')
      await s.operate.pause('paused')
      const names = (await s.driver.queues?.()) ?? []
      assert.deepEqual([...names].sort(), ['idle', 'parked', 'paused'])
    },
  },
]
