import assert from 'node:assert/strict'
import type { Case } from '../../case.ts'

/** How failed runs are retried, and how failures are counted. */
export const retryCases: readonly Case[] = [
  {
    id: 'retry.comes-back',
    title: 'a key that is retried runs again after the delay, and not before',
    async run(s) {
      await s.add('a')
      const reply = await s.retry(await s.claimOne('a'), 100)
      assert.equal(reply.outcome, 'delayed')
      assert.equal(reply.dueAt, s.now() + 100)
      assert.equal(reply.failures, 1)
      await s.step(99)
      await s.claimNone()
      await s.step(1)
      await s.claimOne('a')
    },
  },
  {
    id: 'retry.at-once',
    title: 'a key that is retried without delay is ready',
    async run(s) {
      await s.add('a')
      const reply = await s.retry(await s.claimOne('a'), 0)
      assert.equal(reply.outcome, 'ready')
      assert.equal(reply.failures, 1)
      await s.claimOne('a')
    },
  },
  {
    id: 'retry.priority',
    title:
      'a key that is retried keeps the priority of its run, unless the retry gives another one',
    async run(s) {
      await s.add('a', { priority: 3 })
      await s.retry(await s.claimOne('a'), 0)
      const claim = await s.claimOne('a')
      assert.equal(claim.priority, 3)
      await s.retry(claim, 0, { priority: -1 })
      const next = await s.claimOne('a')
      assert.deepEqual([next.priority, next.failures], [-1, 2])
      await s.add('a', { priority: 7 })
      await s.retry(next, 0, { priority: 2 })
      assert.equal((await s.claimOne('a')).priority, 7)
    },
  },
  {
    id: 'retry.state.backoff',
    title:
      'a key that waits after a failure is in back-off, and a key that was added with a delay is not',
    async run(s) {
      await s.add('a')
      await s.retry(await s.claimOne('a'), 100)
      await s.addAfter('b', 100)
      await s.addAfter('c', 100, { failed: true })
      assert.equal(await s.state('a'), 'backoff')
      assert.equal(await s.state('b'), 'delayed')
      assert.equal(await s.state('c'), 'backoff')
      // Also if the key is known.
      await s.add('d')
      const claim = await s.claimOne('d')
      await s.addAfter('d', 100, { failed: true })
      await s.done(claim)
      assert.equal(await s.state('d'), 'backoff')
    },
  },
  {
    id: 'retry.counts',
    title: 'every retry counts one failure, and the claim reports the count',
    async run(s) {
      await s.add('a')
      for (let failures = 0; failures < 5; failures += 1) {
        const claim = await s.claimOne('a')
        assert.equal(claim.failures, failures)
        assert.equal(claim.crashes, 0)
        assert.equal((await s.retry(claim, 0)).failures, failures + 1)
      }
    },
  },
  {
    id: 'retry.twice.counts-once',
    title: 'a second retry with the same token is lost, and counts nothing',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      await s.retry(claim, 100)
      const reply = await s.retry(claim, 0)
      assert.equal(reply.outcome, 'lost')
      await s.claimNone()
      assert.equal((await s.row('a')).failures, 1)
    },
  },
  {
    id: 'retry.dirty.runs-now',
    title: 'a key that was added while held runs at once, despite the back-off of its retry',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      await s.add('a')
      const reply = await s.retry(claim, 10_000)
      assert.equal(reply.outcome, 'ready')
      assert.equal((await s.claimOne('a')).failures, 1)
    },
  },
  {
    id: 'retry.backoff.add-ends-it',
    title: 'an add during back-off runs at once',
    async run(s) {
      await s.add('a')
      await s.retry(await s.claimOne('a'), 10_000)
      await s.add('a')
      await s.claimOne('a')
    },
  },
  {
    id: 'retry.backoff.adds-do-not-inflate',
    title: 'adds during back-off count no failure and postpone nothing',
    async run(s) {
      await s.add('a')
      const { dueAt } = await s.retry(await s.claimOne('a'), 100)
      for (let i = 0; i < 3; i += 1) {
        const reply = await s.addAfter('a', 500)
        assert.equal(reply.dueAt, dueAt)
        assert.equal(reply.failures, 1)
      }
      await s.step(100)
      assert.equal((await s.claimOne('a')).failures, 1)
    },
  },
  {
    id: 'retry.error.kept',
    title: 'the error of the last failed run is stored with the key',
    async run(s) {
      await s.add('a')
      await s.retry(await s.claimOne('a'), 0, { error: 'first' })
      await s.retry(await s.claimOne('a'), 100, { error: 'wild: \u0007 "quotes" \n 🚰' })
      assert.equal((await s.row('a')).lastError, 'wild: \u0007 "quotes" \n 🚰')
    },
  },
  {
    id: 'retry.error.stays',
    title: 'a retry, a release, a done and a park without an error leave the stored one',
    async run(s) {
      await s.add('a')
      await s.retry(await s.claimOne('a'), 0, { error: 'why' })
      await s.retry(await s.claimOne('a'), 0)
      await s.release(await s.claimOne('a'))
      const claim = await s.claimOne('a')
      await s.add('a')
      await s.done(claim, { forget: false })
      assert.equal((await s.row('a')).lastError, 'why')
      await s.parkHeld(await s.claimOne('a'))
      assert.equal((await s.row('a')).lastError, 'why')
    },
  },
  {
    id: 'failures.add-failed',
    title: 'an add that reports a failure counts it, whatever its outcome',
    async run(s) {
      assert.equal((await s.addAfter('a', 100, { failed: true })).failures, 1)
      const again = await s.addAfter('a', 500, { failed: true })
      assert.equal(again.outcome, 'unchanged')
      assert.equal(again.failures, 2)
      const now = await s.add('a', { failed: true })
      assert.equal(now.failures, 3)
      assert.equal((await s.claimOne('a')).failures, 3)
    },
  },
  {
    id: 'failures.forget',
    title: 'forget resets the failures, and reports whether there were any',
    async run(s) {
      await s.addAfter('a', 100, { failed: true })
      assert.equal(await s.forget('a'), 'forgotten')
      assert.equal(await s.forget('a'), 'unchanged')
      assert.equal(await s.forget('unknown'), 'unchanged')
      const row = await s.row('a')
      assert.equal(row.failures, 0)
      assert.equal(row.dueAt, s.now() + 100, 'the pending run stays pending')
    },
  },
  {
    id: 'failures.forget.held',
    title: 'forget of a held key does not affect its holder',
    async run(s) {
      await s.add('a', { failed: true })
      const claim = await s.claimOne('a')
      assert.equal(await s.forget('a'), 'forgotten')
      await s.claimNone()
      assert.equal((await s.done(claim)).outcome, 'idle')
      assert.equal(await s.state('a'), 'gone')
    },
  },
  {
    id: 'failures.forget.idle',
    title: 'forget of a key with nothing but failures leaves no row',
    async run(s) {
      await s.add('a')
      await s.retry(await s.claimOne('a'), 0)
      await s.done(await s.claimOne('a'))
      assert.equal(await s.state('a'), 'idle')
      assert.equal(await s.forget('a'), 'forgotten')
      assert.equal(await s.state('a'), 'gone')
    },
  },
  {
    id: 'failures.expire.idle',
    title: 'the failures of an idle key read as zero once they have expired',
    async run(s) {
      const failuresExpireMs = 1_000
      await s.add('a', { failed: true })
      await s.done(await s.claimOne('a'))
      await s.step(999)
      assert.equal((await s.add('a', { failuresExpireMs })).failures, 1)
      await s.done(await s.claimOne('a'))
      await s.step(1)
      assert.equal((await s.add('a', { failuresExpireMs })).failures, 0)
      assert.equal((await s.claimOne('a')).failures, 0)
    },
  },
  {
    id: 'failures.expire.pending',
    title: 'the failures of a held or pending key do not expire',
    async run(s) {
      const failuresExpireMs = 1_000
      const failedAt = s.now()
      await s.addAfter('delayed', 100_000, { failed: true })
      await s.add('held', { failed: true })
      const claim = await s.claimOne('held', { leaseMs: 1_000_000 })
      await s.step(50_000)
      assert.equal((await s.add('delayed', { failuresExpireMs })).failures, 1)
      assert.equal((await s.row('delayed')).failedAt, failedAt)
      assert.equal((await s.add('held', { failuresExpireMs })).failures, 1)
      assert.equal((await s.retry(claim, 0, { failuresExpireMs })).failures, 2)
    },
  },
  {
    id: 'failures.expire.last-counts',
    title: 'failures expire a fixed time after the last of them, not after the first',
    async run(s) {
      const failuresExpireMs = 1_000
      await s.add('a', { failed: true })
      await s.step(900)
      await s.retry(await s.claimOne('a'), 0, { failuresExpireMs })
      await s.done(await s.claimOne('a'))
      await s.step(900)
      assert.equal((await s.add('a', { failuresExpireMs })).failures, 2)
    },
  },
]
