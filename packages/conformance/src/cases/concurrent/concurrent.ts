import assert from 'node:assert/strict'
import { type Claim, emptyKeyState, never, type WorkerInfo } from '@sluice/core'
import { nextTurn, transferRow } from '@sluice/core/driver'
import type { Case } from '../../case.ts'
import {
  addMany,
  assertKeys,
  claimMany,
  doneMany,
  inBatches,
  manyKeys,
} from '../../scene/many-keys.ts'
import type { Scene } from '../../scene/scene.ts'
import { allWake, noneWakes } from '../../scene/wakes.ts'
import { addStubbornly } from './add-stubbornly.ts'

/** Several drivers on the store of `s`, and `s` itself. */
async function openDrivers(s: Scene, count: number): Promise<readonly Scene[]> {
  const scenes = [s]
  for (let i = 1; i < count; i += 1) scenes.push(await s.peer(`driver ${i}`))
  return scenes
}

/** Lets all drivers claim concurrently until no key is left. */
export async function claimTogether(scenes: readonly Scene[], limit: number): Promise<Claim[]> {
  const all: Claim[] = []
  await Promise.all(
    scenes.map(async (scene) => {
      for (let empty = 0; empty < 2; ) {
        const { claims } = await scene.claim({ limit })
        empty = claims.length === 0 ? empty + 1 : 0
        all.push(...claims)
      }
    }),
  )
  return all
}

/** Asserts that these keys were handed out once each, with distinct tokens. */
export function assertOnce(claims: readonly Claim[], keys: readonly string[]): void {
  assertKeys(claims, keys)
  assert.equal(new Set(claims.map(({ token }) => token)).size, claims.length, 'each its own token')
}

/** Claims keys from each scene in turn, and asserts that every token is greater than the one before. */
export async function assertTokensRise(scenes: readonly Scene[], limit: number): Promise<void> {
  let last = 0
  for (const scene of scenes) {
    const { claims } = await scene.claim({ limit })
    assert.equal(claims.length, limit)
    for (const { token } of claims) {
      assert.ok(token > last, `${token} after ${last}`)
      last = token
    }
  }
}

/** Purges a large queue while keys are added to it, asserts that these are kept, and says how many they are. */
async function addToPurged(s: Scene): Promise<number> {
  // Many held keys: a driver may remove them in another way than few.
  await addMany(s, manyKeys(2_100, 'held'))
  await claimMany(s)
  await s.add('held0')
  await addMany(s, manyKeys(2_600))
  let hasEnded = false
  const purged = Promise.resolve(s.operate.purge(s.queue)).finally(() => {
    hasEnded = true
  })
  while (!hasEnded && (await s.counts()).dirty === 1);
  const added: string[] = []
  do {
    // Behind all others in the order of the keys.
    added.push(`z${added.length}`)
    await s.addAll(added.slice(-1))
    await new Promise<void>(nextTurn)
  } while (!hasEnded)
  assert.equal(await purged, 2_601)
  assertKeys(await claimMany(s), added)
  return added.length
}

/** A worker as a queue registers it. */
export function worker(holder: string): WorkerInfo {
  return { holder, host: 'here', pid: 1, concurrency: 4, settings: {} }
}

