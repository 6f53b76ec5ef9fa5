import assert from 'node:assert/strict'
import type { Finish } from '@sluice/core'
import type { Case } from '../../case.ts'

/** Keys that are parked, by their holder or by an operator. */
export const parkedCases: readonly Case[] = [
  {
    id: 'park.held',
    title: 'a key that its holder parks is not handed out, and its run stays pending',
    async run(s) {
      await s.add('a')
      const reply = await s.parkHeld(await s.claimOne('a'))
      assert.equal(reply.outcome, 'parked')
      assert.equal(reply.failures, 0)
      await s.step(100_000)
      await s.claimNone()
      const row = await s.row('a')
      assert.equal(row.state, 'parked')
      assert.ok(row.dueAt <= s.now())
    },
  },
  {
    id: 'park.held.error',
    title: 'a park with an error counts a failure and keeps the error',
    async run(s) {
      await s.add('a')
      assert.equal((await s.parkHeld(await s.claimOne('a'), 'bad item')).failures, 1)
      const row = await s.row('a')
      assert.equal(row.failures, 1)
      assert.equal(row.lastError, 'bad item')
    },
  },
  {
    id: 'park.adds.kept',
    title: 'a parked key accepts adds, and their outcome is parked, also after a cancel',
    async run(s) {
      await s.add('a', { item: '1' })
      await s.parkHeld(await s.claimOne('a'))
      assert.equal((await s.add('a', { item: '2', priority: 4 })).outcome, 'parked')
      assert.equal((await s.addAfter('a', 100, { item: '3' })).outcome, 'parked')
      assert.equal((await s.add('a', { item: '3' })).outcome, 'parked')
      await s.claimNone()
      assert.deepEqual(await s.states(), { parked: 1 })
      assert.equal((await s.row('a')).item, '3')
      assert.equal(await s.cancel('a'), 'cancelled')
      for (const delayMs of [100, 200, 50]) {
        const { outcome } = await s.addAfter('a', delayMs, { maxWaitMs: 1_000 })
        assert.equal(outcome, 'parked')
      }
      assert.equal((await s.row('a')).dueAt, s.now() + 200)
      assert.equal((await s.add('a')).outcome, 'parked')
    },
  },
  {
    id: 'park.never-expires',
    title: 'the failures of a parked key do not expire, and the key is not swept',
    async run(s) {
      await s.add('a')
      await s.parkHeld(await s.claimOne('a'), 'bad')
      await s.step(10 * 86_400_000)
      const { swept } = await s.tick({ failuresExpireMs: 1_000 })
      assert.equal(swept, 0)
      const row = await s.row('a')
      assert.equal(row.state, 'parked')
      assert.equal(row.failures, 1)
    },
  },
  {
    id: 'park.never-expires.idle',
    title:
      'the failures of a key that is parked without a pending run do not expire when it is added',
    needs: { operate: true },
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      await s.retry(claim, 0)
      await s.cancel('a')
      await s.operate.park(s.queue, ['a'])
      await s.step(10 * 86_400_000)
      assert.equal((await s.add('a')).failures, 1)
      await s.operate.unpark(s.queue, ['a'], { forget: false })
      assert.equal((await s.claimOne('a')).failures, 1)
    },
  },
  {
    id: 'park.tick.sleeps',
    title: 'a parked key does not set the time of the next change',
    async run(s) {
      await s.add('a')
      await s.parkHeld(await s.claimOne('a'))
      assert.equal((await s.tick()).nextAt, Infinity)
    },
  },
  {
    id: 'unpark.runs',
    title: 'an unparked key runs once, with the last item added in the meantime',
    needs: { operate: true },
    async run(s) {
      await s.add('a', { item: '1' })
      await s.parkHeld(await s.claimOne('a'), 'bad')
      await s.add('a', { item: '2' })
      assert.deepEqual(await s.operate.unpark(s.queue, ['a'], { forget: false }), ['changed'])
      const claim = await s.claimOne('a')
      assert.equal(claim.item, '2')
      assert.equal(claim.failures, 1)
      await s.done(claim)
      await s.claimNone()
    },
  },
  {
    id: 'unpark.forget',
    title: 'unpark with forget resets failures and crashes',
    needs: { operate: true },
    async run(s) {
      await s.add('a')
      const lost = await s.claimOne('a', { leaseMs: 1_000 })
      await s.step(1_000)
      await s.expire(lost, { maxCrashes: 1 })
      assert.equal(await s.state('a'), 'parked')
      assert.deepEqual(await s.operate.unpark(s.queue, ['a'], { forget: true }), ['changed'])
      const claim = await s.claimOne('a')
      assert.equal(claim.failures, 0)
      assert.equal(claim.crashes, 0)
    },
  },
  {
    id: 'unpark.forget.parked',
    title: 'unpark with forget leaves a key alone that is not parked',
    needs: { operate: true },
    async run(s) {
      await s.add('a')
      await s.retry(await s.claimOne('a'), 100)
      assert.deepEqual(await s.operate.unpark(s.queue, ['a'], { forget: true }), ['unchanged'])
      assert.equal(await s.state('a'), 'backoff')
      await s.step(100)
      assert.equal((await s.claimOne('a')).failures, 1)
    },
  },
  {
    id: 'unpark.tail',
    title: 'an unparked key goes to the tail, and a delayed one to where its delay ends',
    needs: { operate: true, order: 'per-producer' },
    async run(s) {
      await s.add('a')
      await s.parkHeld(await s.claimOne('a'))
      await s.addAfter('later', 4)
      await s.operate.park(s.queue, ['later'])
      await s.step(1)
      await s.add('b')
      await s.step(1)
      await s.operate.unpark(s.queue, ['a', 'later'], { forget: false })
      await s.addAfter('c', 1)
      await s.step(2)
      assert.deepEqual(await s.claimKeys(), ['b', 'a', 'c', 'later'])
    },
  },
  {
    id: 'operate.park.waiting',
    title: 'an operator can park waiting keys',
    needs: { operate: true },
    async run(s) {
      await s.add('ready')
      await s.addAfter('delayed', 100)
      await s.addAfter('other', 200)
      const outcomes = await s.operate.park(s.queue, ['ready', 'unknown', 'delayed', 'ready2'])
      assert.deepEqual(outcomes, ['changed', 'missing', 'changed', 'missing'])
      assert.deepEqual(await s.operate.park(s.queue, ['ready']), ['unchanged'])
      assert.deepEqual(await s.states(), { delayed: 1, parked: 2 })
      await s.step(200)
      await s.claimOne('other')
      assert.deepEqual(await s.states(), { processing: 1, parked: 2 })
    },
  },
  {
    id: 'operate.park.held',
    title: 'a held key that an operator parks is parked when it is finished',
    needs: { operate: true },
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      assert.deepEqual(await s.operate.park(s.queue, ['a']), ['changed'])
      const { rows } = await s.list({ state: 'processing' })
      assert.deepEqual(
        rows.map(({ key }) => key),
        ['a'],
      )
      assert.deepEqual(await s.states(), { processing: 1 })
      assert.equal((await s.addAfter('a', 100)).outcome, 'added')
      assert.equal((await s.addAfter('a', 200, { maxWaitMs: 1_000 })).outcome, 'moved')
      assert.equal(await s.cancel('a'), 'cancelled')
      assert.equal((await s.add('a')).outcome, 'added')
      assert.equal((await s.addAfter('a', 100)).outcome, 'added')
      assert.equal((await s.add('a')).outcome, 'unchanged')
      assert.equal((await s.done(claim)).outcome, 'parked')
      await s.claimNone()
      await s.operate.unpark(s.queue, ['a'], { forget: false })
      await s.claimOne('a')
    },
  },
  {
    id: 'operate.park.held.done',
    title: 'held keys that an operator parks stay parked when they are done, alone or together',
    needs: { operate: true },
    async run(s) {
      const keys = ['a', 'b', 'c']
      await s.addAll(keys)
      const { claims } = await s.claim({ limit: 3 })
      await s.operate.park(s.queue, keys)
      const done = claims.map(
        ({ key, token }) => ({ as: 'done', key, token, forget: true }) as const,
      )
      assert.equal((await s.finish(done[0] as Finish)).outcome, 'parked')
      for (const { outcome } of await s.finishAll(done.slice(1))) assert.equal(outcome, 'parked')
      for (const { outcome } of await s.addAll(keys)) assert.equal(outcome, 'parked')
      await s.claimNone()
    },
  },
  {
    id: 'operate.park.held.retry',
    title:
      'a held key that an operator parked stays parked after a retry and after the end of its lease',
    needs: { operate: true },
    async run(s) {
      await s.addAll(['retried', 'lost'])
      const { claims } = await s.claim({ limit: 2, leaseMs: 1_000 })
      const [retried, lost] = claims
      assert.ok(retried && lost)
      await s.operate.park(s.queue, ['retried', 'lost'])
      assert.equal((await s.retry(retried, 0)).outcome, 'parked')
      await s.step(1_000)
      await s.expire(lost)
      await s.claimNone()
      assert.deepEqual(await s.states(), { parked: 2 })
    },
  },
  {
    id: 'operate.unpark.others',
    title: 'unpark of keys that are not parked returns unchanged and changes nothing',
    needs: { operate: true },
    async run(s) {
      await s.addAfter('a', 100)
      const outcomes = await s.operate.unpark(s.queue, ['a', 'unknown'], { forget: false })
      assert.deepEqual(outcomes, ['unchanged', 'missing'])
      await s.claimNone()
    },
  },
]
