import assert from 'node:assert/strict'
import type { Case } from '../../case.ts'

const needs = { operate: true } as const

/** The verbs of an operator for waiting keys and whole queues. */
export const operateCases: readonly Case[] = [
  {
    id: 'pause.claims-nothing',
    title: 'a paused queue accepts keys and hands out none',
    needs,
    async run(s) {
      await s.addAll(['a', 'parked'])
      await s.operate.park(s.queue, ['parked'])
      assert.equal(await s.operate.pause(s.queue), 'changed')
      assert.equal(await s.operate.pause(s.queue), 'unchanged')
      assert.equal((await s.add('b')).outcome, 'added')
      await s.claimNone()
      assert.equal(await s.operate.resume(s.queue), 'changed')
      assert.equal(await s.operate.resume(s.queue), 'unchanged')
      assert.deepEqual((await s.claimKeys()).sort(), ['a', 'b'])
    },
  },
  {
    id: 'pause.held-go-on',
    title: 'held keys of a paused queue are renewed and finished as usual',
    needs,
    async run(s) {
      await s.addAll(['done', 'retry', 'release'])
      const { claims } = await s.claim({ limit: 3, leaseMs: 1_000 })
      const [done, retry, release] = claims
      assert.ok(done && retry && release)
      await s.operate.pause(s.queue)
      assert.equal((await s.renew(done, 5_000)).outcome, 'renewed')
      assert.equal((await s.done(done)).outcome, 'idle')
      assert.equal((await s.retry(retry, 0)).outcome, 'ready')
      assert.equal((await s.release(release)).outcome, 'ready')
      await s.claimNone()
    },
  },
  {
    id: 'pause.tick',
    title: 'a tick of a paused queue returns no time of the next change',
    needs,
    async run(s) {
      await s.add('a')
      await s.addAfter('b', 100)
      await s.operate.pause(s.queue)
      assert.equal((await s.tick()).nextAt, Infinity)
      await s.operate.resume(s.queue)
      assert.ok((await s.tick()).nextAt <= s.now())
    },
  },
  {
    id: 'pause.counts',
    title: 'the counts report that the queue is paused, and count as usual',
    needs,
    async run(s) {
      await s.addAll(['a', 'b'])
      await s.operate.pause(s.queue)
      const counts = await s.counts()
      assert.equal(counts.paused, true)
      assert.equal(counts.ready, 2)
    },
  },
  {
    id: 'pause.one-queue',
    title: 'a pause and a resume affect one queue only',
    needs,
    async run(s) {
      await s.add('a')
      await s.on('other').add('b')
      await s.operate.pause('other')
      assert.equal((await s.counts()).paused, false)
      assert.deepEqual(await s.claimKeys(), ['a'])
      await s.addAfter('later', 100)
      assert.equal((await s.tick()).nextAt, s.now() + 100)
      await s.operate.pause(s.queue)
      await s.operate.resume(s.queue)
      await s.on('other').claimNone()
    },
  },
  {
    id: 'pause.empty-queue',
    title: 'a queue that has no keys yet can be paused',
    needs,
    async run(s) {
      assert.equal(await s.operate.pause(s.queue), 'changed')
      await s.add('a')
      await s.claimNone()
      assert.equal(await s.operate.resume(s.queue), 'changed')
      await s.claimOne('a')
    },
  },
  {
    id: 'pause.peers',
    title: 'a pause holds for every process',
    needs: { operate: true, peers: true },
    async run(s) {
      const other = await s.peer()
      await s.add('a')
      await s.operate.pause(s.queue)
      await other.claimNone()
      await other.operate.resume(s.queue)
      await s.claimOne('a')
    },
  },
  {
    id: 'pause.restart',
    title: 'a pause survives a restart',
    needs: { operate: true, durable: true },
    async run(s) {
      await s.add('a')
      await s.operate.pause(s.queue)
      const next = await s.restart()
      await next.claimNone()
    },
  },
  {
    id: 'run-now.ends-delay',
    title: 'runNow ends a delay and a back-off, and the key runs once',
    needs,
    async run(s) {
      await s.addAfter('delayed', 100)
      await s.add('failed')
      await s.retry(await s.claimOne('failed'), 100)
      const outcomes = await s.operate.runNow(s.queue, ['delayed', 'unknown', 'failed'])
      assert.deepEqual(outcomes, ['changed', 'missing', 'changed'])
      const { claims } = await s.claim({ limit: 5 })
      assert.deepEqual(claims.map(({ key }) => key).sort(), ['delayed', 'failed'])
      for (const claim of claims) await s.done(claim)
      await s.step(1_000)
      await s.claimNone()
    },
  },
  {
    id: 'run-now.ready.unchanged',
    title: 'runNow of a key that is ready changes nothing, not even its position',
    needs: { ...needs, order: 'per-producer' },
    async run(s) {
      await s.addAll(['a', 'b'])
      await s.step(10)
      assert.deepEqual(await s.operate.runNow(s.queue, ['a']), ['unchanged'])
      assert.deepEqual(await s.claimKeys(), ['a', 'b'])
    },
  },
  {
    id: 'run-now.idle.unchanged',
    title: 'runNow of a key without a pending run does not create a run',
    needs,
    async run(s) {
      await s.add('a', { failed: true })
      await s.done(await s.claimOne('a'))
      assert.deepEqual(await s.operate.runNow(s.queue, ['a']), ['unchanged'])
      await s.claimNone()
    },
  },
  {
    id: 'remove.waiting',
    title: 'a removed key has no pending run and no counts',
    needs,
    async run(s) {
      await s.add('parked')
      await s.parkHeld(await s.claimOne('parked'), 'bad')
      await s.add('ready', { failed: true })
      await s.addAfter('delayed', 100)
      await s.add('failed', { failed: true })
      await s.cancel('failed')
      await s.add('parked only')
      await s.operate.park(s.queue, ['parked only'])
      await s.cancel('parked only')
      const keys = ['ready', 'delayed', 'parked', 'failed', 'parked only']
      assert.deepEqual(await s.operate.remove(s.queue, [...keys, 'unknown']), [
        ...keys.map(() => 'changed'),
        'missing',
      ])
      assert.deepEqual(await s.states(), {})
      await s.step(100)
      await s.claimNone()
      assert.equal((await s.add('parked')).failures, 0)
      await s.claimOne('parked')
    },
  },
  {
    id: 'remove.held',
    title: 'remove does not affect the holder of a key',
    needs,
    async run(s) {
      await s.add('a')
      const claim = await s.claimOne('a')
      await s.add('a')
      assert.deepEqual(await s.operate.remove(s.queue, ['a']), ['changed'])
      await s.claimNone()
      assert.equal(await s.state('a'), 'processing')
      assert.equal((await s.renew(claim)).outcome, 'renewed')
      assert.equal((await s.done(claim)).outcome, 'idle')
      await s.claimNone()
    },
  },
  {
    id: 'purge.everything-not-held',
    title: 'purge removes every key of one queue, returns how many, and affects no holder',
    needs,
    async run(s) {
      const failed = s.ask('failed', { failed: true })
      await s.addAll(['a', 'b', 'held', failed, 'parked', s.ask('later', { delayMs: 100 })])
      const { claims } = await s.claim({ limit: 5 })
      for (const claim of claims) if (claim.key < 'c') await s.release(claim)
      await s.operate.park(s.queue, ['parked'])
      await s.add('held')
      const other = s.on('other')
      await other.add('theirs held')
      const theirs = await other.claimOne('theirs held')
      await other.addAll(['theirs held', 'theirs'])
      assert.equal(await s.operate.purge(s.queue), 6)
      assert.equal(await s.operate.purge(s.queue), 0)
      assert.deepEqual(await s.states(), { processing: 3 })
      await s.claimNone()
      const held = claims.find(({ key }) => key === 'held')
      assert.ok(held)
      assert.equal((await s.done(held)).outcome, 'idle')
      assert.equal((await other.done(theirs)).outcome, 'ready')
      assert.deepEqual(await other.claimKeys(), ['theirs', 'theirs held'])
    },
  },
  {
    id: 'purge.held.kept',
    title:
      'a purge removes what is pending and counted of a held key, and keeps its run, item and error',
    needs,
    async run(s) {
      await s.addAll([s.ask('a', { item: '"first"' }), s.ask('b', { item: '"b"' })])
      const { claims } = await s.claim({ limit: 2, leaseMs: 100 })
      await s.step(100)
      await s.expireAll(claims, { error: '{"code":"E"}' })
      const a = await s.claimOne('a')
      const kept = await s.claimOne('b')
      assert.deepEqual([a.failures, a.crashes], [1, 1])
      await s.addAfter('a', 50)
      await s.add('a', { item: '"second"' })
      assert.equal(await s.operate.purge(s.queue), 2)
      const { failures, crashes, failedAt, dueAt, laterAt, ...row } = await s.row('a')
      assert.deepEqual([failures, crashes, failedAt], [0, 0, Infinity])
      assert.deepEqual([dueAt, laterAt, row.token], [Infinity, Infinity, a.token])
      const { rows } = await s.list()
      assert.deepEqual(
        rows.map(({ key, item, lastError }) => [key, item, lastError]),
        [
          ['a', '"second"', '{"code":"E"}'],
          ['b', '"b"', '{"code":"E"}'],
        ],
      )
      assert.equal(await s.operate.purge(s.queue), 0)
      await s.retry(kept, 0)
      assert.equal((await s.claimOne('b')).item, '"b"')
    },
  },
  {
    id: 'pause.lease-ends',
    title: 'the expired leases of a paused queue are reported and ended, and its old counts swept',
    needs: { operate: true },
    async run(s) {
      await s.add('idle', { failed: true })
      await s.cancel('idle')
      await s.add('a')
      const { key, token } = await s.claimOne('a', { leaseMs: 100 })
      await s.operate.pause(s.queue)
      await s.step(1_000)
      assert.deepEqual((await s.claim()).leaseEnds, [{ key, token }])
      const { leaseEnds, swept } = await s.tick({ failuresExpireMs: 1_000 })
      assert.deepEqual([leaseEnds, swept], [[{ key, token }], 1])
      assert.equal(await s.expire({ key, token }), 'expired')
      await s.claimNone()
    },
  },
  {
    id: 'purge.queue.kept',
    title: 'a purge removes keys only: the pause, the workers and the buckets stay',
    needs: { operate: true, workers: true, buckets: true },
    async run(s) {
      const worker = { holder: 'w', host: 'h', pid: 1, concurrency: 1, settings: {} }
      await s.tick({ holder: 'w', worker })
      await s.add('a', { plan: { kind: 'bucket', name: 'queue:q', perSecond: 1, burst: 2 } })
      await s.operate.pause(s.queue)
      assert.equal(await s.operate.purge(s.queue), 1)
      assert.equal((await s.counts()).paused, true)
      assert.equal((await s.driver.workers?.(s.queue, 1_000))?.length, 1)
      const buckets = (await s.driver.buckets?.()) ?? []
      assert.deepEqual(
        buckets.map(({ tokens }) => tokens),
        [1],
      )
    },
  },
]
