import assert from 'node:assert/strict'
import { durationBoundsMs, type WorkerInfo, type WorkerStats, workerMsMax } from '@sluice/core'
import type { Case } from '../../case.ts'
import type { Scene } from '../../scene/scene.ts'

const worker = (holder: string): WorkerInfo => ({
  holder,
  host: 'host "1"',
  pid: 4_242,
  concurrency: 8,
  settings: { leaseMs: 30_000, dedupe: 'client-go', prefetch: false },
})

function stats(runs: number, longest: string): WorkerStats {
  const counts = durationBoundsMs.map((_, at) => runs * at)
  return {
    busy: 3,
    runs,
    failed: 1,
    asked: Number.MAX_SAFE_INTEGER,
    merged: 0,
    leaseEnds: 2,
    wait: [...counts, 0],
    work: [...counts, Number.MAX_SAFE_INTEGER],
    longest: { key: longest, startedAt: 1_700_000_000_000.25 },
  }
}

/** The workers that have ticked within `withinMs`, by name. */
async function holders(s: Scene, withinMs: number): Promise<string[]> {
  const rows = (await s.driver.workers?.(s.queue, withinMs)) ?? []
  return rows.map(({ holder }) => holder).sort()
}

/** The heartbeat: the time of the next change, the workers, and sweeps. */
export const tickCases: readonly Case[] = [
  {
    id: 'tick.next.delayed',
    title: 'a tick reports when the next key is due',
    async run(s) {
      const start = s.now()
      await s.addAfter('b', 500)
      await s.addAfter('a', 250.5)
      await s.addAfter('c', 900)
      assert.equal((await s.tick()).nextAt, start + 250.5)
    },
  },
  {
    id: 'tick.next.ready',
    title: 'a tick reports that a key can be claimed now',
    async run(s) {
      await s.addAfter('a', 100)
      await s.add('b')
      await s.step(10)
      assert.ok((await s.tick()).nextAt <= s.now())
    },
  },
  {
    id: 'tick.next.lease-end',
    title: 'a tick reports when the next lease ends',
    async run(s) {
      await s.addAll(['a', 'b'])
      await s.claimOne(undefined, { leaseMs: 5_000 })
      await s.claimOne(undefined, { leaseMs: 2_000 })
      await s.addAfter('c', 3_000)
      assert.equal((await s.tick()).nextAt, s.now() + 2_000)
    },
  },
  {
    id: 'tick.next.dirty-sleeps',
    title: 'a held key that was added again does not set the time of the next change',
    async run(s) {
      await s.add('b')
      await s.claimOne('b', { leaseMs: Infinity })
      await s.add('a')
      await s.claimOne('a', { leaseMs: 5_000 })
      await s.add('a')
      await s.addAfter('b', 100)
      assert.equal((await s.tick()).nextAt, s.now() + 5_000)
    },
  },
  {
    id: 'tick.next.nothing',
    title: 'with no change to come, a tick returns no time',
    async run(s) {
      await s.add('a', { failed: true })
      await s.done(await s.claimOne('a'))
      // Leases and delays of another queue are not those of this one.
      const other = s.on('other')
      await other.add('held')
      await other.claimOne('held', { leaseMs: 100 })
      await other.addAfter('later', 50)
      assert.equal((await s.tick()).nextAt, Infinity)
    },
  },
  {
    id: 'tick.next.reached',
    title: 'at the time that a tick returned, a key can be claimed or a lease has expired',
    async run(s) {
      await s.addAll([s.ask('a', { delayMs: 30 }), s.ask('b', { delayMs: 10 }), s.ask('c')])
      await s.claimOne('c', { leaseMs: 1_000 })
      const seen: string[] = []
      for (let i = 0; i < 3; i += 1) {
        const { nextAt, now } = await s.tick()
        await s.step(nextAt - now)
        const { claims, leaseEnds } = await s.claim({ limit: 10 })
        seen.push(...claims.map(({ key }) => key), ...leaseEnds.map(({ key }) => `${key} over`))
      }
      assert.deepEqual(seen, ['b', 'a', 'c over'])
    },
  },
  {
    id: 'tick.sweeps',
    title: 'ticks delete keys with nothing but expired failures, a bounded number each',
    async run(s) {
      const keys = Array.from({ length: 9 }, (_, i) => `k${i}`)
      await s.addAll(keys.map((key) => s.ask(key, { failed: true })))
      for (const claim of (await s.claim({ limit: 9 })).claims) await s.done(claim)
      await s.step(1_000)
      let swept = 0
      for (let i = 0; i < 30 && (await s.counts()).idle > 0; i += 1) {
        const reply = await s.tick({ limit: 2, failuresExpireMs: 1_000 })
        assert.ok(reply.swept <= 2)
        swept += reply.swept
      }
      assert.equal(swept, 9)
      assert.deepEqual(await s.states(), {})
    },
  },
  {
    id: 'tick.sweeps.only-stale',
    title:
      'a sweep keeps every key that is pending, held, parked, failed recently, or of another queue',
    async run(s) {
      const other = s.on('other')
      await other.add('theirs', { failed: true })
      await other.cancel('theirs')
      await s.add('stale', { failed: true })
      await s.cancel('stale')
      await s.addAll(['held', 'parked', 'recent'].map((key) => s.ask(key, { failed: true })))
      await s.addAfter('delayed', 100_000, { failed: true })
      const { claims } = await s.claim({ limit: 3, leaseMs: Infinity })
      for (const claim of claims) {
        if (claim.key === 'parked') await s.parkHeld(claim)
      }
      await s.step(900)
      for (const claim of claims) {
        if (claim.key !== 'recent') continue
        await s.retry(claim, 0)
        await s.cancel('recent')
      }
      await s.step(200)
      let swept = 0
      for (let i = 0; i < 5; i += 1) swept += (await s.tick({ failuresExpireMs: 1_000 })).swept
      assert.equal(swept, 1)
      const keys = (await s.list()).rows.map(({ key }) => key)
      assert.deepEqual(keys, ['delayed', 'held', 'parked', 'recent'])
      assert.deepEqual(await other.states(), { idle: 1 })
    },
  },
  {
    id: 'workers.registered',
    title: 'a worker that ticks is listed with its description',
    needs: { workers: true },
    async run(s) {
      const startedAt = s.now()
      await s.tick({ holder: 'w1', worker: worker('w1') })
      await s.step(100)
      const changed = { ...worker('w1'), host: 'elsewhere', pid: 77, concurrency: 9 }
      await s.tick({ holder: 'w1', worker: changed })
      const rows = await s.driver.workers?.(s.queue, 1_000)
      assert.deepEqual(rows, [{ ...changed, startedAt, seenAt: startedAt + 100 }])
    },
  },
  {
    id: 'workers.stats',
    title: 'a worker is listed with the latest totals that it reported',
    needs: { workers: true },
    async run(s) {
      const says = async (info: WorkerInfo): Promise<void> => {
        await s.tick({ holder: 'w1', worker: info })
        const seenAt = s.now()
        const rows = await s.driver.workers?.(s.queue, 1_000)
        assert.deepEqual(rows, [{ ...info, startedAt, seenAt }])
      }
      const startedAt = s.now()
      await says({ ...worker('w1'), stats: stats(7, 'a "quoted" key') })
      await s.step(100)
      await says({ ...worker('w1'), concurrency: 0, stats: stats(8, 'k'.repeat(512)) })
      await s.step(100)
      await says(worker('w1'))
    },
  },
  {
    id: 'workers.queue-listed',
    title: 'a queue with a registered worker is listed, even if it has no keys',
    needs: { workers: true, queues: true },
    async run(s) {
      assert.deepEqual(await s.driver.queues?.(), [])
      await s.tick({ holder: 'w1', worker: worker('w1') })
      await s.on('other').tick({ holder: 'w2' })
      assert.deepEqual(await s.driver.queues?.(), [s.queue])
    },
  },
  {
    id: 'workers.recent',
    title: 'workers that have not ticked for a while are not listed',
    needs: { workers: true },
    async run(s) {
      await s.tick({ holder: 'gone', worker: worker('gone') })
      await s.step(5_000)
      await s.tick({ holder: 'here', worker: worker('here') })
      assert.deepEqual(await holders(s, 4_999), ['here'])
      assert.deepEqual(await holders(s, 5_000), ['gone', 'here'])
    },
  },
  {
    id: 'workers.day.replaced',
    title: 'a worker that has not ticked for a day is deleted when another one registers',
    needs: { workers: true },
    async run(s) {
      await s.tick({ holder: 'gone', worker: worker('gone') })
      await s.step(1)
      await s.tick({ holder: 'silent', worker: worker('silent') })
      await s.step(workerMsMax)
      await s.tick({ holder: 'here', worker: worker('here') })
      assert.deepEqual(await holders(s, 2 * workerMsMax), ['here', 'silent'])
    },
  },
  {
    id: 'workers.day.queue',
    title: 'a queue without keys is listed until its last worker has not ticked for a day',
    needs: { workers: true, queues: true },
    async run(s) {
      await s.tick({ holder: 'gone', worker: worker('gone') })
      await s.step(workerMsMax)
      assert.deepEqual(await s.driver.queues?.(), [s.queue])
      await s.step(1)
      assert.deepEqual(await s.driver.queues?.(), [])
    },
  },
  {
    id: 'workers.per-queue',
    title: 'a worker is listed on the queue on which it ticks; a tick without one registers none',
    needs: { workers: true },
    async run(s) {
      await s.tick({ holder: 'w1', worker: worker('w1') })
      await s.on('other').tick({ holder: 'w2' })
      assert.equal((await s.driver.workers?.(s.queue, 1_000))?.length, 1)
      assert.deepEqual(await s.driver.workers?.('other', 1_000), [])
    },
  },
  {
    id: 'tick.limit.one',
    title:
      'a tick with a limit of one reports a lease and sweeps a row, and a full claim reports all',
    async run(s) {
      await s.addAll(['held', 'held too', 'full'])
      await s.claim({ limit: 2, leaseMs: 100 })
      for (const key of ['old', 'older']) {
        await s.add(key, { failed: true })
        await s.cancel(key)
      }
      await s.step(1_000)
      const { leaseEnds, swept } = await s.tick({ limit: 1, failuresExpireMs: 1_000 })
      assert.deepEqual([leaseEnds.length, swept], [1, 1])
      const reply = await s.claim({ limit: 1 })
      assert.deepEqual([reply.claims.length, reply.leaseEnds.length], [1, 2])
    },
  },
  {
    id: 'workers.largest',
    title: 'a worker is listed with all of a long description, and a tick without one leaves it',
    needs: { workers: true },
    async run(s) {
      const settings = { limiter: 'x'.repeat(2_000), prefetch: true, factor: 1.5 }
      const info: WorkerInfo = {
        holder: 'w',
        host: 'h'.repeat(253),
        pid: 2 ** 31 - 1,
        concurrency: 1_000,
        settings,
        stats: { ...stats(2 ** 40, 'k'), wait: [2 ** 50] },
      }
      const startedAt = s.now()
      await s.tick({ holder: 'w', worker: info })
      await s.tick({ holder: 'w' })
      assert.deepEqual(await s.driver.workers?.(s.queue, 1_000), [
        { ...info, startedAt, seenAt: startedAt },
      ])
    },
  },
]
