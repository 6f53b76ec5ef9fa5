import assert from 'node:assert/strict'
import { type AskReply, type LimiterPlan, SluiceError } from '@sluice/core'
import type { Case } from '../../case.ts'

const doubling: LimiterPlan = { kind: 'exponential', baseMs: 5, maxMs: 1_000 }
/** The bucket that every driver has: the queue's own. */
const bucket: LimiterPlan = { kind: 'bucket', name: 'queue:q', perSecond: 10, burst: 1 }
const both: LimiterPlan = { kind: 'maxOf', of: [doubling, bucket] }

/** Limiters that the store follows: the delay is computed where the failures are counted. */
export const planCases: readonly Case[] = [
  {
    id: 'plan.add.delay',
    title: 'an add with a plan is due after the delay that the plan gives for its failures',
    async run(s) {
      for (const plannedMs of [5, 10, 20, 40]) {
        const reply = await s.add('a', { plan: doubling, failed: true })
        assert.equal(reply.plannedMs, plannedMs)
      }
      const row = await s.row('a')
      assert.equal(row.failures, 4)
      assert.equal(row.dueAt, s.now() + 5, 'the earliest of the four counts')
      assert.equal(row.state, 'backoff')
    },
  },
  {
    id: 'plan.add.capped',
    title: 'a plan respects its maximum for any number of failures',
    async run(s) {
      const plan: LimiterPlan = { kind: 'exponential', baseMs: 100, maxMs: 300 }
      const planned: (number | undefined)[] = []
      for (let i = 0; i < 4; i += 1) {
        planned.push((await s.add('a', { plan, failed: true })).plannedMs)
      }
      assert.deepEqual(planned, [100, 200, 300, 300])
    },
  },
  {
    id: 'plan.add.delay-ignored',
    title: 'if an add has a plan, its delay is ignored',
    async run(s) {
      const reply = await s.add('a', { plan: doubling, delayMs: 100_000 })
      assert.equal(reply.dueAt, s.now() + 5)
    },
  },
  {
    id: 'plan.add.fast-slow',
    title: 'a fast-slow plan changes to the slow delay after its fast failures',
    async run(s) {
      const plan: LimiterPlan = { kind: 'fastSlow', fastMs: 3, slowMs: 70, maxFast: 2 }
      const planned: (number | undefined)[] = []
      for (let i = 0; i < 3; i += 1) {
        planned.push((await s.add('a', { plan, failed: true })).plannedMs)
      }
      assert.deepEqual(planned, [3, 3, 70])
    },
  },
  {
    id: 'plan.add.jitter',
    title: 'the random part of a plan is the one that the caller drew',
    async run(s) {
      const plan: LimiterPlan = { kind: 'jittered', of: doubling, factor: 2 }
      assert.equal((await s.add('a', { plan, jitter: 0 })).plannedMs, 5)
      assert.equal((await s.add('b', { plan, jitter: 0.5 })).plannedMs, 10)
    },
  },
  {
    id: 'plan.add.max-wait',
    title: 'a plan with a maximum wait respects it',
    async run(s) {
      const slow: LimiterPlan = { kind: 'bucket', name: 'queue:q', perSecond: 0.01, burst: 1 }
      const plan: LimiterPlan = { kind: 'maxWait', of: slow, maxMs: 250 }
      const replies = await s.addAll(['a', 'b'].map((key) => s.ask(key, { plan })))
      assert.deepEqual(
        replies.map(({ plannedMs }) => plannedMs),
        [0, 250],
      )
    },
  },
  {
    id: 'plan.retry.delay',
    title: 'a retry with a plan is due after the delay for the failures before it',
    async run(s) {
      await s.add('a')
      for (const delayMs of [5, 10, 20]) {
        const reply = await s.retry(await s.claimOne('a'), 0, { plan: doubling })
        assert.equal(reply.dueAt, s.now() + delayMs)
        await s.step(delayMs)
      }
    },
  },
  {
    id: 'plan.retry.forgotten',
    title: 'after a forget, back-off starts over',
    async run(s) {
      await s.add('a')
      for (let i = 0; i < 4; i += 1) await s.retry(await s.claimOne('a'), 0)
      const claim = await s.claimOne('a')
      await s.forget('a')
      assert.equal((await s.retry(claim, 0, { plan: doubling })).dueAt, s.now() + 5)
    },
  },
  {
    id: 'plan.expired-failures',
    title: 'expired failures do not lengthen a delay',
    async run(s) {
      await s.add('a', { failed: true })
      await s.done(await s.claimOne('a'))
      await s.step(1_000)
      const reply = await s.add('a', { plan: doubling, failed: true, failuresExpireMs: 1_000 })
      assert.equal(reply.plannedMs, 5)
      assert.equal(reply.failures, 1)
    },
  },
  {
    id: 'plan.expire.per-key',
    title: 'the end of a lease uses the per-key part of a plan, and takes no token from a bucket',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a', { leaseMs: 1_000 })
      await s.step(1_000)
      await s.expire(claim, { plan: both })
      assert.equal((await s.row('a')).dueAt, claim.leaseUntil + 5)
      assert.equal((await s.add('b', { plan: bucket })).plannedMs, 0, 'the token is still there')
    },
  },
  {
    id: 'plan.expire.from-lease-end',
    title:
      'back-off after an expired lease counts from its end, not from when a process noticed it',
    async run(s) {
      const plan: LimiterPlan = { kind: 'exponential', baseMs: 500, maxMs: 60_000 }
      await s.addAll(['soon', 'late'])
      const { claims } = await s.claim({ limit: 2, leaseMs: 1_000 })
      const soon = claims.find(({ key }) => key === 'soon')
      const late = claims.find(({ key }) => key === 'late')
      assert.ok(soon && late)
      await s.step(1_100)
      await s.expire(soon, { plan })
      assert.equal((await s.row('soon')).dueAt, soon.leaseUntil + 500)
      assert.equal(await s.state('soon'), 'backoff')
      await s.step(5_000)
      await s.expire(late, { plan })
      assert.equal(await s.state('late'), 'ready')
    },
  },
  {
    id: 'bucket.charged',
    title: 'every add that takes effect takes one token, and waits until it is available',
    async run(s) {
      const planned = async (keys: readonly string[]): Promise<(number | undefined)[]> => {
        const replies: AskReply[] = []
        for (const key of keys) replies.push(await s.add(key, { plan: bucket }))
        return replies.map(({ plannedMs }) => plannedMs)
      }
      assert.deepEqual(await planned(['a', 'b', 'c', 'd']), [0, 100, 200, 300])
      await s.step(300)
      const { claims } = await s.claim({ limit: 4 })
      assert.deepEqual(claims.map(({ key }) => key).sort(), ['a', 'b', 'c', 'd'])
      // Also an add of a held key, or of a delayed key that it moves.
      await s.addAfter('delayed', 10_000)
      assert.deepEqual(await planned(['a', 'b', 'delayed', 'e']), [100, 200, 300, 400])
    },
  },
  {
    id: 'bucket.batch',
    title: 'the adds of one batch take their tokens one after another',
    async run(s) {
      const replies = await s.addAll(['a', 'b', 'c'].map((key) => s.ask(key, { plan: bucket })))
      assert.deepEqual(
        replies.map(({ plannedMs }) => plannedMs),
        [0, 100, 200],
      )
    },
  },
  {
    id: 'bucket.refills',
    title: 'tokens are refilled over time, up to the capacity of the bucket',
    async run(s) {
      const plan: LimiterPlan = { kind: 'bucket', name: 'queue:q', perSecond: 10, burst: 2 }
      const ask = async (key: string): Promise<number | undefined> =>
        (await s.add(key, { plan })).plannedMs
      assert.deepEqual([await ask('a'), await ask('b'), await ask('c')], [0, 0, 100])
      await s.step(60_000)
      assert.deepEqual([await ask('d'), await ask('e'), await ask('f')], [0, 0, 100])
    },
  },
  {
    id: 'bucket.unchanged.free',
    title: 'an add that changes nothing costs no token, and still counts its failure',
    async run(s) {
      await s.add('a', { dedupe: 'earliest' })
      for (let i = 0; i < 3; i += 1) {
        const reply = await s.add('a', { plan: bucket, failed: true, dedupe: 'earliest' })
        assert.equal(reply.outcome, 'unchanged')
        assert.equal(reply.failures, i + 1)
      }
      assert.equal((await s.add('b', { plan: bucket })).plannedMs, 0)
    },
  },
  {
    id: 'bucket.unchanged.delayed.free',
    title: 'an add that changes nothing because of an earlier delay costs no token',
    async run(s) {
      await s.addAfter('a', 50)
      const slow: LimiterPlan = { kind: 'maxOf', of: [{ ...doubling, baseMs: 60 }, bucket] }
      assert.equal((await s.add('a', { plan: slow })).outcome, 'unchanged')
      assert.equal((await s.add('b', { plan: bucket })).plannedMs, 0)
    },
  },
  {
    id: 'bucket.lost.free',
    title: 'a retry that is lost costs no token',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      await s.done(claim)
      assert.equal((await s.retry(claim, 0, { plan: bucket })).outcome, 'lost')
      assert.equal((await s.add('b', { plan: bucket })).plannedMs, 0)
    },
  },
  {
    id: 'bucket.retry.charged',
    title: 'a retry takes a token from the same bucket as adds do',
    async run(s) {
      await s.addAll(['a', 'b', 'c'])
      const { claims } = await s.claim({ limit: 3 })
      const [a, b, again] = claims
      assert.ok(a && b && again)
      assert.equal((await s.retry(a, 0, { plan: bucket })).dueAt, s.now())
      assert.equal((await s.retry(b, 0, { plan: bucket })).dueAt, s.now() + 100)
      // Also where the delay is not used, since the key was added again.
      await s.add(again.key)
      assert.equal((await s.retry(again, 0, { plan: bucket, dedupe: 'earliest' })).dueAt, s.now())
      assert.equal((await s.add('d', { plan: bucket })).plannedMs, 300)
    },
  },
  {
    id: 'bucket.shared.queues',
    title: 'queues share a bucket by its name',
    needs: { sharedBuckets: true },
    async run(s) {
      await s.add('a', { plan: bucket })
      assert.equal((await s.on('other').add('a', { plan: bucket })).plannedMs, 100)
      const own: LimiterPlan = { kind: 'bucket', name: 'own', perSecond: 10, burst: 1 }
      assert.equal((await s.on('other').add('b', { plan: own })).plannedMs, 0)
    },
  },
  {
    id: 'bucket.shared.peers',
    title: 'processes share a bucket by its name',
    needs: { peers: true },
    async run(s) {
      const other = await s.peer()
      await s.add('a', { plan: bucket })
      assert.equal((await other.add('b', { plan: bucket })).plannedMs, 100)
      assert.equal((await s.add('c', { plan: bucket })).plannedMs, 200)
    },
  },
  {
    id: 'bucket.shared.rejected',
    title:
      'a driver whose queues share no buckets rejects a plan with any other bucket than the own',
    async run(s) {
      const plan: LimiterPlan = { ...bucket, name: 'queue:other' } as LimiterPlan
      const asking = s.driver.add(s.queue, [s.ask('a', { plan })], s.options())
      if (s.driver.capabilities.sharedBuckets) {
        await asking
        assert.equal((await s.add('b', { plan })).plannedMs, 100)
        assert.equal((await s.add('c', { plan: bucket })).plannedMs, 0)
        return
      }
      await assert.rejects(
        async () => await asking,
        (error) => SluiceError.is(error, 'ERR_INVALID_INPUT'),
      )
      assert.deepEqual(await s.states(), {})
      assert.equal((await s.add('a', { plan: bucket })).plannedMs, 0)
    },
  },
  {
    id: 'bucket.several',
    title: 'a plan with several buckets takes a token from each of them',
    needs: { sharedBuckets: true },
    async run(s) {
      const slow: LimiterPlan = { kind: 'bucket', name: 'slow', perSecond: 1, burst: 1 }
      const plan: LimiterPlan = { kind: 'maxOf', of: [bucket, slow] }
      assert.equal((await s.add('a', { plan })).plannedMs, 0)
      assert.equal((await s.add('b', { plan })).plannedMs, 1_000)
      assert.equal((await s.add('c', { plan: bucket })).plannedMs, 200)
    },
  },
  {
    id: 'bucket.never',
    title: 'a bucket that never fills delays a key by the longest possible delay',
    async run(s) {
      const plan: LimiterPlan = { kind: 'bucket', name: 'queue:q', perSecond: 0, burst: 0 }
      const { plannedMs, dueAt } = await s.add('a', { plan })
      assert.equal(plannedMs, 10 * 365.25 * 86_400_000)
      assert.ok(Number.isFinite(dueAt))
    },
  },
  {
    id: 'bucket.infinite',
    title: 'a bucket without a limit delays nothing',
    async run(s) {
      const plan: LimiterPlan = { kind: 'bucket', name: 'queue:q', perSecond: 'infinite', burst: 1 }
      for (const key of ['a', 'b', 'c']) assert.equal((await s.add(key, { plan })).plannedMs, 0)
    },
  },
  {
    id: 'bucket.listed',
    title: 'buckets are listed with their tokens',
    needs: { buckets: true },
    async run(s) {
      await s.addAll(['a', 'b'].map((key) => s.ask(key, { plan: bucket })))
      const rows = await s.driver.buckets?.()
      assert.deepEqual(rows, [
        { name: 'queue:q', perSecond: 10, burst: 1, tokens: -1, at: s.now() },
      ])
    },
  },
  {
    id: 'plan.jitter.failed',
    title: 'a retry and the end of a lease use the random part that the caller drew, too',
    async run(s) {
      const of = { kind: 'exponential', baseMs: 100, maxMs: 1_000 } as const
      const plan: LimiterPlan = { kind: 'jittered', of, factor: 1 }
      await s.add('a')
      const reply = await s.retry(await s.claimOne('a'), 0, { plan, jitter: 0.5 })
      assert.equal(reply.dueAt, s.now() + 150)
      await s.step(150)
      const claim = await s.claimOne('a', { leaseMs: 100 })
      await s.step(100)
      await s.expire(claim, { plan, jitter: 0.25 })
      assert.equal((await s.row('a')).dueAt, s.now() + 250)
    },
  },
  {
    id: 'plan.answer',
    title: 'an answer has the delay of its plan, even if it was merged, and none without a plan',
    async run(s) {
      const plan: LimiterPlan = { kind: 'exponential', baseMs: 100, maxMs: 1_000 }
      await s.add('merged')
      const asks = [s.ask('planned', { plan }), s.ask('plain', { delayMs: 50 })]
      const replies = await s.addAll([...asks, s.ask('merged', { plan }), 'now'], {
        dedupe: 'earliest',
      })
      assert.deepEqual(
        replies.map(({ plannedMs }) => plannedMs),
        [100, undefined, 100, undefined],
      )
    },
  },
]
