import assert from 'node:assert/strict'
import type { Case } from '../../case.ts'
import { wakes } from '../../scene/wakes.ts'

/** Opening and closing, restarts, and what two processes share. */
export const lifecycleCases: readonly Case[] = [
  {
    id: 'close.reopen',
    title: 'a driver that was closed can be opened again',
    async run(s) {
      await s.close()
      await s.open()
      await s.add('a')
      await s.claimOne('a')
    },
  },
  {
    id: 'close.twice',
    title: 'closing a driver that is closed does nothing',
    async run(s) {
      await s.close()
      await s.driver.close()
    },
  },
  {
    id: 'restart.keys',
    title: 'keys, their items, delays, priorities and failures survive a restart',
    needs: { durable: true, order: 'per-producer' },
    async run(s) {
      await s.add('a', { item: '{"n":1}', priority: 3, failed: true })
      await s.addAfter('b', 1_000, { item: '2' })
      await s.add('c')
      const next = await s.restart()
      const claim = await next.claimOne('a')
      assert.equal(claim.item, '{"n":1}')
      assert.equal(claim.priority, 3)
      assert.equal(claim.failures, 1)
      assert.deepEqual(await next.claimKeys(), ['c'])
      await next.step(1_000)
      assert.equal((await next.claimOne('b')).item, '2')
    },
  },
  {
    id: 'restart.order',
    title: 'keys keep their order over a restart, and newer ones come after them',
    needs: { durable: true, order: 'per-producer' },
    async run(s) {
      await s.addAll(['c', 'a', 'b'])
      const next = await s.restart()
      await next.add('0')
      assert.deepEqual(await next.claimKeys(), ['c', 'a', 'b', '0'])
    },
  },
  {
    id: 'restart.held',
    title: 'a key that was held when the process ended stays held until its lease ends',
    needs: { durable: true },
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a', { leaseMs: 1_000 })
      const next = await s.restart()
      await next.claimNone()
      await next.step(1_000)
      const { leaseEnds } = await next.claim()
      assert.deepEqual(leaseEnds, [{ key: 'a', token: claim.token }])
      assert.deepEqual(await next.expireAll(leaseEnds), ['expired'])
      assert.equal((await next.claimOne('a')).crashes, 1)
    },
  },
  {
    id: 'restart.token.good',
    title: 'a token from before the restart is accepted until another process takes the key over',
    needs: { durable: true },
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a', { leaseMs: 1_000 })
      const next = await s.restart()
      assert.equal((await next.renew(claim, 5_000)).outcome, 'renewed')
      assert.equal((await next.done(claim)).outcome, 'idle')
    },
  },
  {
    id: 'restart.tokens.rise',
    title: 'tokens keep rising after a restart, even if the store is empty',
    needs: { durable: true },
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      await s.done(claim)
      const next = await s.restart()
      await next.add('a')
      assert.ok((await next.claimOne('a')).token > claim.token)
    },
  },
  {
    id: 'restart.second-run',
    title: 'a second run survives a restart',
    needs: { durable: true },
    async run(s) {
      await s.add('a')
      await s.addAfter('a', 100)
      const next = await s.restart()
      await next.done(await next.claimOne('a'))
      assert.equal(await next.state('a'), 'delayed')
    },
  },
  {
    id: 'restart.buckets',
    title: 'the reserved tokens of a bucket survive a restart',
    needs: { durable: true },
    async run(s) {
      const plan = { kind: 'bucket', name: 'queue:q', perSecond: 10, burst: 1 } as const
      await s.add('a', { plan })
      const next = await s.restart()
      assert.equal((await next.add('b', { plan })).plannedMs, 100)
    },
  },
  {
    id: 'restart.counts',
    title: 'counts are the same after a restart',
    needs: { durable: true },
    async run(s) {
      await s.addAll(['a', 'b', s.ask('c', { delayMs: 100 }), s.ask('d', { failed: true })])
      await s.claimOne()
      const before = await s.counts()
      const next = await s.restart()
      assert.deepEqual(await next.counts(), before)
    },
  },
  {
    id: 'peers.share',
    title: 'keys that one process adds are claimed by another, and none twice',
    needs: { peers: true },
    async run(s) {
      const other = await s.peer()
      await s.addAll(['a', 'b', 'c', 'd'])
      const seen: string[] = []
      for (const scene of [s, other, other, s]) seen.push((await scene.claimOne()).key)
      assert.deepEqual(seen.sort(), ['a', 'b', 'c', 'd'])
      await s.claimNone()
      await other.claimNone()
    },
  },
  {
    id: 'peers.dirty',
    title: 'a key that another process adds while it is held runs again',
    needs: { peers: true },
    async run(s) {
      const other = await s.peer()
      await s.add('a')
      const claim = await s.claimOne('a')
      assert.equal((await other.add('a')).outcome, 'added')
      await other.claimNone()
      assert.equal((await s.done(claim)).outcome, 'ready')
      await other.claimOne('a')
    },
  },
  {
    id: 'peers.lease-end',
    title: "one process ends the expired lease of another, and the former holder's finish is lost",
    needs: { peers: true },
    async run(s) {
      const other = await s.peer()
      await s.add('a')
      const lost = await s.claimOne('a', { leaseMs: 1_000 })
      await s.step(1_000)
      const { leaseEnds } = await other.tick()
      await other.expireAll(leaseEnds)
      const claim = await other.claimOne('a')
      assert.equal((await s.renew(lost)).outcome, 'lost')
      assert.equal((await s.done(lost)).outcome, 'lost')
      assert.equal((await other.done(claim)).outcome, 'idle')
    },
  },
  {
    id: 'peers.tokens.rise',
    title: 'tokens rise, whichever process claims',
    needs: { peers: true },
    async run(s) {
      const other = await s.peer()
      let last = 0
      for (const scene of [s, other, other, s, other]) {
        await scene.add('a')
        const claim = await scene.claimOne('a')
        assert.ok(claim.token > last)
        last = claim.token
        await scene.done(claim)
      }
    },
  },
  {
    id: 'peers.close',
    title: 'a process that closes does not affect the others, and its keys stay held',
    needs: { peers: true },
    async run(s) {
      const other = await s.peer()
      await s.addAll(['a', 'b'])
      const { key } = await other.claimOne()
      await other.close()
      assert.deepEqual(await s.claimKeys(), [key === 'a' ? 'b' : 'a'])
      assert.deepEqual(await s.states(), { processing: 2 })
    },
  },
  {
    id: 'watch.add',
    title: 'a watcher is called after an add',
    needs: { watch: true },
    run: (s) => wakes(s, () => s.add('a')),
  },
  {
    id: 'watch.finish',
    title: 'a watcher is called when a key becomes ready because it was finished',
    needs: { watch: true },
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      await s.add('a')
      await wakes(s, () => s.done(claim))
    },
  },
  {
    id: 'watch.resume',
    title: 'a watcher is called when a paused queue is resumed',
    needs: { watch: true, operate: true },
    async run(s) {
      await s.operate.pause(s.queue)
      await s.add('a')
      await wakes(s, async () => s.operate.resume(s.queue))
    },
  },
  {
    id: 'watch.peers',
    title: 'a watcher is called after a change by another process',
    needs: { watch: true, peers: true },
    async run(s) {
      const other = await s.peer()
      await wakes(s, () => other.add('a'))
    },
  },
  {
    id: 'watch.stop',
    title: 'a watcher that was stopped is not called any more',
    needs: { watch: true },
    async run(s) {
      let isStopped = false
      let calls = 0
      const stop = await s.driver.watch?.(() => {
        if (isStopped) calls += 1
      })
      await wakes(s, () => s.add('a'))
      await stop?.()
      isStopped = true
      // The wake of the other watcher shows that a wake has had time to arrive.
      await wakes(s, () => s.add('b'))
      assert.equal(calls, 0)
    },
  },
  {
    id: 'adopt.claims',
    title: 'claims whose answer was lost are found again by their claimId, with the same token',
    needs: { adopt: true },
    async run(s) {
      await s.add('a')
      await s.claimOne('a', { claimId: 'earlier' })
      await s.addAll(['c', s.ask('b', { item: '3' })])
      const { claims } = await s.claim({ limit: 5, claimId: 'lost' })
      await s.addAfter('c', 100, { maxWaitMs: 1_000 })
      assert.deepEqual(await s.driver.adopt?.(s.queue, 'lost'), claims)
      assert.deepEqual(await s.driver.adopt?.(s.queue, 'unknown'), [])
    },
  },
  {
    id: 'adopt.only-held',
    title:
      'claims that were finished, or whose keys another process has taken since, are not found',
    needs: { adopt: true },
    async run(s) {
      await s.addAll(['a', 'b', 'c'])
      const { claims } = await s.claim({ limit: 3, claimId: 'first' })
      const [a, b, c] = claims
      assert.ok(a && b && c)
      await s.done(a)
      await s.release(b)
      await s.claimOne(b.key, { claimId: 'second' })
      assert.deepEqual(await s.driver.adopt?.(s.queue, 'first'), [c])
    },
  },
  {
    id: 'adopt.queue',
    title: 'a claim is found again in its own queue only',
    needs: { adopt: true },
    async run(s) {
      const other = s.on('other')
      await s.add('a')
      await other.add('a')
      await other.claimOne('a', { claimId: 'of other' })
      const { claims } = await s.claim({ claimId: 'lost' })
      assert.deepEqual(await s.driver.adopt?.(other.queue, 'lost'), [])
      assert.deepEqual(await s.driver.adopt?.(s.queue, 'lost'), claims)
    },
  },
  {
    id: 'adopt.second-run',
    title: 'a claim of a key with a second pending run is found again like the others',
    needs: { adopt: true },
    async run(s) {
      await s.addAll(['a', 'b'])
      await s.addAfter('a', 1_000)
      const { claims } = await s.claim({ limit: 2, claimId: 'lost' })
      assert.equal(claims.length, 2)
      assert.deepEqual(await s.driver.adopt?.(s.queue, 'lost'), claims)
    },
  },
  {
    id: 'adopt.changed',
    title:
      'a claim of a key that was changed meanwhile is found again, and is listed with its holder',
    needs: { adopt: true, operate: true },
    async run(s) {
      const keys = ['added', 'cancelled', 'forgotten', 'parked']
      const trace = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
      await s.addAll(keys.map((key) => s.ask(key, { trace })))
      const { claims } = await s.as('holder').claim({ limit: 4, claimId: 'lost' })
      await s.addAll(['added', 'cancelled'], { maxPending: 9 })
      await s.cancel('cancelled')
      await s.add('forgotten', { failed: true })
      await s.forget('forgotten')
      await s.operate.park(s.queue, ['parked'])
      assert.deepEqual(await s.driver.adopt?.(s.queue, 'lost'), claims)
      for (const key of keys) assert.equal((await s.row(key)).holder, 'holder', key)
    },
  },
  {
    id: 'restart.held.release',
    title: 'after a restart a holder is listed, and what it releases goes back to its old position',
    needs: { durable: true, order: 'per-producer' },
    async run(s) {
      const start = s.now()
      await s.add('a', { priority: 3 })
      await s.step(5)
      const claim = await s.as('holder of a').claimOne('a')
      const after = await s.restart()
      await after.step(5)
      assert.equal((await after.row('a')).holder, 'holder of a')
      await after.release(claim)
      const { priority, askedAt, readyAt } = await after.claimOne('a')
      assert.deepEqual([priority, askedAt, readyAt], [3, start, start])
    },
  },
  {
    id: 'restart.lease.none',
    title: 'a key that was claimed without a lease stays held over a restart',
    needs: { durable: true },
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a', { leaseMs: Infinity })
      const after = await s.restart()
      await after.step(1_000_000)
      const { leaseEnds, nextAt } = await after.tick()
      assert.deepEqual([leaseEnds, nextAt], [[], Infinity])
      assert.equal((await after.done(claim)).outcome, 'idle')
    },
  },
  {
    id: 'restart.workers',
    title: 'after a restart workers are listed as before, and keep the time of their start',
    needs: { durable: true, workers: true },
    async run(s) {
      const worker = { holder: 'w', host: 'h', pid: 1, concurrency: 2, settings: { leaseMs: 5 } }
      const startedAt = s.now()
      await s.tick({ holder: 'w', worker })
      await s.step(100)
      const after = await s.restart()
      const listed = async (): Promise<unknown> => await after.driver.workers?.(after.queue, 1_000)
      assert.deepEqual(await listed(), [{ ...worker, startedAt, seenAt: startedAt }])
      await after.tick({ holder: 'w', worker })
      assert.deepEqual(await listed(), [{ ...worker, startedAt, seenAt: startedAt + 100 }])
    },
  },
]
