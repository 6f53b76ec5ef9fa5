import assert from 'node:assert/strict'
import { SluiceError } from '@sluice/core'
import type { PublicHeld, PublicQueue } from './public-api.ts'
import type { QueueCase } from './queue-case.ts'
import { type QueueScene, watchPromise } from './queue-scene.ts'

const leaseMs = 30_000

/** A run of key a that another process has taken back, which the queue does not know yet. */
async function takenBack(s: QueueScene, queue: PublicQueue<string>): Promise<PublicHeld<string>> {
  await queue.add('a')
  const stale = await s.take(queue)
  const taken = { key: 'a', token: stale.token, as: 'release' } as const
  await s.driver.finish('q', [taken], { dedupe: 'client-go', failuresExpireMs: 1_000 })
  return stale
}

/** Holding keys over time. */
export const leasingCases: readonly QueueCase[] = [
  {
    id: 'q-lease.renewed',
    title: 'a held key is renewed until it is finished',
    async run(s) {
      const queue = s.queue({ leaseMs })
      await queue.add('a')
      const held = await s.take(queue)
      await s.step(10 * leaseMs)
      assert.equal(held.signal.aborted, false)
      const { now, rows } = await s.driver.list('q', { keys: ['a'], limit: 1 })
      assert.ok((rows[0]?.leaseUntil ?? 0) > now, 'its lease has expired')
      await s.takeNothing(s.queue({ leaseMs }))
      assert.equal(await held.done(), 'idle')
    },
  },
  {
    id: 'q-lease.renewed-together',
    title: 'all held keys are renewed in one call',
    async run(s) {
      const queue = s.queue({ leaseMs })
      await queue.addMany(Array.from({ length: 20 }, (_, i) => `k${i}`))
      const helds = await queue.getMany(20)
      assert.equal(helds.length, 20)
      await s.step(leaseMs)
      const calls = s.calls('renew')
      assert.ok(calls >= 2 && calls <= 4, `${calls} renewals in one lease`)
      await queue.doneMany(helds)
    },
  },
  {
    id: 'q-lease.lost',
    title: 'a lease that another process has ended aborts the signal, and finishing returns lost',
    async run(s) {
      const queue = s.limited({ leaseMs })
      const held = await takenBack(s, queue)
      await s.step(leaseMs)
      assert.equal(held.signal.aborted, true)
      assert.ok(SluiceError.is(held.signal.reason, 'ERR_LEASE_LOST'))
      assert.equal(await held.done(), 'lost')
      assert.equal(await held.retry(), 'lost')
      assert.equal(await queue.numRequeues('a'), 0)
    },
  },
  {
    id: 'q-lease.stale-done',
    title: 'done of a lost run does not affect the run after it',
    async run(s) {
      const queue = s.queue({ leaseMs })
      const stale = await takenBack(s, queue)
      const current = await s.take(s.queue({ leaseMs }))
      assert.equal(await stale.done(), 'lost')
      assert.equal(await s.state('a'), 'processing')
      assert.equal(await current.done(), 'idle')
    },
  },
  {
    id: 'q-lease.taken-again',
    title: 'a lost run is aborted also if its own queue object holds the next run of the key',
    async run(s) {
      const queue = s.queue({ leaseMs })
      const stale = await takenBack(s, queue)
      const current = await s.take(queue)
      await s.step(leaseMs)
      assert.equal(stale.signal.aborted, true)
      assert.equal(current.signal.aborted, false)
      assert.equal(await stale.done(), 'lost')
      assert.equal(await current.done(), 'idle')
    },
  },
  {
    id: 'q-lease.crash',
    title: 'a key whose holder vanished runs again when its lease ends, and counts a crash',
    needs: { peers: true },
    async run(s) {
      const driver = await s.peerDriver()
      await driver.open({ clock: s.clock })
      const queue = s.queue({ leaseMs })
      await queue.add('a')
      const claim = { limit: 1, holder: 'dead', claimId: 'dead', leaseMs }
      const { claims } = await driver.claim('q', claim)
      assert.equal(claims.length, 1)
      await driver.close()
      const waiting = watchPromise(queue.get())
      await s.step(leaseMs - 1)
      assert.equal(waiting.state, 'waiting')
      await s.step(1)
      await s.settled(waiting)
      assert.equal(waiting.value?.crashes, 1)
      assert.equal(waiting.value?.failures, 1)
    },
  },
  {
    id: 'q-lease.crash.last-error',
    title: 'a key whose holder vanished says so as its last error',
    needs: { peers: true },
    async run(s) {
      const driver = await s.peerDriver()
      await driver.open({ clock: s.clock })
      const queue = s.limited({ leaseMs })
      await queue.add('a')
      const claim = { limit: 1, holder: 'dead', leaseMs, claimId: 'only' }
      assert.equal((await driver.claim('q', claim)).claims.length, 1)
      await driver.close()
      const waiting = watchPromise(queue.get())
      await s.step(leaseMs)
      await s.settled(waiting)
      const { lastError = '' } = (await s.row('a')) ?? {}
      assert.match(lastError, /ERR_LEASE_LOST/)
      assert.match(lastError, /worker vanished/)
    },
  },
  {
    id: 'q-lease.crash.parks',
    title: 'a key whose holders vanish maxCrashes times is parked',
    needs: { peers: true },
    async run(s) {
      const driver = await s.peerDriver()
      await driver.open({ clock: s.clock })
      const queue = s.limited({ leaseMs, maxCrashes: 2 })
      await queue.add('a')
      const claim = { limit: 1, holder: 'dead', leaseMs }
      const first = await driver.claim('q', { ...claim, claimId: 'first' })
      assert.equal(first.claims.length, 1)
      const waiting = watchPromise(queue.get())
      await s.step(leaseMs)
      await s.settled(waiting)
      assert.equal(waiting.value?.crashes, 1)
      await waiting.value?.release()
      const second = await driver.claim('q', { ...claim, claimId: 'second' })
      assert.equal(second.claims.length, 1)
      await driver.close()
      // A waiter has to look, so that the expired lease is noticed.
      const abort = new AbortController()
      const looking = watchPromise(queue.get({ signal: abort.signal }))
      await s.step(leaseMs)
      await s.until(async () => (await s.state('a')) === 'parked')
      assert.equal(looking.state, 'waiting')
      abort.abort(new Error('enough'))
      await s.quiet()
    },
  },
  {
    id: 'q-lease.tokens',
    title: 'the token of a run is greater than that of every run of the key before it',
    async run(s) {
      const queue = s.queue()
      let last = 0
      for (let i = 0; i < 4; i += 1) {
        await queue.add('a')
        const held = await s.take(queue)
        assert.ok(Number.isSafeInteger(held.token) && held.token > last)
        last = held.token
        await held.done()
      }
    },
  },
]
