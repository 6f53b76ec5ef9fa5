import assert from 'node:assert/strict'
import type { Claim } from '@sluice/core'
import type { Case } from '../../case.ts'

const needs = { order: 'per-producer' } as const

/** The order of claims, with one producer that awaits its calls: this holds for every driver. */
export const orderCases: readonly Case[] = [
  {
    id: 'order.arrival',
    title: 'keys come out in the order in which they were added',
    needs,
    async run(s) {
      for (const key of ['c', 'a', 'b', 'd']) await s.add(key)
      assert.deepEqual(await s.claimKeys({ limit: 1 }), ['c', 'a', 'b', 'd'])
    },
  },
  {
    id: 'order.batch',
    title: 'keys of one batch come out in the order of the batch',
    needs,
    async run(s) {
      const keys = Array.from({ length: 40 }, (_, i) => `k${(i * 17) % 40}`)
      await s.addAll(keys)
      assert.deepEqual(await s.claimKeys({ limit: 7 }), keys)
    },
  },
  {
    id: 'order.batch.next',
    title: 'a later batch comes after an earlier one',
    needs,
    async run(s) {
      await s.addAll(['z', 'y'])
      await s.addAll(['b', 'y', 'a'])
      assert.deepEqual(await s.claimKeys(), ['z', 'y', 'b', 'a'])
    },
  },
  {
    id: 'order.claim.first',
    title: 'a claim takes the keys that have waited longest',
    needs,
    async run(s) {
      await s.addAll(['a', 'b', 'c'])
      await s.claimOne('a')
      await s.step(5)
      await s.add('d')
      const { claims } = await s.claim({ limit: 2 })
      assert.deepEqual(
        claims.map(({ key }) => key),
        ['b', 'c'],
      )
    },
  },
  {
    id: 'order.waiting.keeps-position',
    title: 'a waiting key that is added again keeps its position',
    needs,
    async run(s) {
      await s.addAll(['a', 'b'])
      await s.step(10)
      await s.add('a')
      await s.addAfter('a', 5)
      assert.deepEqual(await s.claimKeys(), ['a', 'b'])
    },
  },
  {
    id: 'order.dirty.tail',
    title: 'a key that was added while held goes to the tail when it is done',
    needs,
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      await s.add('a')
      await s.step(10)
      await s.add('b')
      await s.step(10)
      await s.done(claim)
      await s.step(10)
      await s.add('c')
      assert.deepEqual(await s.claimKeys(), ['b', 'a', 'c'])
    },
  },
  {
    id: 'order.due-while-held.tail',
    title: 'a delayed key that falls due while it is held goes to the tail when it is done',
    needs,
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      await s.addAfter('a', 10)
      await s.step(20)
      await s.add('b')
      await s.step(10)
      await s.done(claim)
      assert.deepEqual(await s.claimKeys(), ['b', 'a'])
    },
  },
  {
    id: 'order.done.batch',
    title:
      'keys that were added while held are queued in the order of the batch that finishes them',
    needs,
    async run(s) {
      await s.addAll(['a', 'b', 'c'])
      const { claims } = await s.claim({ limit: 3 })
      await s.addAll(['b', 'c', 'a'])
      const backwards = [...claims].reverse()
      await s.finishAll(
        backwards.map(({ key, token }) => ({ as: 'done', key, token, forget: false })),
      )
      assert.deepEqual(await s.claimKeys(), ['c', 'b', 'a'])
    },
  },
  {
    id: 'order.retry.tail',
    title: 'a key that is retried at once goes to the tail',
    needs,
    async run(s) {
      await s.addAll(['a', 'b'])
      await s.retry(await s.claimOne('a'), 0)
      assert.deepEqual(await s.claimKeys(), ['b', 'a'])
    },
  },
  {
    id: 'order.release.old-position',
    title: 'a released key goes back to its old position, also if it was added again meanwhile',
    needs,
    async run(s) {
      await s.addAll(['a', 'b'])
      await s.step(10)
      const claim = await s.claimOne('a')
      await s.add('c')
      await s.step(10)
      await s.release(claim)
      const back = await s.claimOne('a')
      assert.equal(back.readyAt, claim.readyAt)
      await s.add('a')
      await s.release(back)
      assert.equal((await s.claimOne('a')).readyAt, claim.readyAt)
      assert.deepEqual(await s.claimKeys(), ['b', 'c'])
    },
  },
  {
    id: 'order.release.batch',
    title: 'keys that are released together keep their order, whatever the order of the batch',
    needs,
    async run(s) {
      await s.addAll(['c', 'a', 'b'])
      const { claims } = await s.claim({ limit: 2 })
      await s.finishAll(
        [...claims].reverse().map(({ key, token }) => ({ as: 'release', key, token })),
      )
      assert.deepEqual(await s.claimKeys(), ['c', 'a', 'b'])
    },
  },
  {
    id: 'order.lease-end.tail',
    title: 'a key whose lease expired comes after the keys that waited in the meantime',
    needs,
    async run(s) {
      await s.addAll(['a', 'b'])
      const claim = await s.claimOne('a', { leaseMs: 1_000 })
      await s.step(1_500)
      await s.expire(claim)
      await s.step(1)
      await s.add('c')
      assert.deepEqual(await s.claimKeys({ limit: 1 }), ['b', 'a', 'c'])
    },
  },
  {
    id: 'order.due',
    title: 'delayed keys come out in the order in which they fall due',
    needs,
    async run(s) {
      await s.addAll([
        s.ask('c', { delayMs: 30 }),
        s.ask('a', { delayMs: 10 }),
        s.ask('b', { delayMs: 20 }),
      ])
      await s.step(100)
      assert.deepEqual(await s.claimKeys(), ['a', 'b', 'c'])
    },
  },
  {
    id: 'order.due.equal',
    title: 'keys that are due at the same instant keep the order in which they were added',
    needs,
    async run(s) {
      await s.addAfter('b', 20)
      await s.step(5)
      await s.addAfter('c', 15)
      await s.addAfter('a', 15)
      await s.step(100)
      assert.deepEqual(await s.claimKeys(), ['b', 'c', 'a'])
    },
  },
  {
    id: 'order.due.among-ready',
    title: 'a key that fell due is ordered among the others by the instant at which it was due',
    needs,
    async run(s) {
      await s.addAfter('b', 50)
      await s.add('a')
      await s.step(100)
      await s.add('c')
      assert.deepEqual(await s.claimKeys(), ['a', 'b', 'c'])
    },
  },
  {
    id: 'order.moved.tail',
    title: 'a delayed key that is added without a delay goes to the tail',
    needs,
    async run(s) {
      await s.addAfter('a', 100)
      await s.step(10)
      await s.add('b')
      await s.add('a')
      await s.add('c')
      assert.deepEqual(await s.claimKeys(), ['b', 'a', 'c'])
    },
  },
  {
    id: 'order.ready-at.reported',
    title: 'a claim reports since when its key was ready',
    async run(s) {
      const start = s.now()
      await s.addAfter('a', 50)
      await s.step(80)
      const first = await s.claimOne('a')
      assert.equal(first.readyAt, start + 50)
      await s.add('a')
      await s.step(20)
      await s.done(first)
      assert.equal((await s.claimOne('a')).readyAt, start + 100)
    },
  },
  {
    id: 'order.no-starvation',
    title: 'a key that is added again in every run does not hold up the others',
    needs,
    async run(s) {
      await s.addAll(['busy', 'a', 'b'])
      const seen: string[] = []
      for (let i = 0; i < 6; i += 1) {
        const claim = await s.claimOne()
        seen.push(claim.key)
        await s.add('busy')
        await s.step(1)
        await s.done(claim)
      }
      assert.deepEqual(seen.slice(0, 4), ['busy', 'a', 'b', 'busy'])
    },
  },
  {
    id: 'order.producers',
    title: 'keys of several producers come out in the order in which they were added',
    needs: { order: 'strict', peers: true },
    async run(s) {
      const other = await s.peer()
      for (let i = 0; i < 10; i += 1) await (i % 3 === 0 ? other : s).add(`k${(i * 7) % 10}`)
      assert.deepEqual(
        await s.claimKeys({ limit: 3 }),
        Array.from({ length: 10 }, (_, i) => `k${(i * 7) % 10}`),
      )
    },
  },
  {
    id: 'order.lease-end.batch',
    title: 'keys whose leases are ended together come out in the order of the batch',
    needs,
    async run(s) {
      await s.addAll(['a', 'b', 'c'])
      const { claims } = await s.claim({ limit: 3, leaseMs: 100 })
      await s.step(100)
      const leases = ['c', 'a', 'b'].map((key) => ({
        key,
        token: claims.find((each) => each.key === key)?.token ?? 0,
      }))
      await s.expireAll(leases)
      assert.deepEqual(await s.claimKeys({ limit: 1 }), ['c', 'a', 'b'])
    },
  },
  {
    id: 'order.operate.batch',
    title: 'keys that are unparked or run now together come out in the order of the batch',
    needs: { ...needs, operate: true },
    async run(s) {
      const keys = ['a', 'b', 'c']
      await s.addAll(keys)
      await s.operate.park(s.queue, keys)
      await s.operate.unpark(s.queue, ['c', 'a', 'b'], { forget: false })
      assert.deepEqual(await s.claimKeys(), ['c', 'a', 'b'])
      const later = ['d', 'e', 'f']
      await s.addAll(later.map((key) => s.ask(key, { delayMs: 1_000 })))
      await s.operate.runNow(s.queue, ['f', 'd', 'e'])
      assert.deepEqual(await s.claimKeys(), ['f', 'd', 'e'])
    },
  },
  {
    id: 'order.operate.later',
    title: 'keys that were run now or unparked come before keys that are added later',
    needs: { ...needs, operate: true },
    async run(s) {
      await s.addAfter('d', 1_000)
      await s.operate.runNow(s.queue, ['d'])
      for (const key of ['a1', 'c']) await s.add(key)
      await s.operate.park(s.queue, ['c'])
      await s.operate.unpark(s.queue, ['c'], { forget: false })
      for (const key of ['a2', 'b']) await s.add(key)
      await s.operate.park(s.queue, ['b'])
      await s.operate.unpark(s.queue, ['b'], { forget: true })
      await s.add('a3')
      assert.deepEqual(await s.claimKeys(), ['d', 'a1', 'c', 'a2', 'b', 'a3'])
    },
  },
  {
    id: 'order.given-back.later',
    title: 'keys that were given back or whose lease expired come before keys that are added later',
    needs,
    async run(s) {
      await s.addAll(['d', 'c', 'b'])
      const { claims } = await s.claim({ limit: 3, leaseMs: 1_000 })
      const [failed, dirty, lost] = claims as [Claim, Claim, Claim]
      await s.add('c')
      await s.step(1_000)
      await s.expire(lost)
      await s.add('a1')
      await s.done(dirty)
      await s.add('a2')
      await s.retry(failed, 0)
      await s.add('a3')
      assert.deepEqual(await s.claimKeys(), ['b', 'a1', 'c', 'a2', 'd', 'a3'])
    },
  },
  {
    id: 'order.due.equal.reasons',
    title: 'keys that are ready at the same instant keep their order, whatever made them ready',
    needs,
    async run(s) {
      await s.add('failed')
      const claim = await s.claimOne('failed')
      await s.addAfter('first', 100)
      await s.retry(claim, 100)
      await s.addAfter('third', 100)
      await s.step(100)
      await s.add('last')
      assert.deepEqual(await s.claimKeys(), ['first', 'failed', 'third', 'last'])
    },
  },
  {
    id: 'order.second-runs',
    title: 'second runs that fall due at the same instant come out in the order of the claims',
    needs,
    async run(s) {
      for (const key of ['b', 'a', 'c']) await s.add(key)
      for (const key of ['c', 'b', 'a']) await s.addAfter(key, 100)
      const { claims } = await s.claim({ limit: 3 })
      for (const claim of [...claims].reverse()) await s.done(claim)
      await s.step(100)
      assert.deepEqual(await s.claimKeys(), ['b', 'a', 'c'])
    },
  },
  {
    id: 'order.second-runs.tail',
    title:
      'the second run of a key comes after the keys that were added before the claim of the first',
    needs,
    async run(s) {
      await s.add('a')
      await s.addAfter('a', 100)
      await s.addAfter('b', 100)
      await s.done(await s.claimOne('a'))
      await s.step(50)
      await s.add('c')
      await s.step(50)
      assert.deepEqual(await s.claimKeys(), ['c', 'b', 'a'])
    },
  },
  {
    id: 'order.due.fraction',
    title: 'delayed keys are ordered by parts of a millisecond, too',
    needs,
    async run(s) {
      await s.addAfter('late', 1.75)
      await s.addAfter('early', 1.25)
      await s.step(2)
      assert.deepEqual(await s.claimKeys(), ['early', 'late'])
    },
  },
]
