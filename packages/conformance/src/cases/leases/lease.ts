import assert from 'node:assert/strict'
import { leaseMsMax } from '@sluice/core'
import type { Case } from '../../case.ts'

/** How long a key is held, and what happens when its lease expires. */
export const leaseCases: readonly Case[] = [
  {
    id: 'lease.until',
    title: 'a claim reports the end of its lease',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a', { leaseMs: 1_234.5 })
      assert.equal(claim.leaseUntil, s.now() + 1_234.5)
    },
  },
  {
    id: 'lease.exclusive',
    title: 'a key is not handed out again while its lease lasts',
    async run(s) {
      await s.add('a')
      await s.claimOne('a', { leaseMs: 1_000 })
      await s.step(999)
      const { claims, leaseEnds } = await s.as('another').claim({ limit: 10 })
      assert.deepEqual(claims, [])
      assert.deepEqual(leaseEnds, [])
    },
  },
  {
    id: 'lease.end.reported.claim',
    title: 'a claim reports an expired lease, and does not take its key',
    async run(s) {
      await s.add('a')
      const { token } = await s.claimOne('a', { leaseMs: 1_000 })
      await s.step(1_000)
      const { claims, leaseEnds } = await s.claim({ limit: 10 })
      assert.deepEqual(claims, [])
      assert.deepEqual(leaseEnds, [{ key: 'a', token }])
    },
  },
  {
    id: 'lease.end.reported.tick',
    title: 'a tick reports an expired lease',
    async run(s) {
      await s.add('a')
      const { token } = await s.claimOne('a', { leaseMs: 1_000 })
      await s.step(999)
      assert.deepEqual((await s.tick()).leaseEnds, [])
      await s.step(1)
      assert.deepEqual((await s.as('another').tick()).leaseEnds, [{ key: 'a', token }])
    },
  },
  {
    id: 'lease.end.reported.bounded',
    title: 'expired leases are reported a bounded number at a time, and eventually all of them',
    async run(s) {
      await s.addAll(Array.from({ length: 25 }, (_, i) => `k${i}`))
      await s.claim({ limit: 25, leaseMs: 1_000 })
      await s.step(1_000)
      const seen = new Set<string>()
      for (let i = 0; i < 30 && seen.size < 25; i += 1) {
        const { leaseEnds } = await s.tick({ limit: 7 })
        assert.ok(leaseEnds.length <= 7)
        for (const { key } of leaseEnds) seen.add(key)
        if (leaseEnds.length > 0) await s.expireAll(leaseEnds)
      }
      assert.equal(seen.size, 25)
      assert.deepEqual(await s.states(), { ready: 25 })
    },
  },
  {
    id: 'lease.end.returns',
    title: 'the run of an expired lease is pending again, and counts a failure and a crash',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a', { leaseMs: 1_000 })
      await s.step(1_000)
      assert.equal(await s.expire(claim), 'expired')
      const again = await s.claimOne('a')
      assert.equal(again.failures, 1)
      assert.equal(again.crashes, 1)
      assert.equal(again.askedAt, claim.askedAt)
      assert.ok(again.token > claim.token)
    },
  },
  {
    id: 'lease.end.due-at',
    title: 'the lost run is due at the end of the lease, however late a process notices it',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a', { leaseMs: 1_000 })
      await s.step(5_000)
      await s.expire(claim)
      assert.equal((await s.row('a')).dueAt, claim.leaseUntil)
      await s.claimOne('a')
    },
  },
  {
    id: 'lease.end.dirty.once',
    title: 'a key that was added while its lease expired runs once, not twice',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a', { leaseMs: 1_000 })
      await s.add('a')
      await s.step(1_000)
      await s.expire(claim)
      await s.done(await s.claimOne('a'))
      await s.claimNone()
      assert.deepEqual(await s.states(), { idle: 1 })
    },
  },
  {
    id: 'lease.end.delayed.both',
    title: "under 'client-go', a delay of a key survives the end of its lease",
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a', { leaseMs: 1_000 })
      await s.addAfter('a', 5_000)
      await s.step(1_000)
      await s.expire(claim)
      await s.done(await s.claimOne('a'))
      await s.claimNone()
      await s.step(4_000)
      // The lost run comes second, and is in back-off.
      const again = await s.claimOne('a', { leaseMs: 1_000 })
      await s.addAfter('a', 3_000)
      await s.step(1_000)
      await s.expire(again, { plan: { kind: 'exponential', baseMs: 5_000, maxMs: 5_000 } })
      await s.step(2_000)
      await s.done(await s.claimOne('a'))
      assert.equal(await s.state('a'), 'backoff')
    },
  },
  {
    id: 'lease.end.delayed.one',
    title: "under 'earliest', the lost run and a later delay are merged into one run",
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a', { leaseMs: 1_000 })
      await s.addAfter('a', 5_000)
      await s.step(1_000)
      await s.expire(claim, { dedupe: 'earliest' })
      await s.done(await s.claimOne('a'))
      await s.step(4_000)
      await s.claimNone()
    },
  },
  {
    id: 'lease.end.not-expired',
    title: 'a lease that has not expired cannot be ended by another process',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a', { leaseMs: 1_000 })
      await s.step(999)
      assert.equal(await s.expire(claim), 'lost')
      await s.claimNone()
      const reply = await s.done(claim)
      assert.equal(reply.outcome, 'idle')
      assert.equal(await s.state('a'), 'gone')
    },
  },
  {
    id: 'lease.end.once',
    title: 'the end of a lease counts once, even if it is reported again',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a', { leaseMs: 1_000 })
      await s.step(1_000)
      assert.equal(await s.expire(claim), 'expired')
      assert.equal(await s.expire(claim), 'lost')
      assert.equal((await s.row('a')).failures, 1)
    },
  },
  {
    id: 'lease.end.next-holder',
    title: 'a late report of an expired lease does not affect the next holder',
    async run(s) {
      await s.add('a')
      const first = await s.claimOne('a', { leaseMs: 1_000 })
      await s.step(1_000)
      await s.expire(first)
      const second = await s.as('another').claimOne('a', { leaseMs: 1_000 })
      await s.step(1_000)
      assert.equal(await s.expire(first), 'lost')
      await s.claimNone()
      assert.equal((await s.done(second)).outcome, 'idle')
    },
  },
  {
    id: 'lease.end.renewed',
    title: 'a lease that was renewed after it was reported as expired does not end',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a', { leaseMs: 1_000 })
      await s.step(1_000)
      const { leaseEnds } = await s.tick()
      assert.equal(leaseEnds.length, 1)
      assert.equal((await s.renew(claim, 1_000)).outcome, 'renewed')
      assert.deepEqual(await s.expireAll(leaseEnds), ['lost'])
      await s.claimNone()
    },
  },
  {
    id: 'lease.end.done',
    title: 'a key that was done after its lease was reported as expired does not run again',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a', { leaseMs: 1_000 })
      await s.step(1_000)
      const { leaseEnds } = await s.claim()
      assert.equal((await s.done(claim)).outcome, 'idle')
      assert.deepEqual(await s.expireAll(leaseEnds), ['lost'])
      await s.claimNone()
    },
  },
  {
    id: 'lease.expired.done-accepted',
    title: 'a holder can finish after its lease has expired, until another process ends the lease',
    async run(s) {
      await s.addAll(['done', 'retry', 'release'])
      const { claims } = await s.claim({ limit: 3, leaseMs: 1_000 })
      await s.step(60_000)
      const [done, retry, release] = claims
      assert.ok(done && retry && release)
      assert.equal((await s.done(done)).outcome, 'idle')
      assert.equal((await s.retry(retry, 10)).outcome, 'delayed')
      assert.equal((await s.release(release)).outcome, 'ready')
      assert.deepEqual((await s.claim()).leaseEnds, [])
    },
  },
  {
    id: 'lease.renew.extends',
    title: 'a renewed lease lasts from the renewal on',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a', { leaseMs: 1_000 })
      await s.step(600)
      const reply = await s.renew(claim, 1_000)
      assert.equal(reply.outcome, 'renewed')
      assert.equal(reply.leaseUntil, s.now() + 1_000)
      await s.step(999)
      assert.deepEqual((await s.claim()).leaseEnds, [])
      await s.step(1)
      assert.equal((await s.claim()).leaseEnds.length, 1)
    },
  },
  {
    id: 'lease.renew.never-shortens',
    title: 'a renewal does not shorten a lease',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a', { leaseMs: 10_000 })
      const reply = await s.renew(claim, 1_000)
      assert.equal(reply.outcome, 'renewed')
      assert.equal(reply.leaseUntil, claim.leaseUntil)
      await s.step(9_999)
      assert.deepEqual((await s.claim()).leaseEnds, [])
    },
  },
  {
    id: 'lease.renew.late',
    title: 'an expired lease can be renewed until another process ends it',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a', { leaseMs: 1_000 })
      await s.step(5_000)
      assert.equal((await s.renew(claim, 1_000)).outcome, 'renewed')
      assert.deepEqual((await s.claim()).leaseEnds, [])
      assert.equal((await s.done(claim)).outcome, 'idle')
    },
  },
  {
    id: 'lease.renew.changes-nothing-else',
    title: 'a renewal changes nothing but the lease',
    async run(s) {
      await s.add('a', { item: '1' })
      const claim = await s.claimOne('a', { leaseMs: 1_000 })
      await s.addAfter('a', 100, { item: '2', priority: 3 })
      const { leaseUntil: _, ...before } = await s.row('a')
      await s.renew(claim, 5_000)
      const { leaseUntil: __, ...after } = await s.row('a')
      assert.deepEqual(after, before)
    },
  },
  {
    id: 'lease.renew.batch',
    title: 'leases are renewed in one batch; a lost lease is lost alone',
    async run(s) {
      await s.addAll(['a', 'b', 'c'])
      const { claims } = await s.claim({ limit: 3, leaseMs: 1_000 })
      const [a, b, c] = claims
      assert.ok(a && b && c)
      await s.done(b)
      const replies = await s.driver.renew(s.queue, [a, b, c], 5_000)
      assert.deepEqual(
        replies.map(({ outcome }) => outcome),
        ['renewed', 'lost', 'renewed'],
      )
      await s.step(4_999)
      assert.deepEqual((await s.claim()).leaseEnds, [])
    },
  },
  {
    id: 'lease.none',
    title: 'a claim without a lease is held until it is finished',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a', { leaseMs: Infinity })
      assert.equal(claim.leaseUntil, Infinity)
      assert.equal((await s.tick()).nextAt, Infinity)
      await s.step(10 * 365 * 86_400_000)
      const { claims, leaseEnds } = await s.claim()
      assert.deepEqual([claims, leaseEnds], [[], []])
      assert.equal((await s.renew(claim, 1_000)).leaseUntil, Infinity)
      assert.equal((await s.done(claim)).outcome, 'idle')
    },
  },
  {
    id: 'lease.waited-long',
    title: 'a key that waited longer than a lease lasts is held for the whole lease',
    async run(s) {
      await s.add('a')
      await s.step(100_000)
      const claim = await s.claimOne('a', { leaseMs: 1_000 })
      assert.equal(claim.leaseUntil, s.now() + 1_000)
      assert.deepEqual((await s.claim()).leaseEnds, [])
    },
  },
  {
    id: 'lease.end.batch',
    title: 'expired leases are ended in one batch; one that has not expired is lost alone',
    async run(s) {
      await s.addAll(['a', 'b', 'c'])
      const { claims } = await s.claim({ limit: 3, leaseMs: 1_000 })
      const [a, b, c] = claims
      assert.ok(a && b && c)
      await s.renew(b, 5_000)
      await s.step(1_000)
      assert.deepEqual(await s.expireAll([c, b, { key: 'unknown', token: 1 }, a]), [
        'expired',
        'lost',
        'lost',
        'expired',
      ])
      assert.deepEqual(await s.states(), { ready: 2, processing: 1 })
    },
  },
  {
    id: 'lease.longest',
    title: 'a lease of a day lasts a day, and one that was renewed without an end has none',
    async run(s) {
      await s.addAll(['day', 'none'])
      const day = await s.claimOne(undefined, { leaseMs: leaseMsMax })
      const none = await s.claimOne(undefined, { leaseMs: 1_000 })
      assert.equal((await s.renew(none, Infinity)).leaseUntil, Infinity)
      assert.equal((await s.renew(none, 1_000)).leaseUntil, Infinity)
      await s.step(leaseMsMax - 1)
      assert.deepEqual((await s.tick()).leaseEnds, [])
      await s.step(1)
      assert.deepEqual((await s.tick()).leaseEnds, [{ key: day.key, token: day.token }])
    },
  },
]
