import assert from 'node:assert/strict'
import type { Case } from '../../case.ts'
import { otherProcess } from '../../scene/other-scene.ts'
import type { Scene } from '../../scene/scene.ts'

const hour = 3_600_000
const tenYears = 10 * 365.25 * 24 * hour

/** Instants are doubles, and stores may add them in different orders. */
const toleranceMs = 0.001

/** Sets the wall clock; the monotonic clock is not affected. */
function stepWall(s: Scene, ms: number): void {
  s.log.write(`the wall clock is set by ${ms} ms`)
  s.clock.setTime(s.now() + ms)
}

/** The time of the store, as each verb that reports it does. */
async function times(s: Scene): Promise<readonly number[]> {
  const claimed = (await s.claim({ limit: 1 })).now
  const ticked = (await s.tick()).now
  return [claimed, ticked, (await s.list()).now]
}

function assertNear(actual: number, expected: number, what: string): void {
  assert.ok(Math.abs(actual - expected) <= toleranceMs, `${what}: ${actual}, not ${expected}`)
}

/** Wall clocks that are set, by an operator or a time server. */
export const clockCases: readonly Case[] = [
  {
    id: 'clock.never-back',
    title: 'the time of the store never goes back, and advances by elapsed time after each step',
    async run(s) {
      let last = (await s.list()).now
      for (const ms of [-1, -999, -1_000, -hour, hour, -30_000, -hour, tenYears, -tenYears, -500]) {
        stepWall(s, ms)
        for (const now of await times(s)) {
          assert.ok(now >= last - toleranceMs, `${now} after ${last}, for a step of ${ms} ms`)
          last = now
        }
        await s.step(250)
        for (const now of await times(s)) assertNear(now, last + 250, 'the time after 250 ms')
        last += 250
      }
    },
  },
  {
    id: 'clock.back.nothing-lost',
    title: 'when the wall clock is set back, ready keys stay ready and delays end on time',
    async run(s) {
      await s.addAll(['ready', s.ask('delayed', { delayMs: 100 }), s.ask('far', { delayMs: hour })])
      stepWall(s, -hour)
      await s.claimOne('ready')
      await s.add('new')
      await s.claimOne('new')
      await s.step(99)
      await s.claimNone()
      await s.step(1)
      await s.claimOne('delayed')
      await s.step(hour - 101)
      await s.claimNone()
      await s.step(1)
      await s.claimOne('far')
    },
  },
  {
    id: 'clock.back.counted',
    title: 'when the wall clock is set back, ready keys are counted and listed as ready',
    async run(s) {
      await s.addAll(['ready', s.ask('delayed', { delayMs: 100 })])
      const held = await s.claimOne('ready')
      await s.add('ready')
      await s.done(held)
      stepWall(s, -hour)
      assert.deepEqual(await s.states(), { ready: 1, delayed: 1 })
      assert.equal(await s.state('ready'), 'ready')
      assert.deepEqual(
        (await s.list({ state: 'delayed' })).rows.map(({ key }) => key),
        ['delayed'],
      )
    },
  },
  {
    id: 'clock.back.next',
    title:
      'when the wall clock is set back, a tick still reports the time until the next key is due',
    async run(s) {
      await s.addAfter('delayed', 5_000)
      stepWall(s, -hour)
      const { now, nextAt } = await s.tick()
      assertNear(nextAt - now, 5_000, 'how long')
      await s.step(2_000)
      const later = await s.tick()
      assertNear(later.nextAt - later.now, 3_000, 'how long')
    },
  },
  {
    id: 'clock.back.add-now',
    title: 'when the wall clock is set back, an add of a waiting key makes it ready at once',
    async run(s) {
      await s.add('a')
      await s.addAfter('later', 5_000)
      stepWall(s, -hour)
      await s.add('a', { dedupe: 'earliest' })
      await s.claimOne('a')
      assert.equal((await s.add('later', { dedupe: 'earliest' })).outcome, 'moved')
      await s.claimOne('later')
    },
  },
  {
    id: 'clock.back.backoff',
    title: 'when the wall clock is set back, a key in back-off is due on time',
    async run(s) {
      await s.add('a')
      await s.retry(await s.claimOne('a'), 500)
      await s.step(200)
      stepWall(s, -hour)
      await s.step(299)
      await s.claimNone()
      await s.step(1)
      await s.claimOne('a')
    },
  },
  {
    id: 'clock.back.held',
    title: 'when the wall clock is set back, leases get neither longer nor shorter',
    async run(s) {
      await s.add('a')
      const first = await s.claimOne('a', { leaseMs: 1_000 })
      await s.add('b')
      const second = await s.claimOne('b', { leaseMs: 1_000 })
      await s.step(300)
      stepWall(s, -hour)
      assert.deepEqual((await s.claim()).leaseEnds, [])
      const renewed = await s.renew(second, 1_000)
      assert.equal(renewed.outcome, 'renewed')
      assertNear(renewed.leaseUntil, second.leaseUntil + 300, 'the end of the renewed lease')
      await s.step(699)
      assert.deepEqual((await s.tick()).leaseEnds, [])
      await s.step(1)
      const ends = [{ key: 'a', token: first.token }]
      assert.deepEqual((await s.claim()).leaseEnds, ends)
      assert.deepEqual((await s.tick()).leaseEnds, ends)
      await s.step(299)
      assert.equal((await s.tick()).leaseEnds.length, 1)
      await s.step(1)
      assert.equal((await s.tick()).leaseEnds.length, 2)
      assert.equal(await s.expire(first), 'expired')
      assert.equal((await s.done(second)).outcome, 'idle')
    },
  },
  {
    id: 'clock.back.order',
    title: 'keys that are added after the wall clock was set back come after those from before',
    needs: { order: 'per-producer' },
    async run(s) {
      await s.addAll(['b1', 'b2'])
      await s.step(10)
      stepWall(s, -hour)
      await s.addAll(['a1', 'a2'])
      assert.deepEqual(await s.claimKeys(), ['b1', 'b2', 'a1', 'a2'])
    },
  },
  {
    id: 'clock.back.tokens',
    title: 'tokens keep rising while the wall clock is set back',
    async run(s) {
      let last = 0
      for (let i = 0; i < 4; i += 1) {
        await s.add('a')
        const claim = await s.claimOne('a')
        assert.ok(claim.token > last)
        last = claim.token
        await s.done(claim)
        stepWall(s, -hour)
      }
    },
  },
  {
    id: 'clock.back.bucket',
    title:
      'when the wall clock is set back, a bucket is neither filled at once nor stops refilling',
    async run(s) {
      const plan = { kind: 'bucket', name: 'queue:q', perSecond: 10, burst: 1 } as const
      assert.equal((await s.add('a', { plan })).plannedMs, 0)
      stepWall(s, -hour)
      assert.equal((await s.add('b', { plan })).plannedMs, 100)
      await s.step(200)
      assert.equal((await s.add('c', { plan })).plannedMs, 0)
    },
  },
  {
    id: 'clock.back.restart',
    title: 'a store that is opened after the wall clock was set back continues from its own time',
    needs: { durable: true },
    async run(s) {
      await s.addAll(['ready', s.ask('delayed', { delayMs: 5_000 })])
      stepWall(s, -hour)
      await s.add('new')
      const before = (await s.list()).now
      const again = await s.restart()
      assert.ok((await again.list()).now >= before - toleranceMs)
      assert.deepEqual((await again.claimKeys()).sort(), ['new', 'ready'])
      await s.step(5_000)
      assert.deepEqual(await again.claimKeys(), ['delayed'])
    },
  },
  {
    id: 'clock.back.closed',
    title:
      'a wall clock that is set back while no process has the store open loses at most a second',
    needs: { durable: true },
    async run(s) {
      await s.addAll(['ready', s.ask('delayed', { delayMs: 5_000 })])
      const before = (await s.list()).now
      const { restart } = s.context.subject
      assert.ok(restart, 'a subject whose driver declares durable has to give restart')
      await s.close()
      stepWall(s, -hour)
      const again = await s.openOn(await restart(), 'one', 'restarted: ')
      assert.ok((await again.list()).now >= before - 1_000)
      await s.step(1_000)
      assert.deepEqual(await again.claimKeys(), ['ready'])
      await s.step(5_000)
      assert.deepEqual(await again.claimKeys(), ['delayed'])
    },
  },
  {
    id: 'clock.back.peers',
    title: 'drivers on one store agree on its time while the wall clock is set back',
    needs: { peers: true },
    async run(s) {
      const before = await s.peer()
      await s.addAfter('delayed', 100)
      await before.add('first')
      stepWall(s, -hour)
      const last = (await before.list()).now
      await before.add('second')
      const after = await s.peer('three')
      for (const each of [s, before, after]) {
        assert.ok((await each.list()).now >= last - toleranceMs)
        assert.deepEqual(await each.states(), { ready: 2, delayed: 1 })
      }
      assert.deepEqual((await after.claimKeys()).sort(), ['first', 'second'])
      await s.step(100)
      await s.claimOne('delayed')
    },
  },
  {
    id: 'clock.back.processes',
    title: 'processes on one store agree on its time while the wall clock is set back',
    needs: { shared: true, otherProcess: true },
    async run(s) {
      const { scene: before } = await otherProcess(s, 'before')
      await s.addAll(['first', s.ask('delayed', { delayMs: 100 })])
      assert.deepEqual(await before.states(), { ready: 1, delayed: 1 })
      stepWall(s, -hour)
      await s.add('second')
      const last = (await s.list()).now
      assert.ok((await before.tick()).now >= last - toleranceMs)
      assert.deepEqual(await before.states(), { ready: 2, delayed: 1 })
      assert.deepEqual((await before.claimKeys()).sort(), ['first', 'second'])
      await s.step(99)
      await before.claimNone()
      await s.step(1)
      await before.claimOne('delayed')
    },
  },
  {
    id: 'clock.back.later-process',
    title:
      'a process that starts after the wall clock was set back continues from the store’s time',
    needs: { shared: true, otherProcess: true },
    async run(s) {
      await s.addAll(['ready', s.ask('delayed', { delayMs: 5_000 })])
      stepWall(s, -hour)
      await s.add('new')
      const last = (await s.list()).now
      const { scene: later } = await otherProcess(s, 'later')
      assert.ok((await later.tick()).now >= last - toleranceMs)
      assert.deepEqual(await later.states(), { ready: 2, delayed: 1 })
      assert.deepEqual((await later.claimKeys()).sort(), ['new', 'ready'])
      await s.step(4_999)
      await later.claimNone()
      await s.step(1)
      await later.claimOne('delayed')
    },
  },
  {
    id: 'clock.forward',
    title: 'a wall clock that is set forward ends delays and leases, and a holder can still renew',
    needs: { time: 'wall' },
    async run(s) {
      await s.addAll(['held', s.ask('delayed', { delayMs: hour })])
      const claim = await s.claimOne('held', { leaseMs: 1_000 })
      stepWall(s, hour)
      const { claims, leaseEnds, now } = await s.claim()
      assertNear(now, s.now(), 'the time')
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
  {
    id: 'clock.forward.undone',
    title:
      'when a wall clock is set forward and back again, delays that are requested then end on time',
    needs: { time: 'wall' },
    async run(s) {
      stepWall(s, hour)
      await s.addAll(['ready', s.ask('delayed', { delayMs: 1_000 })])
      stepWall(s, -hour)
      await s.claimOne('ready', { leaseMs: 500 })
      await s.addAfter('next', 1_000)
      await s.step(499)
      assert.deepEqual((await s.tick()).leaseEnds, [])
      await s.step(1)
      assert.equal((await s.tick()).leaseEnds.length, 1)
      await s.step(499)
      await s.claimNone()
      await s.step(1)
      assert.deepEqual((await s.claimKeys()).sort(), ['delayed', 'next'])
    },
  },
  {
    id: 'clock.forward.unnoticed',
    title: 'a monotonic store does not notice that the wall clock is set forward',
    needs: { time: 'monotonic' },
    async run(s) {
      await s.addAll(['held', s.ask('delayed', { delayMs: 1_000 })])
      const claim = await s.claimOne('held', { leaseMs: 1_000 })
      stepWall(s, hour)
      const { claims, leaseEnds } = await s.claim()
      assert.deepEqual({ claims, leaseEnds }, { claims: [], leaseEnds: [] })
      await s.step(999)
      assert.deepEqual((await s.tick()).leaseEnds, [])
      await s.claimNone()
      await s.step(1)
      assert.deepEqual((await s.tick()).leaseEnds, [{ key: 'held', token: claim.token }])
      await s.claimOne('delayed')
    },
  },
  {
    id: 'clock.ahead',
    title: 'the time of the store minus `ahead` is the time of the wall clock',
    async run(s) {
      const wall = async (): Promise<number> => {
        const { now } = await s.claim()
        return now - (s.driver.ahead ?? 0)
      }
      assertNear(await wall(), s.now(), 'before any step')
      for (const ms of [-hour, 1_000, -5_000, 2 * hour, -tenYears]) {
        stepWall(s, ms)
        assertNear(await wall(), s.now(), `after a step of ${ms} ms`)
        await s.step(1_500)
        assertNear(await wall(), s.now(), '1,500 ms later')
      }
    },
  },
]
