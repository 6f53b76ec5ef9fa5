import assert from 'node:assert/strict'
import type { Case } from '../../case.ts'

/** Debounce: an ask with `maxWaitMs` postpones a key that is only delayed. */
export const latestCases: readonly Case[] = [
  {
    id: 'latest.moves-later',
    title: 'with maxWaitMs, a later delay postpones a key that is only delayed',
    async run(s) {
      await s.addAfter('a', 100, { maxWaitMs: 1_000 })
      await s.step(50)
      const { outcome, dueAt } = await s.addAfter('a', 100, { maxWaitMs: 1_000 })
      assert.equal(outcome, 'moved')
      assert.equal(dueAt, s.now() + 100)
      await s.step(99)
      await s.claimNone()
      await s.step(1)
      await s.done(await s.claimOne('a'))
      await s.step(10_000)
      await s.claimNone()
    },
  },
  {
    id: 'latest.bounded',
    title: 'a key is not postponed beyond maxWaitMs after it was first added',
    async run(s) {
      const start = s.now()
      for (let i = 0; i < 5; i += 1) {
        await s.addAfter('a', 100, { maxWaitMs: 250 })
        await s.step(50)
      }
      assert.equal((await s.row('a')).dueAt, start + 250)
      await s.claimOne('a')
    },
  },
  {
    id: 'latest.never-earlier',
    title: 'with maxWaitMs, an earlier delay does not bring a delayed key forward',
    async run(s) {
      await s.addAfter('a', 500)
      const { outcome, dueAt } = await s.addAfter('a', 100, { maxWaitMs: 10_000 })
      assert.equal(outcome, 'unchanged')
      assert.equal(dueAt, s.now() + 500)
    },
  },
  {
    id: 'latest.ready.stays',
    title: 'a key that is ready is not postponed',
    async run(s) {
      for (const dedupe of ['client-go', 'earliest'] as const) {
        await s.add(dedupe, { dedupe })
        const { dueAt } = await s.addAfter(dedupe, 100, { maxWaitMs: 1_000, dedupe })
        assert.equal(dueAt, s.now())
        await s.claimOne(dedupe)
      }
      // A key that fell due is ready, too.
      const { dueAt } = await s.addAfter('delayed', 100)
      await s.step(100)
      assert.equal((await s.addAfter('delayed', 100, { maxWaitMs: 1_000 })).dueAt, dueAt)
      await s.claimOne('delayed')
    },
  },
  {
    id: 'latest.backoff.stays',
    title: 'a key in back-off is not postponed',
    async run(s) {
      await s.add('a')
      const { dueAt } = await s.retry(await s.claimOne('a'), 100)
      assert.equal((await s.addAfter('a', 500, { maxWaitMs: 1_000 })).dueAt, dueAt)
    },
  },
  {
    id: 'latest.held',
    title: 'the next run of a held key that is only delayed can be postponed',
    async run(s) {
      // The reason of the run that is held says nothing about the next one.
      await s.addAfter('a', 10)
      await s.step(10)
      const claim = await s.claimOne('a')
      assert.equal((await s.addAfter('a', 100, { maxWaitMs: 1_000 })).outcome, 'added')
      await s.step(50)
      assert.equal((await s.addAfter('a', 100, { maxWaitMs: 1_000 })).outcome, 'moved')
      assert.equal((await s.done(claim)).dueAt, s.now() + 100)
    },
  },
  {
    id: 'latest.priority',
    title: 'with maxWaitMs, a higher priority counts, also if the key is not postponed',
    async run(s) {
      await s.addAfter('a', 100)
      const { outcome, dueAt } = await s.addAfter('a', 50, { maxWaitMs: 1_000, priority: 9 })
      assert.equal(outcome, 'moved')
      assert.equal(dueAt, s.now() + 100)
      await s.step(100)
      assert.equal((await s.claimOne('a')).priority, 9)
    },
  },
  {
    id: 'latest.second-run',
    title: 'the first of two delayed runs is not postponed',
    async run(s) {
      await s.add('a')
      const lost = await s.claimOne('a', { leaseMs: 10 })
      await s.addAfter('a', 100)
      await s.step(10)
      await s.expire(lost, { plan: { kind: 'exponential', baseMs: 300, maxMs: 300 } })
      const { dueAt, laterAt } = await s.row('a')
      await s.addAfter('a', 200, { maxWaitMs: 1_000 })
      const row = await s.row('a')
      assert.deepEqual([row.dueAt, row.laterAt], [dueAt, laterAt])
    },
  },
]
