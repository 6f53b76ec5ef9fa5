import { systemClock } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import {
  createQueue,
  createRateLimitingQueue,
  createWorker,
  exponential,
  maxOf,
  tokenBucket,
} from 'sluice'
import { describe, expect, onTestFinished, test } from 'vitest'
import { cli, json, output } from './cli.ts'
import { driverOf } from './queues.ts'
import { newFile, storeKinds } from './stores.ts'

describe.each(storeKinds())('on $kind', ({ fresh }) => {
  test('a lease is seen behind thousands of others, and behind thousands of ready keys', async () => {
    const store = await fresh()
    // Only ends what hangs: each call has thousands of keys, and the machine may be held up.
    const timeoutMs = 180_000
    const queue = createQueue<string>({ name: 'orders', driver: await driverOf(store), timeoutMs })
    onTestFinished(() => queue.close())
    const keys = (name: string) => Array.from({ length: 2_100 }, (_, at) => `${name}/${at}`)
    await queue.addMany([...keys('held'), 'last'])
    for (let held = 0; held <= 2_100; )
      held += (await queue.getMany(Math.min(1_000, 2_101 - held))).length
    await queue.addMany([...keys('ready'), 'last'])
    const { leases } = await json<{ leases: { key: string; state: string }[] }>(['leases'], {
      store,
    })
    expect(leases).toHaveLength(1_001)
    expect(leases.filter(({ state }) => state === 'dirty').map(({ key }) => key)).toEqual(['last'])
  })

  test('the lease that ends first comes first', async () => {
    const store = await fresh()
    const driver = await driverOf(store)
    for (const [key, leaseMs] of [
      ['a', 90_000],
      ['b', 30_000],
      ['c', 60_000],
    ] as const) {
      const queue = createQueue<string>({ name: 'orders', driver, leaseMs })
      await queue.add(key)
      const held = await queue.get()
      onTestFinished(async () => {
        await held?.done()
        await queue.close()
      })
    }
    expect(await output(['leases', '-o', 'name'], { store })).toBe('orders/b\norders/c\norders/a\n')
  })

  test('a queue whose worker hangs on one key and fails at another is seen from all sides', async () => {
    const store = await fresh()
    await output(['add', 'orders', 'hanging', 'failing'], { store })
    const queue = createRateLimitingQueue<string>({
      name: 'orders',
      driver: await driverOf(store),
      limiter: maxOf(
        exponential({ baseMs: 3_600_000, maxMs: 3_600_000 }),
        tokenBucket({ name: 'api', perSecond: 1, burst: 10 }),
      ),
    })
    const hangs = Promise.withResolvers<void>()
    const hanging = Promise.withResolvers<void>()
    const failed = Promise.withResolvers<void>()
    const worker = createWorker({
      queue,
      concurrency: 2,
      handler: async (key) => {
        if (key === 'failing') throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
        hanging.resolve()
        await hangs.promise
      },
      onError: () => failed.resolve(),
    })
    onTestFinished(async () => {
      hangs.resolve()
      await worker.stop()
      await queue.close()
    })
    await Promise.all([hanging.promise, failed.promise])
    const until = async (argv: string[], text: RegExp): Promise<string> =>
      expect.poll(() => output(argv, { store })).toMatch(text) as unknown as Promise<string>

    // The failure is reported before the key is given back.
    await until(
      ['leases', 'orders', '--no-headers'],
      /^orders +hanging +processing +\d+ +\d+s +\S+:\d+\n$/,
    )
    const wide = await output(['leases', 'orders', '-o', 'wide', '--no-headers'], { store })
    expect(wide).toMatch(/:\d+ +0 +0 +(?!<none>)\S+\n$/)
    const { leases } = await json<{ leases: { key: string; token: number; pid: number }[] }>(
      ['leases'],
      { store },
    )
    expect(leases).toEqual([
      expect.objectContaining({ key: 'hanging', pid: process.pid, failures: 0 }),
    ])
    expect(await output(['leases', '-o', 'name'], { store })).toBe('orders/hanging\n')
    expect(await output(['limiters', '-o', 'name'], { store })).toBe('api\n')
    expect(await json(['limiters'], { store })).toEqual({
      buckets: [
        {
          ...{ name: 'api', perSecond: 1, burst: 10 },
          ...{ tokens: expect.any(Number), at: expect.any(Number) },
        },
      ],
    })
    await until(['limiters', '--no-headers'], /^api +1\/s +10 +\d+\.\d +\S/m)
    const described = await output(['describe', 'orders'], { store })
    expect(described).toMatch(/^orders\n {2}state {9}\S/)
    expect(described).toMatch(/^ {2}workers {7}1, for 2 keys at a time$/m)
    expect(described).toMatch(/^ {2}bucket {8}api: /m)

    const explained = await output(['explain', 'orders', 'failing'], { store })
    expect(explained).toMatch(/^starts about .*Z \(in 59m\), confidence medium$/m)

    // Taken back, and then finished too late.
    const token = leases[0]?.token ?? 0
    const wrong = await output(['release', 'orders', 'hanging', '--token', String(token + 1)], {
      store,
    })
    expect(wrong).toMatch(/^hanging is not held under token \d+\n$/)
    await output(['pause', 'orders'], { store })
    const released = await output(['release', 'orders', 'hanging', '--token', String(token)], {
      store,
    })
    expect(released).toBe('hanging released\n')
    expect(await output(['ls', 'orders', '--state', 'ready', '-o', 'name'], { store })).toBe(
      'hanging\n',
    )
    expect(await cli(['release', 'orders', 'nothing'], { store })).toMatchObject({ code: 4 })

    // The record of the failure comes with a heartbeat, the last one when the worker stops.
    hangs.resolve()
    await worker.stop()
    await until(
      ['failures', 'orders', '--no-headers'],
      /^orders +ECONNREFUSED +1 +\.+█ +\d+s ago +failing +refused$/m,
    )
    expect(await output(['describe', 'orders'], { store })).toMatch(
      /^ {2}failed {8}\d+(\.\d)? (ms|s) ago: failing: ECONNREFUSED: refused$/m,
    )
    // Of the whole store, after the key is gone.
    await output(['remove', 'orders', 'failing', '--yes'], { store })
    const { failures } = await json<{ failures: { perStep: number[] }[] }>(
      ['failures', '--range', '5m'],
      { store },
    )
    expect(failures).toEqual([
      {
        ...{ queue: 'orders', code: 'ECONNREFUSED', failed: 1, kept: 1, key: 'failing' },
        ...{ failures: 1, message: 'refused', lastAt: expect.any(Number) },
        perStep: expect.any(Array),
      },
    ])
    expect(failures[0]?.perStep.filter((count) => count > 0)).toEqual([1])
    expect(await output(['failures', '--code', 'ECONNREFUSED', '--no-headers'], { store })).toMatch(
      /^orders +\d+s ago +failing +1 +refused\n$/,
    )
    expect(await output(['failures', '-o', 'name'], { store })).toBe('orders/ECONNREFUSED\n')
    const { runs } = await json<{ runs: unknown[] }>(['failures', '--code', 'ECONNREFUSED'], {
      store,
    })
    expect(runs).toEqual([
      {
        ...{ queue: 'orders', key: 'failing', code: 'ECONNREFUSED', failures: 1 },
        ...{ message: 'refused', at: expect.any(Number), holder: expect.any(String) },
      },
    ])
    expect(await output(['events', '-o', 'name'], { store })).toMatch(
      /^orders\/run-failed\/failing$/m,
    )
    expect(await cli(['failures', '--code', 'EOTHER'], { store })).toMatchObject({
      code: 0,
      err: 'no failed runs on record with the code EOTHER\n',
    })
  })
})

