import assert from 'node:assert/strict'
import type { Case } from '../case.ts'

const hour = 3_600_000

/** Clocks that somebody sets. */
export const clockCases: readonly Case[] = [
  {
    id: 'clock.back.nothing-lost',
    title:
      'when the clock is put back nothing is lost: what was owed comes when its time comes again',
    async run(s) {
      await s.addAll(['ready', s.ask('delayed', { delayMs: 100 })])
      s.clock.setTime(s.now() - hour)
      await s.add('new')
      await s.claimOne('new')
      await s.step(hour + 100)
      assert.deepEqual((await s.claimKeys()).sort(), ['delayed', 'ready'])
    },
  },
  {
    id: 'clock.back.add-now',
    title: 'when the clock is put back, an add of a waiting key makes it ready at once',
    async run(s) {
      await s.add('a')
      s.clock.setTime(s.now() - hour)
      await s.add('a', { dedupe: 'earliest' })
      await s.claimOne('a')
    },
  },
  {
    id: 'clock.back.held',
    title: 'when the clock is put back, a lease lasts longer by that, and its token stays good',
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a', { leaseMs: 1_000 })
      s.clock.setTime(s.now() - hour)
      assert.deepEqual((await s.claim()).leaseEnds, [])
      await s.step(hour)
      assert.deepEqual((await s.claim()).leaseEnds, [])
      assert.equal((await s.renew(claim, 1_000)).outcome, 'renewed')
      assert.equal((await s.done(claim)).outcome, 'idle')
    },
  },
  {
    id: 'clock.back.tokens',
    title: 'tokens rise also while the clock goes back',
    async run(s) {
      let last = 0
      for (let i = 0; i < 4; i += 1) {
        await s.add('a')
        const claim = await s.claimOne('a')
        assert.ok(claim.token > last)
        last = claim.token
        await s.done(claim)
        s.clock.setTime(s.now() - hour)
      }
    },
  },
  {
    id: 'clock.back.bucket',
    title: 'when the clock is put back, a bucket neither fills nor stops filling',
    async run(s) {
      const plan = { kind: 'bucket', name: 'b', perSecond: 10, burst: 1 } as const
      assert.equal((await s.add('a', { plan })).plannedMs, 0)
      s.clock.setTime(s.now() - hour)
      assert.equal((await s.add('b', { plan })).plannedMs, 100)
      await s.step(200)
      assert.equal((await s.add('c', { plan })).plannedMs, 0)
    },
  },
  {
    id: 'clock.forward',
    title: 'when the clock is put forward delays and leases are over, and a holder can still renew',
    async run(s) {
      await s.addAll(['held', s.ask('delayed', { delayMs: hour })])
      const claim = await s.claimOne('held', { leaseMs: 1_000 })
      s.clock.setTime(s.now() + hour)
      const { claims, leaseEnds } = await s.claim()
      assert.deepEqual(
        claims.map(({ key }) => key),
        ['delayed'],
      )
      assert.deepEqual(leaseEnds, [{ key: 'held', token: claim.token }])
      assert.equal((await s.renew(claim, 1_000)).outcome, 'renewed')
      assert.deepEqual(await s.expireAll(leaseEnds), ['lost'])
      assert.equal((await s.done(claim)).outcome, 'idle')
    },
  },
]
