import assert from 'node:assert/strict'
import { type Claim, SluiceError, systemClock } from '@sluice/core'
import type { Case } from '../../case.ts'
import {
  addMany,
  assertKeys,
  claimMany,
  doneMany,
  inBatches,
  listMany,
  manyKeys,
} from '../../scene/many-keys.ts'
import { otherProcess } from '../../scene/other-scene.ts'
import { realTime } from '../../scene/real-time.ts'
import type { Scene } from '../../scene/scene.ts'
import { allWake, noneWakes, wakes } from '../../scene/wakes.ts'
import { assertOnce, assertTokensRise, claimTogether, worker } from './concurrent.ts'

const needs = { shared: true, otherProcess: true } as const

/** This process and another one: each once as the one that waits, and once as the one that acts. */
async function bothWays(s: Scene): Promise<readonly (readonly [Scene, Scene])[]> {
  const { scene: other } = await otherProcess(s)
  return [
    [s, other],
    [other, s],
  ]
}

/** The result of a call, also if the process that carried it out was killed. */
async function attempted<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME') || SluiceError.is(error, 'ERR_STORE')) {
      return undefined
    }
    throw error
  }
}

/**
 * What `read` finds of calls with so many keys each, whose processes were killed: all of a call or nothing. A
 * store may carry a call out after the kill, even while it is read.
 */
async function afterKill<Row>(size: number, read: () => Promise<Row[]>): Promise<Row[]> {
  let found = await read()
  if (found.length % size > 0) found = await read()
  assert.equal(found.length % size, 0, `${found.length} keys are a part of ${size}`)
  return found
}

/** Repeats a call while the store is busy, for example with a process that is held up, and has done nothing. */
async function patiently<T>(s: Scene, call: () => Promise<T>): Promise<T> {
  const endsAt = systemClock.monotonicMs() + s.context.hintMs
  for (let tries = 0; ; tries += 1) {
    try {
      return await call()
    } catch (error) {
      const isBusy = SluiceError.is(error) && error.retryable
      if (!isBusy || (tries >= 100 && systemClock.monotonicMs() > endsAt)) throw error
    }
    await realTime()
  }
}

