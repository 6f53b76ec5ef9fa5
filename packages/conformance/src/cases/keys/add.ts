import assert from 'node:assert/strict'
import type { Case } from '../../case.ts'

/** The promises of add. */
export const addCases: readonly Case[] = [
  {
    id: 'add.claimable',
    title: 'a key that was added can be claimed',
    async run(s) {
      const reply = await s.add('a')
      assert.equal(reply.outcome, 'added')
      assert.equal(reply.dueAt, s.now())
      assert.equal(reply.failures, 0)
      assert.equal(await s.state('a'), 'ready')
      await s.claimOne('a')
    },
  },
  {
    id: 'add.waiting.once',
    title: 'a waiting key that is added many times runs once',
    async run(s) {
      await s.add('a')
      for (let i = 0; i < 5; i += 1) assert.equal((await s.add('a')).outcome, 'unchanged')
      await s.done(await s.claimOne('a'))
      await s.claimNone()
      assert.equal(await s.state('a'), 'gone')
    },
  },
  {
    id: 'add.waiting.due-at',
    title:
      'an add of a waiting key reports the time since which it is due, to a part of a millisecond',
    async run(s) {
      const other = s.on('other')
      const later = await other.addAfter('a', 1_000)
      await s.step(0.25)
      const dueAt = s.now()
      await s.add('a')
      await s.step(10.5)
      assert.equal((await s.add('a')).dueAt, dueAt)
      assert.equal((await s.addAfter('a', 50)).dueAt, dueAt)
      assert.equal((await other.addAfter('a', 1_000)).dueAt, later.dueAt)
    },
  },
  {
    id: 'add.held.again',
    title: 'a key that is added while it is held runs again',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      assert.equal((await s.add('a')).outcome, 'added')
      assert.equal(await s.state('a'), 'dirty')
      assert.equal((await s.done(claim)).outcome, 'ready')
      await s.claimOne('a')
    },
  },
  {
    id: 'add.held.not-handed-out',
    title: 'a key that is added while it is held is not handed out a second time',
    async run(s) {
      await s.add('a')
      await s.claimOne('a')
      await s.add('a')
      await s.claimNone()
      await s.as('another').claimNone()
    },
  },
  {
    id: 'add.held.once',
    title: 'a held key that is added many times runs once more',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      assert.equal((await s.add('a')).outcome, 'added')
      for (let i = 0; i < 5; i += 1) assert.equal((await s.add('a')).outcome, 'unchanged')
      await s.done(claim)
      await s.done(await s.claimOne('a'))
      await s.claimNone()
    },
  },
  {
    id: 'add.after-done.new',
    title: 'a key that is added again after its run has ended is new',
    async run(s) {
      await s.add('a')
      await s.done(await s.claimOne('a'))
      assert.equal((await s.add('a')).outcome, 'added')
      await s.claimOne('a')
    },
  },
  {
    id: 'add.asked-at.first',
    title: 'a claim reports the time of the first add that requested its run',
    async run(s) {
      const askedAt = s.now()
      await s.add('a')
      await s.step(50)
      await s.add('a', { item: '1' })
      await s.step(50)
      assert.equal((await s.claimOne('a')).askedAt, askedAt)
    },
  },
  {
    id: 'add.asked-at.dirty',
    title: 'the run that is requested while a key is held has its own request time',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      await s.step(70)
      const askedAt = s.now()
      await s.add('a')
      await s.step(30)
      await s.done(claim)
      assert.equal((await s.claimOne('a')).askedAt, askedAt)
    },
  },
  {
    id: 'add.max-pending.full',
    title: 'with maxPending, new keys beyond the limit are rejected and leave no trace',
    async run(s) {
      const replies = await s.addAll(['a', 'b', 'c'], { maxPending: 2 })
      assert.deepEqual(
        replies.map((reply) => reply.outcome),
        ['added', 'added', 'full'],
      )
      assert.equal((await s.add('d', { maxPending: 2 })).outcome, 'full')
      assert.equal(await s.state('c'), 'gone')
      assert.deepEqual((await s.claimKeys()).sort(), ['a', 'b'])
    },
  },
  {
    id: 'add.max-pending.pending',
    title: 'with maxPending reached, adds of keys that are already pending are accepted',
    async run(s) {
      await s.addAll(['a', 'b'], { maxPending: 2 })
      assert.equal((await s.add('a', { maxPending: 2, item: '"new"' })).outcome, 'unchanged')
      const moved = await s.add('b', { maxPending: 2, priority: 5 })
      assert.equal(moved.outcome, 'moved')
      const { claims } = await s.claim({ limit: 2 })
      assert.equal(claims.find(({ key }) => key === 'a')?.item, '"new"')
    },
  },
  {
    id: 'add.max-pending.delayed',
    title: 'delayed keys count towards maxPending, and keys without a pending run do not',
    async run(s) {
      await s.add('parked')
      await s.parkHeld(await s.claimOne('parked'))
      await s.cancel('parked')
      await s.addAfter('a', 1_000, { maxPending: 1 })
      assert.equal((await s.add('b', { maxPending: 1 })).outcome, 'full')
      await s.step(1_000)
      await s.claimOne('a')
      assert.equal((await s.add('b', { maxPending: 1 })).outcome, 'added')
      await s.claimOne('b')
      // The second run of a key is pending still while the first one is held.
      await s.addAfter('c', 1_000)
      await s.add('c')
      await s.claimOne('c')
      assert.equal((await s.add('d', { maxPending: 1 })).outcome, 'full')
      // No more, once it is cancelled.
      await s.cancel('c')
      const last = await s.addAll(['d', 'e'], { maxPending: 1 })
      assert.deepEqual(
        last.map(({ outcome }) => outcome),
        ['added', 'full'],
      )
    },
  },
  {
    id: 'add.max-pending.lease-end',
    title: 'a run that is pending again because its lease expired counts towards maxPending',
    async run(s) {
      await s.addAll(['a', 'b'])
      const { claims } = await s.claim({ limit: 2, leaseMs: 1_000 })
      // Once, if a run is pending already.
      await s.add('a')
      await s.step(1_000)
      assert.deepEqual(await s.expireAll(claims), ['expired', 'expired'])
      assert.equal((await s.add('c', { maxPending: 2 })).outcome, 'full')
      assert.equal((await s.add('c', { maxPending: 3 })).outcome, 'added')
    },
  },
  {
    id: 'add.max-pending.full.failures',
    title: 'an add that maxPending rejects leaves the failures and the item of its key as they are',
    async run(s) {
      await s.add('a', { failed: true, item: '1' })
      await s.cancel('a')
      await s.add('b')
      const before = await s.row('a')
      const { outcome, dueAt, failures } = await s.add('a', {
        failed: true,
        item: '2',
        maxPending: 1,
      })
      assert.deepEqual([outcome, dueAt, failures], ['full', Infinity, 1])
      const { failures: after, item } = await s.row('a')
      assert.deepEqual([after, item], [1, before.item])
    },
  },
  {
    id: 'add.max-pending.counted',
    title:
      'parked and dirty keys count towards maxPending, and neither keys without a run nor other queues',
    async run(s) {
      const other = s.on('other')
      await other.add('dirty')
      await other.claimOne('dirty')
      await other.add('parked')
      await other.parkHeld(await other.claimOne('parked'))
      await other.addAll(['dirty', 'ready'])
      await s.add('parked')
      await s.parkHeld(await s.claimOne('parked'))
      await s.addAll(['dirty', 'held'])
      const { claims } = await s.claim({ limit: 2 })
      await s.add('dirty')
      const full = await s.addAll(['new', 'held'], { maxPending: 2 })
      assert.deepEqual(
        full.map(({ outcome }) => outcome),
        ['full', 'full'],
      )
      const last = await s.addAll(['parked', 'dirty', 'new', 'held'], { maxPending: 3 })
      assert.deepEqual(
        last.map(({ outcome }) => outcome),
        ['parked', 'unchanged', 'added', 'full'],
      )
      // The end of its run pends nothing more.
      for (const claim of claims) if (claim.key === 'dirty') await s.done(claim)
      assert.equal((await s.add('held', { maxPending: 4 })).outcome, 'added')
    },
  },
  {
    id: 'add.max-pending.unparked',
    title:
      'a key that was unparked counts towards maxPending until it is done, and an idle one never',
    needs: { operate: true },
    async run(s) {
      const maxPending = 1
      const isFull = async (key: string) => (await s.add(key, { maxPending })).outcome === 'full'
      await s.addAll(['idle', 'parked'])
      const { claims } = await s.claim({ limit: 2 })
      for (const claim of claims) await s.retry(claim, 0)
      await s.cancel('idle')
      await s.operate.park(s.queue, ['idle', 'parked'])
      await s.operate.unpark(s.queue, ['parked'], { forget: true })
      assert.ok(await isFull('a'))
      await s.done(await s.claimOne('parked'))
      assert.ok(!(await isFull('a')))
      assert.ok(await isFull('b'))
      await s.operate.unpark(s.queue, ['idle'], { forget: true })
      assert.ok(await isFull('b'))
      await s.claimOne('a')
      await s.add('a')
      await s.operate.park(s.queue, ['a'])
      assert.equal((await s.add('b', { maxPending: 2 })).outcome, 'added')
      // Nor one that was removed.
      await s.operate.remove(s.queue, ['b'])
      const last = await s.addAll(['c', 'd'], { maxPending: 2 })
      assert.deepEqual(
        last.map(({ outcome }) => outcome),
        ['added', 'full'],
      )
    },
  },
]
