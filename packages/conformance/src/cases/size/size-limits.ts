import assert from 'node:assert/strict'
import { errorBytesMax, itemBytesMax, keyBytesMax, priorityMax, priorityMin } from '@sluice/core'
import { transferRow } from '@sluice/core/driver'
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
import type { Scene } from '../../scene/scene.ts'

const hour = 3_600_000

/** Priorities from the lowest to the highest, `step` apart. */
function priorities(step: number): number[] {
  const count = (priorityMax - priorityMin) / step + 1
  return Array.from({ length: count }, (_, i) => priorityMin + i * step)
}

/** A JSON text of exactly `bytes` bytes that differs from others at its end. */
function itemOf(bytes: number, filler: string, end: string): string {
  const width = Buffer.byteLength(filler)
  const room = bytes - 2 - end.length
  return `"${filler.repeat(Math.floor(room / width))}${'.'.repeat(room % width)}${end}"`
}

/** Adds a key for each item, claims them all, and compares. */
async function carries(s: Scene, items: readonly string[]): Promise<void> {
  const keys = items.map((_, i) => `k${i}`)
  await s.addAll(keys.map((key, i) => s.ask(key, { item: items[i] as string })))
  const found = new Map((await claimMany(s)).map(({ key, item }) => [key, item]))
  const rows = new Map((await listMany(s)).map(({ key, item }) => [key, item]))
  for (const [index, key] of keys.entries()) {
    for (const item of [found.get(key), rows.get(key)]) {
      assert.equal(item?.length, items[index]?.length, `the length of the item of ${key}`)
      assert.ok(item === items[index], `the item of ${key}`)
    }
  }
}