/** Several queues at the same time, and several drivers on one store. */
export const concurrentCases: readonly Case[] = [
  {
    id: 'concurrent.queues.wake',
    title: 'when several queues get keys in one turn of the event loop, each of them is woken',
    needs: { watch: true },
    async run(s) {
      const names = manyKeys(20, 'queue')
      await allWake(s, names, () =>
        Promise.all(names.map(async (name) => await s.on(name).add('a'))),
      )
    },
  },
  {
    id: 'concurrent.queues.wake.verbs',
    title:
      'when different verbs make keys ready in several queues in one turn, each queue is woken',
    needs: { watch: true, operate: true, transfer: true },
    async run(s) {
      const prepared = {
        dirty: s.on('dirty'),
        release: s.on('release'),
        retry: s.on('retry'),
        expire: s.on('expire'),
        unpark: s.on('unpark'),
        runNow: s.on('run now'),
        resume: s.on('resume'),
        transfer: s.on('transfer'),
      }
      const { dirty, release, retry, expire, unpark, runNow, resume, transfer } = prepared
      for (const each of [dirty, release, retry, expire]) await each.add('a')
      const [first, second, third] = [
        await dirty.claimOne('a'),
        await release.claimOne('a'),
        await retry.claimOne('a'),
      ]
      const fourth = await expire.claimOne('a', { leaseMs: 10 })
      await dirty.add('a')
      await unpark.add('a')
      await unpark.operate.park(unpark.queue, ['a'])
      await runNow.addAfter('a', 1_000)
      await resume.add('a')
      await resume.operate.pause(resume.queue)
      await s.step(10)
      const now = s.now()
      const state = { ...emptyKeyState(), dueAt: now, readyAt: now, seq: 1, askedAt: now }
      const row = transferRow({
        ...state,
        key: 'a',
        state: 'ready',
        item: undefined,
        holder: undefined,
        lastError: undefined,
      })
      const scenes = Object.values(prepared)
      await allWake(
        s,
        scenes.map(({ queue }) => queue),
        () =>
          Promise.all([
            dirty.done(first),
            release.release(second),
            retry.retry(third, 0),
            expire.expire(fourth),
            unpark.operate.unpark(unpark.queue, ['a'], { forget: false }),
            runNow.operate.runNow(runNow.queue, ['a']),
            resume.operate.resume(resume.queue),
            transfer.driver.transfer?.importRows(transfer.queue, [row]),
          ]),
      )
      for (const each of scenes) await each.claimOne('a')
    },
  },
  {
    id: 'concurrent.queues.interleaved',
    title: 'verbs on several queues that are called in one turn do not interfere with each other',
    async run(s) {
      const queues = manyKeys(8, 'queue').map((name) => s.on(name))
      const keys = manyKeys(120)
      await Promise.all(
        queues.map(async (queue) => {
          for (const batch of inBatches(keys, 30)) await queue.addAll(batch)
        }),
      )
      await Promise.all(
        queues.map(async (queue) => {
          const claims = await claimMany(queue, { limit: 25 })
          assertOnce(claims, keys)
          await doneMany(queue, claims.slice(0, 50))
        }),
      )
      for (const queue of queues) assert.deepEqual(await queue.states(), { processing: 70 })
    },
  },
  {
    id: 'concurrent.queues.purge',
    title:
      'a purge, a pause and a sweep of one queue leave thousands of keys of other queues unchanged',
    needs: { operate: true },
    async run(s) {
      const [other, third] = [s.on('other'), s.on('third')]
      const keys = manyKeys(1_200)
      for (const each of [s, other, third]) await addMany(each, keys)
      await other.operate.pause(other.queue)
      await s.operate.purge(s.queue)
      await s.tick({ limit: 1_000, failuresExpireMs: 1 })
      assert.deepEqual(await s.states(), {})
      assert.deepEqual(await other.states(), { ready: 1_200 })
      assertKeys(await claimMany(third), keys)
      await other.operate.resume(other.queue)
      assertKeys(await claimMany(other), keys)
    },
  },
  {
    id: 'concurrent.queues.purge-adds',
    title: 'a purge of thousands of keys keeps the keys that are added after it has begun',
    needs: { operate: true },
    async run(s) {
      // It takes an add that is answered while the purge runs to tell; a busy machine may allow none.
      for (let round = 0; round < 3; round += 1) {
        if ((await addToPurged(s.on(`q${round}`))) > 1) return
      }
    },
  },
  {
    id: 'concurrent.drivers.claims',
    title: 'drivers that claim concurrently hand out each key once, with distinct tokens',
    needs: { peers: true },
    async run(s) {
      const scenes = await openDrivers(s, 4)
      const keys = manyKeys(1_600)
      await addMany(s, keys)
      assertOnce(await claimTogether(scenes, 60), keys)
    },
  },
  {
    id: 'concurrent.drivers.adds',
    title: 'keys that several drivers add concurrently are stored once, and none is missing',
    needs: { peers: true },
    async run(s) {
      const scenes = await openDrivers(s, 4)
      const keys = manyKeys(800)
      const shift = (by: number): string[] => [...keys.slice(by), ...keys.slice(0, by)]
      await Promise.all(
        scenes.map(async (scene, i) => {
          for (const batch of inBatches(shift(i * 150), 100)) await addStubbornly(scene, batch)
        }),
      )
      assert.deepEqual(await s.states(), { ready: 800 })
      assertOnce(await claimTogether(scenes, 100), keys)
    },
  },
  {
    id: 'concurrent.drivers.tokens',
    title: 'large claims by several drivers in turn get ever greater tokens',
    needs: { peers: true },
    async run(s) {
      const scenes = await openDrivers(s, 3)
      await addMany(s, manyKeys(3_000))
      await assertTokensRise([...scenes, ...scenes], 500)
    },
  },
  {
    id: 'concurrent.drivers.hand-over',
    title:
      'a key that one driver claimed can be renewed, finished, released, parked and expired by another',
    needs: { peers: true },
    async run(s) {
      const [, two, three] = (await openDrivers(s, 3)) as [Scene, Scene, Scene]
      const keys = manyKeys(500)
      await s.addAll(keys)
      const claims = await claimMany(s, { leaseMs: 1_000 })
      const leases = claims.map(({ key, token }) => ({ key, token }))
      await s.step(500)
      const renewed = await two.driver.renew(s.queue, leases.slice(0, 400), 1_000)
      assert.ok(renewed.every(({ outcome }) => outcome === 'renewed'))
      await s.step(500)
      assert.ok(
        (await three.expireAll(leases)).every((outcome, i) => {
          return outcome === (i < 400 ? 'lost' : 'expired')
        }),
      )
      await doneMany(three, leases.slice(0, 300))
      for (const lease of leases.slice(300, 310)) await two.release(lease)
      for (const lease of leases.slice(310, 320)) await three.parkHeld(lease)
      assert.deepEqual(await s.states(), { ready: 110, parked: 10, processing: 80 })
    },
  },
  {
    id: 'concurrent.drivers.max-pending',
    title: 'drivers that add concurrently respect one common maxPending',
    needs: { peers: true },
    async run(s) {
      const scenes = await openDrivers(s, 4)
      let taken = 0
      await Promise.all(
        scenes.map(async (scene, i) => {
          for (const batch of inBatches(manyKeys(90, `driver ${i}/`), 9)) {
            const replies = await scene.addAll(batch, { maxPending: 100 })
            taken += replies.filter(({ outcome }) => outcome === 'added').length
          }
        }),
      )
      assert.equal(taken, 100)
      assert.deepEqual(await s.states(), { ready: 100 })
    },
  },
  {
    id: 'concurrent.drivers.bucket',
    title: 'drivers that take from one bucket concurrently get no more tokens than it holds',
    needs: { peers: true },
    async run(s) {
      const scenes = await openDrivers(s, 3)
      const plan = { kind: 'bucket', name: 'queue:q', perSecond: 10, burst: 20 } as const
      const planned: number[] = []
      await Promise.all(
        scenes.map(async (scene, i) => {
          for (let n = 0; n < 20; n += 1) {
            const added = await addStubbornly(scene, [`driver ${i}/${n}`], { plan, jitter: 0 })
            for (const { plannedMs = -1 } of added) planned.push(plannedMs)
          }
        }),
      )
      planned.sort((a, b) => a - b)
      for (const [i, ms] of planned.entries()) {
        const expected = Math.max(0, i - 19) * 100
        assert.ok(Math.abs(ms - expected) < 0.01, `token ${i} in ${ms} ms, not ${expected}`)
      }
    },
  },
  {
    id: 'concurrent.drivers.wake',
    title: 'changes by several drivers in several queues wake all of those queues',
    needs: { peers: true, watch: true },
    async run(s) {
      const scenes = await openDrivers(s, 3)
      for (const acting of scenes) {
        for (const watching of scenes.filter((each) => each !== acting)) {
          await allWake(watching, ['one', 'two'], async () => {
            await Promise.all([acting.on('one').add('a'), acting.on('two').add('a')])
          })
          for (const name of ['one', 'two']) await acting.driver.cancel(name, ['a'])
        }
      }
    },
  },
  {
    id: 'concurrent.drivers.idle',
    title: 'heartbeats of workers wake no other driver while nothing changes',
    needs: { peers: true, watch: true },
    async run(s) {
      const scenes = await openDrivers(s, 3)
      await s.addAfter('later', 100_000)
      const { nextAt: dueAt, now: addedAt } = await s.tick()
      assert.equal(dueAt, addedAt + 100_000)
      await noneWakes(scenes, async (run) => {
        for (let round = 0; round < 3; round += 1) {
          for (const [i, scene] of scenes.entries()) {
            const holder = `holder ${i} of run ${run}`
            const { nextAt } = await scene.tick({ holder, worker: worker(holder) })
            assert.equal(nextAt, dueAt)
            await scene.claimNone()
          }
          await s.step(10_000)
        }
      })
    },
  },
  {
    id: 'concurrent.drivers.close',
    title: 'closing a driver while others are working loses nothing',
    needs: { peers: true },
    async run(s) {
      const [, two, three, four] = (await openDrivers(s, 4)) as [Scene, Scene, Scene, Scene]
      const keys = manyKeys(600)
      await addMany(two, keys)
      const { claims } = await three.claim({ limit: 100 })
      const [taken] = await Promise.all([claimTogether([s, four], 40), two.close(), three.close()])
      assertOnce([...claims, ...taken], keys)
      assert.deepEqual(await s.states(), { processing: 600 })
      await doneMany(four, claims)
      assert.equal((await s.peer('five')).driver.name, s.driver.name)
      assert.deepEqual(await four.states(), { processing: 500 })
    },
  },
  {
    id: 'concurrent.drivers.open',
    title: 'drivers that open an empty store concurrently all find it ready',
    needs: { peers: true },
    async run(s) {
      const subject = await s.context.create()
      await s.context.resources.own(subject)
      const drivers = [subject.driver]
      for (let i = 0; i < 4; i += 1) drivers.push((await subject.peer?.()) ?? subject.driver)
      const scenes = await Promise.all(
        drivers.map(async (driver, i) => await s.openOn(driver, `driver ${i}`, `driver ${i}: `)),
      )
      await Promise.all(scenes.map(async (scene, i) => await scene.add(`k${i}`)))
      for (const scene of scenes) assert.deepEqual(await scene.states(), { ready: 5 })
      assert.equal((await (scenes[0] as Scene).tick()).nextAt === never, false)
    },
  },
]