/** Several processes on one store. */
export const processCases: readonly Case[] = [
  {
    id: 'processes.share',
    title: 'other processes see the changes of a process at once, and can continue with its keys',
    needs,
    async run(s) {
      const { scene: other } = await otherProcess(s)
      await s.add('a', { item: '{"from":"one"}', priority: 3 })
      const claim = await other.claimOne('a')
      assert.equal(claim.item, '{"from":"one"}')
      await s.add('a')
      assert.equal(await other.state('a'), 'dirty')
      assert.equal((await s.done(claim)).outcome, 'ready')
      assert.equal((await other.done(claim)).outcome, 'lost')
      await other.addAfter('b', 500)
      await s.step(499)
      await s.claimOne('a')
      await s.claimNone()
      await s.step(1)
      await s.claimOne('b')
    },
  },
  {
    id: 'processes.claims',
    title: 'processes that claim concurrently hand out each key once, with distinct tokens',
    needs,
    async run(s) {
      const { scene: other } = await otherProcess(s)
      const keys = manyKeys(2_000)
      await addMany(s, keys)
      assertOnce(await claimTogether([s, other], 90), keys)
    },
  },
  {
    id: 'processes.tokens',
    title: 'large claims by several processes in turn get ever greater tokens',
    needs,
    async run(s) {
      const { scene: other } = await otherProcess(s)
      await addMany(s, manyKeys(3_000))
      await assertTokensRise([s, other, s, other], 750)
    },
  },
  {
    id: 'processes.busy',
    title: 'processes that write concurrently lose nothing and do nothing twice',
    needs,
    async run(s) {
      const { scene: other } = await otherProcess(s)
      const keys = manyKeys(300)
      const runs = new Map<string, number>()
      let added = 0
      const work = async (scene: Scene, mine: readonly string[]): Promise<void> => {
        for (const batch of inBatches(mine, 5)) {
          const replies = await patiently(s, () => scene.addAll(batch, { maxPending: 1_000 }))
          added += replies.filter(({ outcome }) => outcome === 'added').length
          const { claims } = await patiently(s, () => scene.claim({ limit: 4, leaseMs: Infinity }))
          for (const { key } of claims) runs.set(key, (runs.get(key) ?? 0) + 1)
          await patiently(s, async () => await doneMany(scene, claims))
        }
      }
      await Promise.all([work(s, keys), work(other, keys.toReversed())])
      const left = await claimMany(s, { leaseMs: Infinity })
      for (const { key } of left) runs.set(key, (runs.get(key) ?? 0) + 1)
      const total = [...runs.values()].reduce((sum, count) => sum + count, 0)
      assert.equal(total, added, 'one run for each add that was not merged')
      assertKeys(
        [...runs.keys()].map((key) => ({ key })),
        keys,
      )
    },
  },
  {
    id: 'processes.wake',
    title: 'changes by one process wake waiting drivers in other processes, in every queue',
    needs: { ...needs, watch: true },
    async run(s) {
      for (const [watching, acting] of await bothWays(s)) {
        for (let round = 0; round < 3; round += 1) {
          await allWake(watching, ['one', 'two'], () =>
            Promise.all([acting.on('one').add('a'), acting.on('two').add('a')]),
          )
          for (const name of ['one', 'two']) {
            const claim = await watching.on(name).claimOne('a')
            await watching.on(name).done(claim)
          }
        }
      }
    },
  },
  {
    id: 'processes.wake.quiet',
    title: 'changes by one process in a quiet queue wake waiting drivers in other processes',
    needs: { ...needs, watch: true },
    async run(s) {
      const { scene: other } = await otherProcess(s)
      for (let round = 0; round < 5; round += 1) await s.on('busy').addAll([`${round}`])
      await allWake(s, ['quiet'], () => other.on('quiet').add('a'), ['busy'])
      // Afterwards nothing is left to do in it, so that the other process waits.
      await s.on('quiet').claimOne('a')
      await allWake(other, ['quiet'], () => s.on('quiet').add('b'), ['busy'])
    },
  },
  {
    id: 'processes.wake.verbs',
    title: 'every verb by which one process makes a key claimable wakes other processes',
    needs: { ...needs, watch: true, operate: true },
    async run(s) {
      for (const [watching, acting] of await bothWays(s)) {
        await watching.add('a')
        let claim = await watching.claimOne('a')
        const wakesWith = async (act: () => Promise<unknown>): Promise<void> => {
          await wakes(watching, act)
          claim = await watching.claimOne('a')
        }
        await wakesWith(() => acting.release(claim))
        await wakesWith(() => acting.retry(claim, 0))
        await watching.add('a')
        await wakesWith(() => acting.done(claim))
        await watching.retry(claim, 5_000)
        const { operate, queue } = acting
        await wakesWith(async () => await operate.runNow(queue, ['a']))
        await watching.parkHeld(claim)
        await wakesWith(async () => await operate.unpark(queue, ['a'], { forget: false }))
        await operate.pause(queue)
        await watching.release(claim)
        await wakesWith(async () => await operate.resume(queue))
        await watching.done(claim)
      }
    },
  },
  {
    id: 'processes.idle',
    title: 'heartbeats of workers wake no other process while nothing changes',
    needs: { ...needs, watch: true },
    async run(s) {
      const { scene: other } = await otherProcess(s)
      const third = (await otherProcess(s, 'third')).scene
      await s.addAfter('later', 100_000)
      await noneWakes([s, other, third], async (run) => {
        for (let round = 0; round < 3; round += 1) {
          for (const [i, scene] of [s, other, third].entries()) {
            const holder = `holder ${i} of run ${run}`
            await scene.tick({ holder, worker: worker(holder) })
            await scene.claimNone()
          }
          await s.step(10_000)
        }
      })
    },
  },
  {
    id: 'processes.workers',
    title: 'the workers of all processes are listed, and a pause by one process holds for all',
    needs: { ...needs, workers: true, operate: true },
    async run(s) {
      const { scene: other } = await otherProcess(s)
      await s.tick({ holder: 'here', worker: worker('here') })
      await other.tick({ holder: 'there', worker: worker('there') })
      for (const scene of [s, other]) {
        const workers = (await scene.driver.workers?.(s.queue, 60_000)) ?? []
        assert.deepEqual(workers.map(({ holder }) => holder).sort(), ['here', 'there'])
      }
      await other.operate.pause(s.queue)
      await s.add('a')
      await s.claimNone()
      await s.operate.resume(s.queue)
      await other.claimOne('a')
    },
  },
  {
    id: 'processes.killed.kept',
    title: 'everything that a process acknowledged is stored after it was killed, its leases too',
    needs,
    async run(s) {
      const { scene: other, kill } = await otherProcess(s)
      await addMany(other, manyKeys(1_200))
      const { claims } = await other.claim({ limit: 700, leaseMs: 1_000 })
      await doneMany(other, claims.slice(0, 100))
      await other.retry(claims[100] as Claim, 5_000, { error: 'why' })
      await kill()
      assert.deepEqual(await s.states(), { ready: 500, processing: 599, backoff: 1 })
      assert.equal((await s.row((claims[100] as Claim).key)).lastError, 'why')
      await s.step(999)
      assert.deepEqual((await s.tick({ limit: 1_000 })).leaseEnds, [])
      await s.step(1)
      const { leaseEnds } = await s.tick({ limit: 1_000 })
      assertKeys(
        leaseEnds,
        claims.slice(101).map(({ key }) => key),
      )
      const next = await s.claimOne()
      assert.ok(next.token > Math.max(...claims.map(({ token }) => token)))
    },
  },
  {
    id: 'processes.killed.adding',
    title: 'a batch of a thousand adds whose process is killed is stored completely or not at all',
    needs,
    async run(s) {
      for (let round = 0; round < 4; round += 1) {
        const { scene: other, kill } = await otherProcess(s, `round ${round}`)
        const queue = other.on(`queue ${round}`)
        const call = attempted(
          queue.addAll(manyKeys(1_000).map((key, i) => s.ask(key, { priority: i % 2 }))),
        )
        // The first is killed before it can begin, the others a few turns later.
        for (let turn = 0; turn < round * 8; turn += 1) await s.step(0)
        await kill()
        const isKnown = (await call) !== undefined
        const found = await afterKill(1_000, () => listMany(s.on(queue.queue)))
        assert.ok(found.length === 1_000 || !isKnown, 'an add that was acknowledged is missing')
        const { ready } = await s.on(queue.queue).counts()
        assert.ok(ready === 1_000 || ready === found.length, `${ready} keys are counted`)
      }
      await s.add('after')
      await s.claimOne('after')
    },
  },
  {
    id: 'processes.killed.claiming',
    title: 'a claim whose process is killed keeps its keys held, and its tokens are not reused',
    needs,
    async run(s) {
      const keys = manyKeys(2_000)
      await addMany(s, keys)
      let last = 0
      for (let round = 0; round < 3; round += 1) {
        const { scene: other, kill } = await otherProcess(s, `round ${round}`)
        const call = attempted(other.claim({ limit: 500, leaseMs: Infinity }))
        for (let turn = 0; turn < round * 8; turn += 1) await s.step(0)
        await kill()
        await call
        const held = await afterKill(500, async () =>
          (await listMany(s)).filter(({ token }) => token > last),
        )
        last = Math.max(last, ...held.map(({ token }) => token))
      }
      const rest = await claimMany(s)
      assert.ok(rest.every(({ token }) => token > last))
      assert.equal(new Set((await listMany(s)).map(({ token }) => token)).size, 2_000)
    },
  },
  {
    id: 'processes.open',
    title: 'processes that open an empty store concurrently all find it ready',
    needs,
    async run(s) {
      const subject = await s.context.create()
      await s.context.resources.own(subject)
      const others = [await subject.otherProcess?.(), await subject.otherProcess?.()]
      const drivers = [subject.driver, ...others.map((other) => other?.driver ?? subject.driver)]
      const scenes = await Promise.all(
        drivers.map(async (driver, i) => await s.openOn(driver, `driver ${i}`, `driver ${i}: `)),
      )
      await Promise.all(
        scenes.map(async (scene, i) => await patiently(s, () => scene.add(`k${i}`))),
      )
      for (const scene of scenes) assert.deepEqual(await scene.states(), { ready: 3 })
    },
  },
]