/** Priorities, keys, items and names up to their limits. */
export const sizeLimitCases: readonly Case[] = [
  {
    id: 'size.priorities.order',
    title: 'keys of two hundred priorities come out by priority',
    needs: { order: 'per-producer' },
    async run(s) {
      const all = priorities(10)
      const keys = manyKeys(all.length)
      const priorityOf = (key: string): number => all[Number(key.slice(1))] as number
      await s.addAll(keys.map((key) => s.ask(key, { priority: priorityOf(key) })))
      await s.addAll(keys.map((key) => s.ask(`${key}/2`, { priority: priorityOf(key) })))
      const claims = await claimMany(s, { limit: 64 })
      assert.deepEqual(
        claims.map(({ priority }) => priority),
        all.toReversed().flatMap((priority) => [priority, priority]),
      )
    },
  },
  {
    id: 'size.priorities.starve',
    title: 'keys in higher priorities that are not due do not hide a ready key',
    needs: { order: 'per-producer' },
    async run(s) {
      const higher = priorities(20).filter((priority) => priority > priorityMin)
      await s.addAll(
        higher.map((priority) => s.ask(`delayed${priority}`, { priority, delayMs: hour })),
      )
      await s.addAll(higher.map((priority) => s.ask(`held${priority}`, { priority })))
      const held = await claimMany(s)
      assert.equal(held.length, higher.length)
      for (const claim of held.slice(0, 40)) await s.parkHeld(claim)
      await s.addAll(held.slice(40).map(({ key, priority }) => s.ask(key, { priority })))
      await s.add('lowest', { priority: priorityMin })
      await s.claimOne('lowest')
      await s.step(hour)
      assert.equal((await s.claimOne()).priority, priorityMax)
    },
  },
  {
    id: 'size.priorities.next',
    title: 'with many priorities a tick reports the next key that is due, whatever its priority',
    async run(s) {
      const all = priorities(40)
      await s.addAll(all.map((priority, i) => s.ask(`k${i}`, { priority, delayMs: hour + i })))
      const first = all.map((_, i) => i).filter((i) => i % 7 === 3)
      for (const i of first.toReversed()) {
        await s.addAfter(`soon${i}`, 10 + i, { priority: all[i] as number })
        const { now, nextAt } = await s.tick()
        assert.equal(nextAt - now, 10 + i)
      }
    },
  },
  {
    id: 'size.keys.longest',
    title: 'keys of maximum length that differ only in their last byte are distinct',
    async run(s) {
      const wide = '🚰'.repeat(100)
      const keys = Array.from({ length: 500 }, (_, i) => {
        const end = String(i).padStart(4, '0')
        const start = i % 2 === 0 ? 'k' : wide
        return `${start.padEnd(start.length + keyBytesMax - Buffer.byteLength(start) - 4, '-')}${end}`
      })
      for (const key of keys) assert.equal(Buffer.byteLength(key), keyBytesMax)
      await addMany(s, keys)
      const claims = await claimMany(s)
      assertKeys(claims, keys)
      assertKeys(await listMany(s, { limit: 37 }), keys)
      assertAll(await s.driver.cancel(s.queue, keys), 'unchanged', keys.length)
      const replies = await s.finishAll(
        claims.map(({ key, token }) => ({ as: 'retry', key, token, delayMs: 5 })),
      )
      assertAll(
        replies.map(({ outcome }) => outcome),
        'delayed',
        keys.length,
      )
      await s.step(5)
      assertKeys(await claimMany(s), keys)
    },
  },
  {
    id: 'size.items.longest',
    title: 'an item of maximum length is returned unchanged, whatever it contains',
    async run(s) {
      const fillers = ['x', 'é', '漢', '🚰', '\\"', '\\u0001']
      await carries(
        s,
        fillers.map((filler, i) => itemOf(itemBytesMax, filler, String(i))),
      )
    },
  },
  {
    id: 'size.items.lengths',
    title: 'items of every length up to the maximum are returned unchanged, in one batch',
    async run(s) {
      const lengths = Array.from({ length: 18 }, (_, power) => 2 ** (power + 3))
      const around = lengths.flatMap((length) => [length - 1, length, length + 1])
      await carries(
        s,
        [...around, 200_001, 500_000].map((bytes, i) => itemOf(bytes, 'y', String(i % 10))),
      )
    },
  },
  {
    id: 'size.items.replaced',
    title: 'a waiting key whose item grows and shrinks keeps the last item added',
    async run(s) {
      for (const bytes of [10, 300_000, 20, itemBytesMax, 5_000]) {
        await s.add('a', { item: itemOf(bytes, 'z', '!') })
        assert.equal((await s.row('a')).item, itemOf(bytes, 'z', '!'))
      }
      assert.equal((await s.claimOne('a')).item, itemOf(5_000, 'z', '!'))
    },
  },
  {
    id: 'size.errors.longest',
    title: 'errors of maximum length are stored completely, each with its key',
    async run(s) {
      const keys = manyKeys(300)
      await s.addAll(keys)
      const text = (key: string): string => key.padEnd(errorBytesMax, '!')
      const claims = await claimMany(s)
      await s.finishAll(
        claims.map(({ key, token }) => ({
          as: 'retry',
          key,
          token,
          delayMs: hour,
          error: text(key),
        })),
      )
      for (const { key, lastError } of await listMany(s)) assert.ok(lastError === text(key), key)
    },
  },
  {
    id: 'size.queues',
    title: 'hundreds of queues keep their keys separate, and all are listed',
    needs: { queues: true },
    async run(s) {
      const names = manyKeys(300, 'queue')
      for (const name of names) await s.on(name).addAll(['same', name])
      const known = (await s.driver.queues?.()) ?? []
      assert.deepEqual([...known].sort(), [...names].sort())
      for (const name of names.slice(0, 20)) {
        assertKeys((await s.on(name).claim({ limit: 10 })).claims, ['same', name])
      }
      for (const name of names.slice(20, 40)) {
        assert.deepEqual(await s.on(name).states(), { ready: 2 })
      }
    },
  },
  {
    id: 'size.queues.paused',
    title: 'a paused queue without keys stays paused and listed while a hundred others are used',
    needs: { queues: true, operate: true },
    async run(s) {
      const paused = s.on('paused')
      await s.operate.pause(paused.queue)
      for (const name of manyKeys(100, 'queue')) await s.on(name).cancel('a')
      assert.deepEqual(await s.driver.queues?.(), ['paused'])
      await paused.add('a')
      await paused.claimNone()
    },
  },
  {
    id: 'size.holders',
    title: 'a held key is listed with its holder, however many others have claimed since',
    async run(s) {
      await s.add('long')
      await s.as('patient').claimOne('long', { leaseMs: Infinity })
      await addMany(s, manyKeys(1_100))
      for (const holder of manyKeys(1_100, 'holder')) await s.as(holder).claimOne()
      assert.equal((await s.row('long')).holder, 'patient')
    },
  },
  {
    id: 'size.workers',
    title: 'hundreds of workers of a queue are all listed',
    needs: { workers: true },
    async run(s) {
      const holders = manyKeys(300, 'worker')
      const settings = {}
      for (const holder of holders) {
        const worker = { holder, host: 'here', pid: 1, concurrency: 1, settings }
        await s.tick({ holder, worker })
      }
      const workers = (await s.driver.workers?.(s.queue, hour)) ?? []
      assert.deepEqual(workers.map(({ holder }) => holder).sort(), [...holders].sort())
    },
  },
  {
    id: 'size.buckets',
    title: 'a batch of a thousand adds takes its tokens one by one, from any number of buckets',
    needs: { sharedBuckets: true },
    async run(s) {
      const bucketOf = (i: number): string => `bucket ${i % 40}`
      const asks = manyKeys(1_000).map((key, i) =>
        s.ask(key, {
          plan: { kind: 'bucket', name: bucketOf(i), perSecond: 100, burst: 5 },
          jitter: 0,
        }),
      )
      const replies = await s.addAll(asks)
      for (const [i, { plannedMs = -1 }] of replies.entries()) {
        const before = Math.floor(i / 40)
        const expected = Math.max(0, before - 4) * 10
        assert.ok(Math.abs(plannedMs - expected) < 0.001, `ask ${i}: ${plannedMs}, not ${expected}`)
      }
      if (s.driver.capabilities.buckets) {
        assert.equal((await s.driver.buckets?.())?.length, 40)
      }
    },
  },
  {
    id: 'size.operate',
    title: 'a thousand keys are parked, unparked, run now and removed, each in one batch',
    needs: { operate: true },
    async run(s) {
      const keys = manyKeys(1_000)
      const others = keys.toReversed()
      const { operate, queue } = s
      await s.add('kept')
      await s.addAll(keys.map((key) => s.ask(key, { delayMs: hour, failed: true })))
      assertAll(await operate.park(queue, others), 'changed', 1_000)
      assert.deepEqual(await s.states(), { ready: 1, parked: 1_000 })
      assertAll(await operate.unpark(queue, others, { forget: true }), 'changed', 1_000)
      assertAll(
        (await listMany(s)).map(({ failures, parked }) => failures + Number(parked)),
        0,
        1_001,
      )
      await s.driver.cancel(queue, others)
      await s.addAll(keys.map((key) => s.ask(key, { delayMs: hour })))
      assertAll(await operate.runNow(queue, others), 'changed', 1_000)
      assert.deepEqual(await s.states(), { ready: 1_001 })
      assertAll(await operate.remove(queue, others), 'changed', 1_000)
      assert.deepEqual(await s.states(), { ready: 1 })
      assertAll(await operate.remove(queue, others), 'missing', 1_000)
    },
  },
  {
    id: 'size.purge',
    title: 'a purge removes thousands of keys of every state, and keeps held keys',
    needs: { operate: true },
    async run(s) {
      await addMany(s, manyKeys(700, 'parked'))
      for (const batch of inBatches(manyKeys(700, 'parked'))) await s.operate.park(s.queue, batch)
      // A driver may count pending keys from the first limit on.
      await s.addAll(['held', 'dirty'], { maxPending: 5_000 })
      await addMany(s, manyKeys(1_100, 'busy'))
      const held = await claimMany(s)
      await s.add('dirty')
      await addMany(s, manyKeys(900, 'ready'))
      await addMany(s, manyKeys(900, 'delayed'), { delayMs: hour })
      const other = s.on('another')
      await other.add('ready1')
      assert.ok((await s.operate.purge(s.queue)) >= 2_500)
      assert.deepEqual(await s.states(), { processing: 1_102 })
      assert.deepEqual(await other.states(), { ready: 1 })
      await doneMany(s, held)
      assert.deepEqual((await s.list()).rows, [])
      const replies = await s.addAll(manyKeys(100), { maxPending: 100 })
      assertAll(
        replies.map(({ outcome }) => outcome),
        'added',
        100,
      )
      assertKeys(await claimMany(s), manyKeys(100))
    },
  },
  {
    id: 'size.transfer',
    title: 'thousands of keys move from one store to another in batches of a thousand',
    needs: { transfer: true },
    async run(s) {
      const from = await s.otherStore()
      const keys = manyKeys(2_200)
      for (const batch of inBatches(keys)) {
        await from.addAll(
          batch.map((key, i) =>
            from.ask(key, { item: `"${key}"`, delayMs: i % 3 === 0 ? hour : 0 }),
          ),
        )
      }
      const rows = (await listMany(from)).map(transferRow)
      for (const batch of inBatches(rows)) {
        assertAll(
          (await s.driver.transfer?.importRows(s.queue, batch)) ?? [],
          'imported',
          batch.length,
        )
      }
      for (const batch of inBatches(rows)) {
        assertAll(
          (await from.driver.transfer?.dropRows(from.queue, batch)) ?? [],
          'dropped',
          batch.length,
        )
      }
      assert.deepEqual(await from.states(), {})
      const moved = (await listMany(s)).map(transferRow)
      assertSame(
        moved.map(({ key, item, dueAt, seq }) => ({ key, item, dueAt, seq })),
        rows.map(({ key, item, dueAt, seq }) => ({ key, item, dueAt, seq })),
        'moved keys',
      )
      const claims = await claimMany(s)
      for (const { key, item } of claims) assert.equal(item, `"${key}"`)
      const ready = rows.filter(({ dueAt }) => dueAt <= s.now())
      assertKeys(
        claims,
        ready.map(({ key }) => key),
      )
    },
  },
]
