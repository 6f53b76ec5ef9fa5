import assert from 'node:assert/strict'
import { priorityMax, priorityMin } from '@sluice/core'
import type { Case } from '../../case.ts'

/** The effect of a priority, and how long it lasts. */
export const priorityCases: readonly Case[] = [
  {
    id: 'priority.higher-first',
    title: 'keys of a higher priority come first, however long the others have waited',
    needs: { order: 'per-producer' },
    async run(s) {
      await s.addAll([
        s.ask('lowest', { priority: -1_000 }),
        s.ask('below', { priority: -1 }),
        s.ask('usual'),
      ])
      await s.step(10_000)
      await s.addAll([s.ask('above', { priority: 1 }), s.ask('highest', { priority: 1_000 })])
      assert.deepEqual(await s.claimKeys({ limit: 2 }), [
        'highest',
        'above',
        'usual',
        'below',
        'lowest',
      ])
    },
  },
  {
    id: 'priority.equal.arrival',
    title: 'keys of equal priority come out in the order of their arrival',
    needs: { order: 'per-producer' },
    async run(s) {
      for (const key of ['c', 'a', 'b']) await s.add(key, { priority: 7 })
      assert.deepEqual(await s.claimKeys(), ['c', 'a', 'b'])
    },
  },
  {
    id: 'priority.claim.reported',
    title: 'a claim reports the priority of its run',
    async run(s) {
      await s.add('a', { priority: 12 })
      assert.equal((await s.claimOne('a')).priority, 12)
    },
  },
  {
    id: 'priority.rise.moved',
    title: 'a waiting key that is added with a higher priority moves to the tail of that priority',
    needs: { order: 'per-producer' },
    async run(s) {
      await s.add('a')
      await s.step(10)
      await s.add('b', { priority: 5 })
      await s.step(10)
      assert.equal((await s.add('a', { priority: 5 })).outcome, 'moved')
      await s.step(10)
      await s.add('c', { priority: 5 })
      assert.deepEqual(await s.claimKeys(), ['b', 'a', 'c'])
      // The same at one instant.
      await s.addAll(['d', s.ask('e', { priority: 5 })])
      await s.add('d', { priority: 5 })
      assert.deepEqual(await s.claimKeys(), ['e', 'd'])
    },
  },
  {
    id: 'priority.rise.order',
    title: 'keys whose priorities rise at one instant come out in the order in which they rose',
    needs: { order: 'per-producer' },
    async run(s) {
      const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
      const rising = ['d', 'g', 'a', 'h', 'c', 'f', 'b', 'e']
      await s.addAll(keys)
      for (const key of rising) await s.add(key, { priority: 5 })
      assert.deepEqual(await s.claimKeys(), rising)
    },
  },
  {
    id: 'priority.rise.usual',
    title:
      'a waiting key of a priority below 0 that is added again without one moves to priority 0',
    needs: { order: 'per-producer' },
    async run(s) {
      await s.add('a', { priority: -5 })
      await s.add('b')
      assert.equal((await s.add('a')).outcome, 'moved')
      await s.add('c', { priority: -1 })
      assert.deepEqual(await s.claimKeys(), ['b', 'a', 'c'])
    },
  },
  {
    id: 'priority.lower.unchanged',
    title: 'a waiting key that is added with a lower priority keeps its priority and its position',
    needs: { order: 'per-producer' },
    async run(s) {
      await s.add('a', { priority: 5 })
      await s.step(10)
      await s.add('b', { priority: 5 })
      assert.equal((await s.add('a', { priority: 1 })).outcome, 'unchanged')
      assert.deepEqual(await s.claimKeys(), ['a', 'b'])
    },
  },
  {
    id: 'priority.delayed.rise',
    title: 'a delayed key gets a higher priority, and stays delayed',
    needs: { order: 'per-producer' },
    async run(s) {
      await s.addAfter('a', 100)
      assert.equal((await s.addAfter('a', 200, { priority: 3 })).outcome, 'moved')
      await s.step(99)
      await s.claimNone()
      await s.add('b')
      await s.step(1)
      assert.equal((await s.claimOne('a')).priority, 3)
      await s.claimOne('b')
      // Its position is that of the time at which it is due, not of the time at which it rose.
      await s.addAfter('late', 100)
      await s.addAfter('late', 200, { priority: 3 })
      await s.step(50)
      await s.add('early', { priority: 3 })
      await s.step(50)
      assert.deepEqual(await s.claimKeys(), ['early', 'late'])
    },
  },
  {
    id: 'priority.delayed.now',
    title:
      'a delayed key that is added without a delay and with a higher priority has that priority',
    async run(s) {
      await s.addAfter('a', 100)
      await s.add('a', { priority: 9 })
      assert.equal((await s.claimOne('a')).priority, 9)
    },
  },
  {
    id: 'priority.overdue.many',
    title: 'a key of a higher priority comes before very many keys that fell due earlier',
    needs: { order: 'per-producer' },
    async run(s) {
      const many = (prefix: string) => Array.from({ length: 300 }, (_, nth) => `${prefix}${nth}`)
      await s.addAll(many('a').map((key) => s.ask(key, { delayMs: 10 })))
      await s.step(10)
      const { claims } = await s.claim({ limit: 300 })
      assert.equal(claims.length, 300)
      await s.add('failed', { priority: 9 })
      await s.retry(await s.claimOne('failed'), 20)
      await s.finishAll(claims.map(({ key, token }) => ({ as: 'retry', key, token, delayMs: 10 })))
      await s.step(20)
      await s.claimOne('failed')
      assert.deepEqual(await s.claimKeys(), many('a'))
      await s.addAll(many('b').map((key) => s.ask(key, { delayMs: 10 })))
      await s.addAfter('delayed', 20, { priority: 9 })
      await s.step(20)
      await s.claimOne('delayed')
      assert.deepEqual(await s.claimKeys(), many('b'))
    },
  },
  {
    id: 'priority.delayed.kept',
    title: 'a delayed key of a higher priority that is added without a delay keeps that priority',
    needs: { order: 'per-producer' },
    async run(s) {
      await s.addAfter('a', 100, { priority: 9 })
      await s.add('b')
      await s.add('a')
      assert.equal((await s.claimOne('a')).priority, 9)
    },
  },
  {
    id: 'priority.done.over',
    title: 'a priority ends with its run',
    needs: { order: 'per-producer' },
    async run(s) {
      await s.add('a', { priority: 9 })
      await s.done(await s.claimOne('a'))
      await s.add('b')
      await s.add('a')
      assert.deepEqual(await s.claimKeys(), ['b', 'a'])
    },
  },
  {
    id: 'priority.dirty.own',
    title: 'the next run of a held key has its own priority, the highest of its adds',
    async run(s) {
      await s.add('a', { priority: 9 })
      const claim = await s.claimOne('a')
      await s.add('a', { priority: -2 })
      await s.add('a', { priority: 3 })
      await s.add('a', { priority: 1 })
      await s.done(claim)
      assert.equal((await s.claimOne('a')).priority, 3)
    },
  },
  {
    id: 'priority.retry.kept',
    title: 'a key that is retried keeps the priority of the run that failed',
    needs: { order: 'per-producer' },
    async run(s) {
      await s.add('a', { priority: 9 })
      await s.retry(await s.claimOne('a'), 50)
      await s.add('b', { priority: 1 })
      await s.step(50)
      assert.equal((await s.claimOne('a')).priority, 9)
    },
  },
  {
    id: 'priority.retry.merges',
    title: 'a key that is retried after it was added again has the higher of both priorities',
    async run(s) {
      for (const [first, second] of [
        [9, 2],
        [2, 9],
      ]) {
        await s.add('a', { priority: first as number })
        const claim = await s.claimOne('a')
        await s.add('a', { priority: second as number })
        await s.retry(claim, 0)
        const again = await s.claimOne('a')
        assert.equal(again.priority, 9)
        await s.done(again)
      }
    },
  },
  {
    id: 'priority.release.kept',
    title: 'a key that is released keeps its priority',
    needs: { order: 'per-producer' },
    async run(s) {
      await s.add('a', { priority: 9 })
      const claim = await s.claimOne('a')
      await s.add('a', { priority: 1 })
      await s.add('b', { priority: 5 })
      await s.release(claim)
      assert.equal((await s.claimOne('a')).priority, 9)
    },
  },
  {
    id: 'priority.release.rise',
    title: 'a key that is released after it was added with a higher priority goes to its tail',
    needs: { order: 'per-producer' },
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      await s.add('a', { priority: 5 })
      await s.step(1)
      await s.add('b', { priority: 5 })
      await s.step(1)
      await s.release(claim)
      await s.add('lower', { priority: 4 })
      assert.deepEqual(await s.claimKeys(), ['b', 'a', 'lower'])
      // The same at one instant.
      await s.add('c')
      const another = await s.claimOne('c')
      await s.add('d', { priority: 5 })
      await s.add('c', { priority: 5 })
      await s.release(another)
      assert.deepEqual(await s.claimKeys(), ['d', 'c'])
    },
  },
  {
    id: 'priority.lease-end.kept',
    title:
      'a key whose lease expired keeps its priority, or has that of a later add if it is higher',
    needs: { order: 'per-producer' },
    async run(s) {
      await s.addAll(['a', 'lower', 'higher'].map((key) => s.ask(key, { priority: 9 })))
      const { claims } = await s.claim({ limit: 3, leaseMs: 1_000 })
      await s.add('lower', { priority: 3 })
      await s.add('higher', { priority: 12 })
      await s.step(1_000)
      await s.expireAll(claims)
      await s.add('b', { priority: 5 })
      const { claims: again } = await s.claim({ limit: 4 })
      assert.deepEqual(again.map(({ key, priority }) => `${key} ${priority}`).sort(), [
        'a 9',
        'b 5',
        'higher 12',
        'lower 9',
      ])
    },
  },
  {
    id: 'priority.limits',
    title: 'priorities are told apart up to the lowest and the highest, however they are given',
    needs: { order: 'per-producer' },
    async run(s) {
      const rising = [priorityMin, priorityMin + 1, -129, -128, -1, 1, 127, 128]
      const all = [...rising, priorityMax - 1, priorityMax]
      const falling = [...all].reverse()
      for (const priority of all) await s.add(`of ${priority}`, { priority })
      const { claims } = await s.claim({ limit: 100 })
      assert.deepEqual(
        claims.map(({ priority }) => priority),
        falling,
      )
      for (const { key, token, priority } of claims) {
        const next = { delayMs: 0, priority }
        if (priority > 0) await s.retry({ key, token }, 0, { priority: -priority })
        else await s.finish({ as: 'done', key, token, forget: false, again: next })
      }
      const again = all.map((priority) => -Math.abs(priority)).sort((a, b) => b - a)
      assert.deepEqual(
        (await s.claim({ limit: 100 })).claims.map(({ priority }) => priority),
        again,
      )
    },
  },
]
