import assert from 'node:assert/strict'
import type { Claim } from '@sluice/core'
import type { Case } from '../../case.ts'
import {
  addMany,
  assertKeys,
  assertSame,
  claimMany,
  doneMany,
  listMany,
  manyKeys,
} from '../../scene/many-keys.ts'
import { afterPowerCut } from '../../scene/other-scene.ts'
import type { Scene } from '../../scene/scene.ts'

const needs = { durable: true, cutPower: true } as const

/** Everything that the driver reports as stored. */
async function stored(s: Scene): Promise<readonly unknown[]> {
  const buckets = await s.driver.buckets?.()
  const queues = await s.driver.queues?.()
  return [await s.counts(), { buckets, queues }, ...(await listMany(s))]
}

/** Runs `act`, cuts the power, and asserts that the store is as the driver reported before the cut. */
async function keeps(s: Scene, act: () => Promise<unknown>): Promise<Scene> {
  await act()
  const before = await stored(s)
  const after = await afterPowerCut(s)
  assertSame(await stored(after), before, 'what was acknowledged')
  return after
}

/** Power cuts: the acknowledged writes of a durable driver survive them. */
export const powerCases: readonly Case[] = [
  {
    id: 'power.add',
    title: 'an acknowledged add survives a power cut',
    needs,
    async run(s) {
      const after = await keeps(s, () => s.add('a', { item: '{"n":1}', priority: -3 }))
      assert.equal((await after.claimOne('a')).item, '{"n":1}')
    },
  },
  {
    id: 'power.batch',
    title: 'acknowledged batches of a thousand survive a power cut, complete and in order',
    needs,
    async run(s) {
      const keys = manyKeys(2_000)
      const after = await keeps(s, () => addMany(s, keys))
      assertKeys(await claimMany(after), keys)
    },
  },
  {
    id: 'power.last',
    title: 'the last write before a power cut is kept, whichever verb it was',
    needs,
    timeoutMs: 60_000,
    async run(first) {
      let s = first
      const names = ['done', 'retry', 'release', 'park', 'renew', 'expire', 'cancel', 'forget']
      await s.addAll(names.map((name) => s.ask(name, { failed: true })))
      const claims = new Map(
        (await claimMany(s, { leaseMs: 1_000 })).map((each) => [each.key, each]),
      )
      const of = (key: string): Claim => claims.get(key) as Claim
      const writes: readonly ((scene: Scene) => Promise<unknown>)[] = [
        (scene) => scene.done(of('done'), { forget: true }),
        (scene) => scene.retry(of('retry'), 5_000, { error: 'why' }),
        (scene) => scene.release(of('release')),
        (scene) => scene.parkHeld(of('park')),
        (scene) => scene.renew(of('renew'), 9_000),
        (scene) => scene.forget('forget'),
        async (scene) => {
          await scene.step(1_000)
          return await scene.expire(of('expire'))
        },
        (scene) => scene.cancel('release'),
      ]
      for (const write of writes) {
        const acting: Scene = s
        s = await keeps(acting, () => write(acting))
      }
    },
  },
  {
    id: 'power.tokens',
    title: 'no token is given out again after a power cut',
    needs,
    async run(s) {
      await addMany(s, manyKeys(1_500))
      const { claims } = await s.claim({ limit: 1_000 })
      const after = await afterPowerCut(s)
      const next = await after.claimOne()
      assert.ok(next.token > Math.max(...claims.map(({ token }) => token)))
      assert.equal(
        claims.some(({ key }) => key === next.key),
        false,
      )
      await doneMany(after, claims)
      assert.deepEqual(await after.states(), { ready: 499, processing: 1 })
    },
  },
  {
    id: 'power.middle',
    title: 'a batch that is in flight at a power cut is stored completely or not at all',
    needs,
    timeoutMs: 60_000,
    async run(first) {
      let s = first
      for (let round = 0; round < 3; round += 1) {
        const queue = `queue ${round}`
        const asks = manyKeys(1_000).map((key, i) => s.ask(key, { priority: i % 2 }))
        await s.add(`acknowledged ${round}`)
        const call = s
          .on(queue)
          .addAll(asks)
          .catch(() => undefined)
        for (let turn = 0; turn < round * 6; turn += 1) await s.step(0)
        const next = await afterPowerCut(s)
        const isKnown = (await call) !== undefined
        const { length } = await listMany(next.on(queue))
        assert.ok(length === 1_000 || length === 0, `${length} keys`)
        if (isKnown) assert.equal(length, 1_000)
        s = next
      }
      assert.deepEqual(await s.states(), { ready: 3 })
    },
  },
  {
    id: 'power.pause',
    title: 'a pause, a parked key and a purge survive a power cut',
    needs: { ...needs, operate: true },
    async run(s) {
      const after = await keeps(s, async () => {
        await s.addAll(['parked', 'gone'])
        await s.operate.park(s.queue, ['parked'])
        await s.on('purged').addAll(['a', 'b'])
        await s.operate.purge('purged')
        await s.operate.pause(s.queue)
      })
      assert.equal((await after.counts()).paused, true)
      assert.deepEqual(await after.on('purged').states(), {})
    },
  },
]
