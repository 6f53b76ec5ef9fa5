import assert from 'node:assert/strict'
import type { Claim } from '@sluice/core'
import type { Case } from '../../case.ts'
import type { Scene } from '../../scene/scene.ts'

/** A trace context, as a W3C `traceparent`; each number gives another one. */
function traceOf(n: number): string {
  return `00-${String(n).padStart(32, 'a')}-${String(n).padStart(16, 'b')}-01`
}

const [t1, t2, t3, t4] = [traceOf(1), traceOf(2), traceOf(3), traceOf(4)]

/** Claims the key, whose run has to have these contexts. */
async function claimWith(s: Scene, key: string, trace: string | undefined): Promise<Claim> {
  const claim = await s.claimOne(key)
  assert.equal(claim.trace, trace, `the trace contexts of the run of ${key}`)
  return claim
}

/** The trace contexts of adds, which are kept with the key until a run takes them. */
export const traceCases: readonly Case[] = [
  {
    id: 'trace.first-and-last',
    title: 'a run has the trace contexts of the first and the last of its adds',
    async run(s) {
      await s.add('a', { trace: t1 })
      assert.equal((await s.row('a')).trace, t1)
      assert.equal((await s.add('a', { trace: t2 })).outcome, 'unchanged')
      await s.add('a', { trace: t3 })
      assert.equal((await s.row('a')).trace, `${t1} ${t3}`)
      await claimWith(s, 'a', `${t1} ${t3}`)
      const { trace, claimedTrace } = await s.row('a')
      assert.deepEqual([trace, claimedTrace], [undefined, `${t1} ${t3}`])
    },
  },
  {
    id: 'trace.same',
    title: 'a trace context that is first and last is kept once',
    async run(s) {
      await s.add('a', { trace: t1 })
      await s.add('a', { trace: t1 })
      assert.equal((await s.row('a')).trace, t1)
      await s.add('a', { trace: t2 })
      await s.add('a', { trace: t2 })
      assert.equal((await s.row('a')).trace, `${t1} ${t2}`)
      await s.add('a', { trace: t1 })
      await claimWith(s, 'a', t1)
    },
  },
  {
    id: 'trace.none',
    title: 'an add without a trace context keeps those of the adds before it',
    async run(s) {
      await s.add('none')
      await s.done(await claimWith(s, 'none', undefined))
      await s.add('a')
      await s.add('a', { trace: t1 })
      await s.add('a', { item: '1' })
      await s.add('a', { priority: 3 })
      await claimWith(s, 'a', t1)
    },
  },
  {
    id: 'trace.taken',
    title: 'a run takes the trace contexts: the next run of the key begins without any',
    async run(s) {
      await s.add('a', { trace: t1 })
      const first = await claimWith(s, 'a', t1)
      await s.add('a')
      await s.done(first)
      await s.done(await claimWith(s, 'a', undefined))
      await s.add('a', { trace: t2 })
      await claimWith(s, 'a', t2)
    },
  },
  {
    id: 'trace.held',
    title: 'the trace contexts of adds to a held key belong to its next run',
    async run(s) {
      await s.add('a', { trace: t1 })
      const first = await claimWith(s, 'a', t1)
      await s.add('a', { trace: t2 })
      await s.add('a', { trace: t3 })
      const { trace, claimedTrace } = await s.row('a')
      assert.deepEqual([trace, claimedTrace], [`${t2} ${t3}`, t1])
      await s.done(first)
      await claimWith(s, 'a', `${t2} ${t3}`)
    },
  },
  {
    id: 'trace.delayed',
    title: 'the trace contexts of delayed adds wait with the key',
    async run(s) {
      await s.addAfter('a', 100, { trace: t1 })
      await s.addAfter('a', 500, { trace: t2 })
      await s.addAfter('late', 100, { trace: t1, maxWaitMs: 1_000 })
      await s.addAfter('late', 150, { trace: t3, maxWaitMs: 1_000 })
      await s.step(100)
      await claimWith(s, 'a', `${t1} ${t2}`)
      await s.step(50)
      await claimWith(s, 'late', `${t1} ${t3}`)
    },
  },
  {
    id: 'trace.second-run',
    title: 'of two pending runs, the first takes the trace contexts of both',
    async run(s) {
      await s.addAfter('a', 100, { trace: t1 })
      await s.add('a', { trace: t2 })
      await s.done(await claimWith(s, 'a', `${t1} ${t2}`))
      await s.step(100)
      await claimWith(s, 'a', undefined)
    },
  },
  {
    id: 'trace.retry',
    title: 'a retried run keeps its first trace context, and gets the last one of later adds',
    async run(s) {
      await s.add('a', { trace: t1 })
      await s.add('a', { trace: t2 })
      await s.retry(await claimWith(s, 'a', `${t1} ${t2}`), 100)
      await s.step(100)
      const second = await claimWith(s, 'a', `${t1} ${t2}`)
      await s.add('a', { trace: t3 })
      await s.retry(second, 100)
      await s.add('a', { trace: t4 })
      await s.done(await claimWith(s, 'a', `${t1} ${t4}`))
      await s.step(1_000)
      await s.done(await claimWith(s, 'a', undefined))
    },
  },
  {
    id: 'trace.again',
    title: 'a run that ended well leaves no trace context to the run that it asks for',
    async run(s) {
      await s.add('a', { trace: t1 })
      const { key, token } = await claimWith(s, 'a', t1)
      const again = { delayMs: 0, priority: 0 }
      await s.finish({ as: 'done', key, token, forget: false, again })
      await claimWith(s, 'a', undefined)
    },
  },
  {
    id: 'trace.release',
    title: 'a released run keeps its trace contexts',
    async run(s) {
      await s.add('a', { trace: t1 })
      await s.release(await claimWith(s, 'a', t1))
      const second = await claimWith(s, 'a', t1)
      await s.add('a', { trace: t2 })
      await s.release(second)
      await claimWith(s, 'a', `${t1} ${t2}`)
    },
  },
  {
    id: 'trace.park',
    title: 'a run that is parked by its holder keeps its trace contexts',
    needs: { operate: true },
    async run(s) {
      await s.add('a', { trace: t1 })
      await s.parkHeld(await claimWith(s, 'a', t1), 'broken')
      await s.add('a', { trace: t2 })
      await s.operate.unpark(s.queue, ['a'], { forget: false })
      await claimWith(s, 'a', `${t1} ${t2}`)
    },
  },
  {
    id: 'trace.crash',
    title: 'a run whose lease has expired keeps its trace contexts',
    async run(s) {
      await s.add('a', { trace: t1 })
      await s.add('b', { trace: t1 })
      const lost = (await s.claim({ limit: 2, leaseMs: 50 })).claims
      assert.deepEqual(
        lost.map(({ trace }) => trace),
        [t1, t1],
      )
      await s.add('b', { trace: t2 })
      await s.step(50)
      await s.expireAll(lost)
      await s.step(1_000)
      const traces: (string | undefined)[] = []
      for (let n = 0; n < 2; n += 1) {
        const claim = await s.claimOne()
        traces[claim.key === 'a' ? 0 : 1] = claim.trace
      }
      assert.deepEqual(traces, [t1, `${t1} ${t2}`])
    },
  },
  {
    id: 'trace.batch',
    title: 'each key of a batch has its own trace contexts',
    async run(s) {
      const asks = Array.from({ length: 40 }, (_, n) =>
        s.ask(`k${n}`, n % 3 === 0 ? {} : { trace: traceOf(n), ...(n % 5 === 0 && { item: '1' }) }),
      )
      await s.addAll(asks)
      await s.addAll(asks.map(({ key }, n) => s.ask(key, { trace: traceOf(100 + n) })))
      const { claims } = await s.claim({ limit: 40 })
      assert.equal(claims.length, 40)
      for (const { key, trace } of claims) {
        const n = Number(key.slice(1))
        const last = traceOf(100 + n)
        assert.equal(trace, n % 3 === 0 ? last : `${traceOf(n)} ${last}`, key)
      }
    },
  },
  {
    id: 'trace.batch.one-caller',
    title: 'keys that are added with one trace context all have it',
    async run(s) {
      await s.addAll(['a', 'b', 'c'].map((key) => s.ask(key, { trace: t1 })))
      await s.addAll(['c', 'd', 'e'].map((key) => s.ask(key, { trace: t2, item: '1' })))
      const { claims } = await s.claim({ limit: 10 })
      assert.deepEqual(claims.map(({ key, trace }) => [key, trace]).sort(), [
        ['a', t1],
        ['b', t1],
        ['c', `${t1} ${t2}`],
        ['d', t2],
        ['e', t2],
      ])
    },
  },
  {
    id: 'trace.cancel',
    title: 'a cancelled run has no trace context any more',
    async run(s) {
      await s.add('a', { trace: t1 })
      await s.cancel('a')
      await s.add('a')
      const claim = await claimWith(s, 'a', undefined)
      await s.add('a', { trace: t2 })
      await s.cancel('a')
      await s.add('a')
      await s.done(claim)
      await claimWith(s, 'a', undefined)
    },
  },
  {
    id: 'trace.purge',
    title: 'a purged run has no trace context any more; that of a held key stays with its holder',
    needs: { operate: true },
    async run(s) {
      await s.add('a', { trace: t1 })
      const claim = await claimWith(s, 'a', t1)
      await s.add('a', { trace: t2 })
      await s.operate.purge(s.queue)
      assert.equal((await s.row('a')).claimedTrace, t1)
      await s.add('a')
      await s.done(claim)
      await claimWith(s, 'a', undefined)
    },
  },
  {
    id: 'trace.adopt',
    title: 'claims that are found again have their trace contexts',
    async run(s) {
      if (s.driver.adopt === undefined) return
      await s.add('a', { trace: t1 })
      await s.add('a', { trace: t2 })
      await s.claimOne('a', { claimId: 'lost' })
      const [claim] = await s.driver.adopt(s.queue, 'lost')
      assert.equal(claim?.trace, `${t1} ${t2}`)
    },
  },
  {
    id: 'trace.restart',
    title: 'trace contexts are found by a later process',
    needs: { durable: true },
    async run(s) {
      await s.add('ready', { trace: t1 })
      await s.addAfter('delayed', 100, { trace: t2 })
      await s.add('held', { trace: t3, priority: 9 })
      await claimWith(s, 'held', t3)
      const later = await s.restart()
      await claimWith(later, 'ready', t1)
      await later.step(100)
      await claimWith(later, 'delayed', t2)
      assert.equal((await later.row('held')).claimedTrace, t3)
    },
  },
]