test('a lease that has expired says since when', async () => {
  const store = newFile()
  const clock = fakeClock(systemClock.now() - 3_600_000)
  const driver = await driverOf(store)
  const queue = createQueue<string>({ name: 'orders', driver, clock, onError() {} })
  await queue.add('a')
  await queue.get()
  const closed = queue.close()
  await clock.step(1_000)
  await closed
  expect(await output(['leases'], { store })).toMatch(/ expired 59m ago /)
})

test('failures are shown with the most frequent code first, and with the latest run of each', async () => {
  const store = newFile()
  await output(['add', 'orders', 'ETWICE/1', 'ETWICE/2', 'EONCE/1'], { store })
  const queue = createRateLimitingQueue<string>({
    name: 'orders',
    driver: await driverOf(store),
    limiter: exponential({ baseMs: 3_600_000, maxMs: 3_600_000 }),
  })
  const worker = createWorker<string>({
    queue,
    onError() {},
    handler: (key) => {
      throw Object.assign(new Error(`of ${key}`), { code: key.split('/')[0] })
    },
  })
  await worker.runUntilIdle()
  await worker.stop()
  await queue.close()
  const { failures } = await json<{ failures: object[] }>(['failures'], { store })
  expect(failures).toMatchObject([
    { code: 'ETWICE', failed: 2, kept: 2, key: 'ETWICE/2', message: 'of ETWICE/2' },
    { code: 'EONCE', failed: 1, key: 'EONCE/1' },
  ])
  expect(await output(['explain', 'orders', 'EONCE/1'], { store })).toMatch(
    /^ {2}asked .* \(\d+s ago\)\n {2}due .* \(in 59m\)$/m,
  )
})
