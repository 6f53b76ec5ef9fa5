import assert from 'node:assert/strict'
import type { Finish, Lease } from '@sluice/core'
import type { Case } from '../../case.ts'
import {
  addMany,
  assertAll,
  assertKeys,
  assertSame,
  claimMany,
  doneMany,
  inBatches,
  listMany,
  manyKeys,
} from '../../scene/many-keys.ts'

/** More keys than fit into the first chunk or table of a driver. */
const many = 2_500

function reversed<T>(list: readonly T[]): readonly T[] {
  return [...list].reverse()
}

function outcomes<T>(replies: readonly { readonly outcome: T }[]): T[] {
  return replies.map(({ outcome }) => outcome)
}

/** The verbs of every driver with as many keys as one batch may have, and with thousands stored. */
export const sizeCases: readonly Case[] = [
  {
    id: 'size.add.again',
    title: 'thousands of waiting or held keys that are added again run once more, no more',
    async run(s) {
      const keys = manyKeys(2_000)
      await addMany(s, keys)
      for (const batch of inBatches(reversed(keys))) {
        assertAll(outcomes(await s.addAll(batch)), 'unchanged', batch.length)
      }
      const claims = await claimMany(s)
      assertKeys(claims, keys)
      for (const batch of inBatches(keys)) {
        assertAll(outcomes(await s.addAll(batch)), 'added', batch.length)
      }
      assert.deepEqual(await s.states(), { dirty: 2_000 })
      await doneMany(s, claims)
      assertKeys(await claimMany(s), keys)
    },
  },
  {
    id: 'size.add.max-pending',
    title: 'maxPending is respected in the middle of a large batch',
    async run(s) {
      const keys = manyKeys(2_000)
      const [first = [], second = []] = inBatches(keys)
      await s.addAll(first, { maxPending: 1_500 })
      const replies = outcomes(await s.addAll(second, { maxPending: 1_500 }))
      assertAll(replies.slice(0, 500), 'added', 500)
      assertAll(replies.slice(500), 'full', 500)
      assert.deepEqual(await s.states(), { ready: 1_500 })
    },
  },
  {
    id: 'size.claim.tokens',
    title: 'claims of a thousand keys each hand out no key and no token twice',
    async run(s) {
      const keys = manyKeys(3_000)
      await addMany(s, keys)
      const claims = await claimMany(s)
      assertKeys(claims, keys)
      const rows = new Map((await listMany(s)).map((row) => [row.key, row.token]))
      for (const { key, token } of claims) assert.equal(rows.get(key), token)
      await doneMany(s, claims)
      await s.add('next')
      assert.ok((await s.claimOne('next')).token > (claims.at(-1)?.token ?? Infinity))
    },
  },
  {
    id: 'size.claim.restart',
    title: 'after a claim of a thousand keys, a later process gives out greater tokens',
    needs: { durable: true },
    async run(s) {
      await addMany(s, manyKeys(1_001))
      const { claims } = await s.claim({ limit: 1_000 })
      assert.equal(claims.length, 1_000)
      const again = await s.restart()
      assert.ok((await again.claimOne()).token > (claims.at(-1)?.token ?? Infinity))
      assert.deepEqual(await again.states(), { processing: 1_001 })
    },
  },
  {
    id: 'size.claim.order',
    title: 'thousands of keys come out in the order in which they were added',
    needs: { order: 'per-producer' },
    async run(s) {
      const keys = manyKeys(2_100)
      for (const batch of inBatches(keys, 300)) await s.addAll(batch)
      const claims = await claimMany(s, { limit: 700 })
      assertSame(
        claims.map(({ key }) => key),
        keys,
        'keys',
      )
    },
  },
  {
    id: 'size.adopt',
    title: 'a claim of a thousand keys can be found again completely',
    needs: { adopt: true },
    async run(s) {
      await addMany(s, manyKeys(1_200))
      const { claims } = await s.claim({ limit: 1_000, claimId: 'large' })
      assert.equal(claims.length, 1_000)
      await s.claim({ limit: 200, claimId: 'small' })
      const adopted = (await s.driver.adopt?.(s.queue, 'large')) ?? []
      const pairs = (all: readonly Lease[]) => all.map(({ key, token }) => `${key} ${token}`).sort()
      assert.deepEqual(pairs(adopted), pairs(claims))
    },
  },
  {
    id: 'size.finish.mixed',
    title: 'a batch of a thousand different finishes is answered and carried out key by key',
    async run(s) {
      const keys = manyKeys(1_000)
      await s.addAll(keys)
      const claims = new Map((await claimMany(s)).map((claim) => [claim.key, claim]))
      const ways = ['done', 'retry', 'release', 'park', 'stale', 'at once'] as const
      const wayOf = (key: string) => ways[Number(key.slice(1)) % ways.length]
      const finishes = keys.map((key): Finish => {
        const token = claims.get(key)?.token ?? 0
        switch (wayOf(key)) {
          case 'retry':
            return { as: 'retry', key, token, delayMs: 1_000, error: `of ${key}` }
          case 'at once':
            return { as: 'retry', key, token, delayMs: 0 }
          case 'release':
            return { as: 'release', key, token }
          case 'park':
            return { as: 'park', key, token, error: `of ${key}` }
          case 'stale':
            return { as: 'done', key, token: token + 1_000_000, forget: true }
          default:
            return { as: 'done', key, token, forget: true }
        }
      })
      const expected = {
        done: 'idle',
        retry: 'delayed',
        release: 'ready',
        park: 'parked',
        stale: 'lost',
        'at once': 'ready',
      }
      const replies = await s.finishAll(finishes)
      for (const [index, key] of keys.entries()) {
        assert.equal(replies[index]?.outcome, expected[wayOf(key) ?? 'done'], key)
      }
      assert.deepEqual(await s.states(), { ready: 333, backoff: 167, processing: 166, parked: 167 })
      for (const row of await listMany(s, { state: 'parked' })) {
        assert.equal(row.lastError, `of ${row.key}`)
      }
    },
  },
  {
    id: 'size.renew',
    title: 'a thousand leases are renewed in one batch, and thousands in several',
    async run(s) {
      await addMany(s, manyKeys(2_000))
      const claims = await claimMany(s, { leaseMs: 1_000 })
      await s.step(600)
      for (const batch of inBatches(claims)) {
        const leases = batch.map(({ key, token }) => ({ key, token }))
        const replies = await s.driver.renew(s.queue, leases, 1_000)
        assertAll(
          replies.map(({ outcome }) => outcome),
          'renewed',
          batch.length,
        )
      }
      await s.step(999)
      assert.deepEqual((await s.tick({ limit: 1_000 })).leaseEnds, [])
      assert.deepEqual((await s.claim()).leaseEnds, [])
      const until = s.now() + 1
      assertAll(
        (await listMany(s)).map(({ leaseUntil }) => leaseUntil),
        until,
        2_000,
      )
      await s.step(1)
      assert.equal((await s.tick({ limit: 1_000 })).leaseEnds.length, 1_000)
    },
  },
  {
    id: 'size.expire',
    title: 'thousands of expired leases are all reported, and a thousand end in one batch',
    async run(s) {
      const keys = manyKeys(2_000)
      await addMany(s, keys)
      await claimMany(s, { leaseMs: 1_000 })
      await s.step(1_000)
      const ended = new Set<string>()
      for (let round = 0; round < 50 && ended.size < keys.length; round += 1) {
        const { leaseEnds } = await s.tick({ limit: 1_000 })
        assertAll(await s.expireAll(leaseEnds), 'expired', leaseEnds.length)
        for (const { key } of leaseEnds) ended.add(key)
      }
      assert.equal(ended.size, keys.length)
      assert.deepEqual(await s.states(), { ready: 2_000 })
      assertAll(
        (await listMany(s)).map(({ failures, crashes }) => failures * 10 + crashes),
        11,
        2_000,
      )
    },
  },
  {
    id: 'size.expire.claims',
    title: 'claims alone report thousands of expired leases, a few at a time',
    async run(s) {
      await addMany(s, manyKeys(1_500))
      await claimMany(s, { leaseMs: 1_000 })
      await s.step(1_000)
      let ended = 0
      for (let round = 0; round < 200 && ended < 1_500; round += 1) {
        const { leaseEnds } = await s.claim({ leaseMs: 1_000 })
        assert.ok(leaseEnds.length > 0, 'some are reported as long as there are any')
        await s.expireAll(leaseEnds, { plan: { kind: 'exponential', baseMs: 9_000, maxMs: 9_000 } })
        ended += leaseEnds.length
      }
      assert.deepEqual(await s.states(), { backoff: 1_500 })
    },
  },
  {
    id: 'size.cancel',
    title: 'a thousand keys are cancelled in one batch',
    async run(s) {
      const keys = manyKeys(1_000)
      await s.addAll(keys.map((key, i) => s.ask(key, { delayMs: i % 2 === 0 ? 0 : 1_000 })))
      await s.add('kept')
      const outcome = await s.driver.cancel(s.queue, reversed(keys))
      assertAll(outcome, 'cancelled', 1_000)
      assert.deepEqual(await s.states(), { ready: 1 })
    },
  },
  {
    id: 'size.forget',
    title: 'the failures of a thousand keys are reset in one batch',
    async run(s) {
      const keys = manyKeys(1_000)
      await s.addAll(keys.map((key) => s.ask(key, { failed: true })))
      await s.add('kept', { failed: true })
      assertAll(await s.driver.forget(s.queue, reversed(keys)), 'forgotten', 1_000)
      const failed = (await listMany(s)).filter(({ failures }) => failures > 0)
      assert.deepEqual(
        failed.map(({ key }) => key),
        ['kept'],
      )
    },
  },
  {
    id: 'size.sweep',
    title: 'thousands of expired failure counts are swept, no more at a time than the limit',
    async run(s) {
      await addMany(s, manyKeys(1_500), { failed: true })
      await doneSlowly(s)
      assert.deepEqual(await s.states(), { idle: 1_500 })
      await s.step(2_000)
      await s.add('fresh', { failed: true })
      let swept = 0
      for (let round = 0; round < 40 && swept < 1_500; round += 1) {
        const { swept: some } = await s.tick({ limit: 170, failuresExpireMs: 1_000 })
        assert.ok(some <= 170, `${some} were swept`)
        swept += some
      }
      assert.equal(swept, 1_500)
      assert.deepEqual(
        (await s.list()).rows.map(({ key }) => key),
        ['fresh'],
      )
    },
  },
  {
    id: 'size.list',
    title: 'thousands of keys are listed page by page, each once, in the order of their bytes',
    async run(s) {
      const keys = [...manyKeys(many), ...manyKeys(40, 'é'), ...manyKeys(40, 'Z/')]
      await addMany(s, keys)
      const sorted = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
      for (const limit of [1_000, 333]) {
        const rows = await listMany(s, { limit })
        assertSame(
          rows.map(({ key }) => key),
          sorted,
          'keys',
        )
      }
      const some = await listMany(s, { prefix: 'k1', limit: 7 })
      assertSame(
        some.map(({ key }) => key),
        sorted.filter((key) => key.startsWith('k1')),
        'keys',
      )
      const wanted = sorted.slice(100, 1_100)
      const { rows } = await s.list({ keys: wanted, limit: 1_000 })
      assertKeys(rows, wanted)
    },
  },
  {
    id: 'size.list.state',
    title: 'keys of one state are listed page by page, however many others are in between',
    async run(s) {
      // So few that most pages contain none of them.
      const keys = manyKeys(2 * many)
      const isDelayed = (key: string): boolean => Number(key.slice(1)) % 2_400 === 7
      for (const batch of inBatches(keys)) {
        await s.addAll(batch.map((key) => s.ask(key, { delayMs: isDelayed(key) ? 1_000 : 0 })))
      }
      const rows = await listMany(s, { state: 'delayed', limit: 3 })
      assertKeys(rows, keys.filter(isDelayed))
      assert.equal((await listMany(s, { state: 'ready' })).length, 2 * many - rows.length)
    },
  },
  {
    id: 'size.counts',
    title: 'thousands of keys are counted exactly up to the cap, and at least that far beyond it',
    async run(s) {
      await addMany(s, manyKeys(1_300, 'held'))
      const claims = await claimMany(s)
      await addMany(s, manyKeys(700, 'held'))
      await addMany(s, manyKeys(1_700, 'ready'))
      await addMany(s, manyKeys(1_100, 'delayed'), { delayMs: 1_000 })
      const dirty = claims.filter(({ key }) => Number(key.slice(4)) < 700).length
      const { ready, delayed, processing, dirty: counted, capped } = await s.counts(10_000)
      assert.deepEqual(
        { ready, delayed, processing, dirty: counted, capped },
        { ready: 1_700, delayed: 1_100, processing: 1_300 - dirty, dirty, capped: false },
      )
      const few = await s.counts(1_000)
      assert.equal(few.capped, true)
      assert.ok(few.ready >= 1_000 && few.ready <= 1_700, `${few.ready} ready`)
      assert.ok(few.delayed >= 1_000 && few.delayed <= 1_100, `${few.delayed} delayed`)
    },
  },
  {
    id: 'size.due',
    title: 'a thousand delayed keys become due one after another, each on time',
    async run(s) {
      const keys = manyKeys(1_000)
      const dueIn = (key: string): number => 1 + Number(key.slice(1))
      await s.addAll(keys.map((key) => s.ask(key, { delayMs: dueIn(key) })))
      let passed = 0
      for (const ms of [1, 9, 90, 400, 499, 1]) {
        const { now, nextAt } = await s.tick()
        assert.equal(nextAt - now, 1, 'the next one is due')
        await s.step(ms)
        const claims = await claimMany(s, { leaseMs: Infinity })
        assertKeys(
          claims,
          keys.filter((key) => dueIn(key) > passed && dueIn(key) <= passed + ms),
        )
        passed += ms
      }
      assert.equal((await s.tick()).nextAt, Infinity)
    },
  },
]

/** Claims everything and finishes it without forgetting. */
async function doneSlowly(s: Parameters<Case['run']>[0]): Promise<void> {
  const claims = await claimMany(s)
  for (const batch of inBatches(claims)) {
    await s.finishAll(batch.map(({ key, token }) => ({ as: 'done', key, token, forget: false })))
  }
}
