import assert from 'node:assert/strict'
import type { Lease } from '@sluice/core'
import type { Case } from '../../case.ts'
import { addMany, assertSame, claimMany, listMany, manyKeys } from '../../scene/many-keys.ts'
import type { Scene } from '../../scene/scene.ts'

const needs = { durable: true } as const

/** The same object, except that reading one of its members throws. */
function unreadable<T extends object>(target: T, member: keyof T): T {
  return Object.defineProperty({ ...target }, member, {
    enumerable: true,
    get() {
      throw new Error(`${String(member)} cannot be read`)
    },
  })
}

/** A list with one unreadable element near its end. */
function withOneBad<T extends object>(list: readonly T[], member: keyof T): readonly T[] {
  const bad = Math.floor(list.length * 0.7)
  return list.map((each, i) => (i === bad ? unreadable(each, member) : each))
}

/** Everything that is visible of the store. */
async function seen(s: Scene): Promise<readonly unknown[]> {
  // A driver may report any of many expired leases, in any order; the rows show that none of them has
  // ended.
  const { now: _, leaseEnds, ...rest } = await s.tick()
  const tick = { ...rest, reportsLeaseEnds: leaseEnds.length > 0 }
  const buckets = await s.driver.buckets?.()
  return [await s.counts(), { tick, buckets }, ...(await listMany(s))]
}

/** Asserts that `act` fails and has had no effect, here and for a later process. */
async function nothingDone(s: Scene, act: () => unknown): Promise<Scene> {
  const before = await seen(s)
  await assert.rejects(async () => void (await act()))
  assertSame(await seen(s), before, 'what is there after the failure')
  const again = await s.restart()
  assertSame(await seen(again), before, 'what a later process finds')
  return again
}

function leasesOf(claims: readonly Lease[]): Lease[] {
  return claims.map(({ key, token }) => ({ key, token }))
}

/**
 * Verbs that fail half way. The cause is an unreadable argument, which a driver reads before it
 * begins, or in the middle of its work.
 */
export const atomicCases: readonly Case[] = [
  {
    id: 'atomic.add',
    title: 'an add that fails in the middle of a batch has added nothing',
    needs,
    async run(s) {
      await s.addAll(['before', s.ask('k10', { delayMs: 5_000, failed: true })])
      const asks = manyKeys(600).map((key, i) =>
        s.ask(key, { priority: i % 3, item: String(i), delayMs: i % 2 }),
      )
      const bad = withOneBad(asks, 'item')
      const again = await nothingDone(s, () => s.driver.add(s.queue, bad, s.options()))
      const replies = await again.addAll(asks, { dedupe: 'earliest' })
      assert.equal(replies.filter(({ outcome }) => outcome === 'added').length, 599)
      assert.equal((await again.counts()).ready + (await again.counts()).delayed, 601)
    },
  },
  {
    id: 'atomic.add.bucket',
    title: 'an add that fails in the middle of a batch has taken no tokens',
    needs,
    async run(s) {
      const plan = { kind: 'bucket', name: 'queue:q', perSecond: 1, burst: 100 } as const
      await s.add('first', { plan })
      const asks = manyKeys(90).map((key) => s.ask(key, { plan, jitter: 0 }))
      const bad = withOneBad(asks, 'item')
      const again = await nothingDone(s, () => s.driver.add(s.queue, bad, s.options()))
      const replies = await again.addAll(asks)
      assert.ok(replies.every(({ plannedMs }) => plannedMs === 0))
    },
  },
  {
    id: 'atomic.finish',
    title: 'a batch of finishes that fails in the middle has finished nothing',
    needs,
    async run(s) {
      await addMany(s, manyKeys(400))
      const claims = await claimMany(s)
      await s.addAll(manyKeys(100))
      const finishes = leasesOf(claims).map(
        (lease) => ({ as: 'retry', ...lease, delayMs: 5 }) as const,
      )
      const bad = withOneBad(finishes, 'delayMs')
      const again = await nothingDone(s, () => s.driver.finish(s.queue, bad, s.options()))
      const replies = await again.finishAll(finishes)
      assert.ok(replies.every(({ outcome }) => outcome !== 'lost'))
    },
  },
  {
    id: 'atomic.renew',
    title: 'a batch of renewals that fails in the middle has renewed nothing',
    needs,
    async run(s) {
      await addMany(s, manyKeys(400))
      const leases = leasesOf(await claimMany(s, { leaseMs: 1_000 }))
      await s.step(100)
      const bad = withOneBad(leases, 'token')
      const again = await nothingDone(s, () => s.driver.renew(s.queue, bad, 1_000))
      await s.step(900)
      assert.ok((await again.tick()).leaseEnds.length > 0)
    },
  },
  {
    id: 'atomic.expire',
    title: 'a batch of lease ends that fails in the middle has ended none',
    needs,
    async run(s) {
      await addMany(s, manyKeys(400))
      const leases = leasesOf(await claimMany(s, { leaseMs: 1_000 }))
      await s.step(1_000)
      const options = { dedupe: 'client-go', maxCrashes: 9 } as const
      const bad = withOneBad(leases, 'token')
      const again = await nothingDone(s, () => s.driver.expire(s.queue, bad, options))
      assert.ok((await again.expireAll(leases)).every((outcome) => outcome === 'expired'))
    },
  },
  {
    id: 'atomic.import',
    title: 'an import that fails in the middle has imported nothing',
    needs: { durable: true, transfer: true },
    async run(s) {
      const from = await s.otherStore()
      await from.addAll(manyKeys(400))
      const rows = (await listMany(from)).map(({ state: _, holder: __, ...row }) => row)
      const bad = withOneBad(rows, 'item')
      const again = await nothingDone(s, () => s.driver.transfer?.importRows(s.queue, bad))
      const outcomes = (await again.driver.transfer?.importRows(s.queue, rows)) ?? []
      assert.ok(outcomes.every((outcome) => outcome === 'imported'))
    },
  },
]
