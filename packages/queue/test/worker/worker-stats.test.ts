import { durationBoundsMs, type WorkerInfo, type WorkerStats } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import { createWorker, exponential, type Held, maxOf, tokenBucket } from '../../src/index.ts'
import { cutOff, leasedSetups, Scene, setups, take } from '../support/setups.ts'

/** Counts by duration, as how often which bound. */
function byBound(counts: readonly number[]): Record<string, number> {
  expect(counts).toHaveLength(durationBoundsMs.length + 1)
  const bounds = [...durationBoundsMs, Infinity]
  return Object.fromEntries(
    counts.flatMap((count, at) => (count === 0 ? [] : [[String(bounds[at]), count]])),
  )
}

async function registered(scene: Scene): Promise<WorkerInfo[]> {
  return [...((await scene.inner.workers?.('q', 60_000)) ?? [])]
}

async function stats(scene: Scene): Promise<WorkerStats> {
  const [worker] = await registered(scene)
  expect(worker?.stats).toBeDefined()
  return worker?.stats as WorkerStats
}

test('the bounds are powers of two from a quarter of a millisecond to about 17 minutes', () => {
  expect(durationBoundsMs).toHaveLength(23)
  expect(durationBoundsMs[0]).toBe(0.25)
  expect(durationBoundsMs.at(-1)).toBe(2 ** 20)
})

describe.each(setups)('the registration of a worker, over $way', (setup) => {
  test('has its counts since it started, with every heartbeat', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited({ limiter: exponential({ baseMs: 60_000, maxMs: 60_000 }) })
    const worker = createWorker({
      queue,
      handler: (item) =>
        new Promise((resolve, reject) => {
          const settle = item === 'bad' ? () => reject(new Error('no')) : () => resolve()
          scene.clock.startTimer(item === 'slow' ? 14_000 : 40, settle)
        }),
    })
    await scene.quiet()
    expect(await stats(scene)).toEqual({
      busy: 0,
      finishing: 0,
      runs: 0,
      failed: 0,
      asked: 0,
      merged: 0,
      leaseEnds: 0,
      lost: 0,
      wait: new Array(24).fill(0),
      work: new Array(24).fill(0),
    })

    await queue.addMany(['good', 'bad'])
    await queue.add('bad')
    await queue.addAfter('slow', 5_000)
    await scene.clock.step(40)
    await scene.clock.step(40)
    await scene.clock.step(10_000 - 80)
    const seen = await stats(scene)
    expect(seen).toMatchObject({ busy: 1, runs: 2, failed: 1, asked: 4, merged: 1 })
    // The first was taken at once, the second after 40 ms; the delayed one when it was due.
    expect(byBound(seen.wait)).toEqual({ 0.25: 2, 64: 1 })
    expect(byBound(seen.work)).toEqual({ 64: 2 })
    expect(seen.longest).toEqual({ key: 'slow', startedAt: 1_005_000 })

    await scene.clock.step(10_000)
    const later = await stats(scene)
    expect(later).toMatchObject({ busy: 0, runs: 3, failed: 1, lost: 0 })
    expect(byBound(later.work)).toEqual({ 64: 2, 16384: 1 })
    expect(later).not.toHaveProperty('longest')
    await worker.stop()
  })

  test('has how long handlers ran, without the onExhausted that is asked after them', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const worker = createWorker({
      queue,
      handler: () => Promise.reject(new Error('no')),
      maxFailures: 1,
      onExhausted: () =>
        new Promise((resolve) => {
          scene.clock.startTimer(14_000, () => resolve('drop'))
        }),
    })
    await queue.add('a')
    await scene.clock.step(20_000)
    expect(byBound((await stats(scene)).work)).toEqual({ 0.25: 1 })
    await worker.stop()
  })

  test('is sent once more when it stops, with a concurrency of 0', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const worker = createWorker({ queue, concurrency: 3, handler: () => undefined })
    await scene.quiet()
    const { leaseMs = 'none' } = setup.options
    expect(await registered(scene)).toMatchObject([{ concurrency: 3, settings: { leaseMs } }])
    await queue.add('k')
    await scene.quiet()
    await worker.stop()
    await scene.quiet()
    expect(await registered(scene)).toMatchObject([{ concurrency: 0, stats: { runs: 1 } }])
  })

  test('counts a handler that was abandoned once, though it ends later', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const stuck = Promise.withResolvers<void>()
    const worker = createWorker({
      queue,
      timeoutMs: 100,
      abandonMs: 1_000,
      handler: () => stuck.promise,
    })
    await queue.add('k')
    await scene.clock.step(100)
    await scene.clock.step(1_000)
    stuck.resolve()
    await scene.quiet()
    await worker.stop()
    await scene.quiet()
    expect(await stats(scene)).toMatchObject({ runs: 1, failed: 1 })
  })

  test('is of all workers of a queue object together', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const handler = (_: string, { signal }: { signal: AbortSignal }) =>
      new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    const first = createWorker({ queue, concurrency: 2, handler })
    const second = createWorker({ queue, concurrency: 5, handler })
    await queue.addMany(['a', 'b', 'c'])
    await scene.clock.step(10_000)
    expect(await registered(scene)).toMatchObject([{ concurrency: 7, stats: { busy: 3 } }])
    const stopping = Promise.all([first.stop({ graceMs: 0 }), second.stop({ graceMs: 0 })])
    await scene.clock.step(1_000)
    await stopping
  })

  test('names the run that began first, of whichever worker', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const ends = new Map<string, () => void>()
    const handler = (item: string) => new Promise<void>((resolve) => ends.set(item, resolve))
    const workers = [createWorker({ queue, handler }), createWorker({ queue, handler })]
    await queue.add('a')
    await scene.clock.step(1_000)
    await queue.add('b')
    await scene.clock.step(9_000)
    expect((await stats(scene)).longest).toEqual({ key: 'a', startedAt: 1_000_000 })
    ends.get('a')?.()
    await queue.add('c')
    await scene.clock.step(10_000)
    expect((await stats(scene)).longest).toEqual({ key: 'b', startedAt: 1_001_000 })
    for (const end of ends.values()) end()
    await Promise.all(workers.map((worker) => worker.stop()))
  })

  test('says by which plan failed keys come back', async () => {
    const scene = new Scene(setup)
    const limiter = maxOf(
      exponential({ baseMs: 5, maxMs: 1_000 }),
      tokenBucket({ perSecond: 10, burst: 100 }),
    )
    const workers = [
      [scene.queue(), '{"baseMs":5,"kind":"exponential","maxMs":1000000}'],
      [
        scene.limited({ limiter }),
        '{"kind":"maxOf","of":[{"baseMs":5,"kind":"exponential","maxMs":1000},' +
          '{"burst":100,"kind":"bucket","name":"queue:q","perSecond":10}]}',
      ],
      [scene.queue({ limiter: { ...limiter, plan: undefined } as never }), undefined],
    ] as const
    for (const [queue, text] of workers) {
      await using _worker = createWorker({ queue, handler: () => undefined })
      await scene.quiet()
      const told = (await registered(scene)).find(({ concurrency }) => concurrency > 0)
      expect(told?.settings['limiter']).toBe(text)
    }
  })

  test('fits into four kilobytes, with any keys and limiters', async () => {
    const scene = new Scene(setup)
    const parts = Array.from({ length: 60 }, (_, at) =>
      tokenBucket({ name: `bucket number ${at}`, perSecond: 1, burst: 1 }),
    )
    const queue = scene.limited({ limiter: maxOf(...parts) })
    const worker = createWorker({ queue, handler: () => new Promise<void>(() => undefined) })
    await queue.add('\u0001'.repeat(512))
    await scene.clock.step(10_000)
    const [info] = await registered(scene)
    expect(info?.stats).toMatchObject({ busy: 1 })
    expect(info?.stats?.longest).toBeUndefined()
    expect(info?.settings['limiter']).toBeUndefined()
    expect(JSON.stringify(info).length).toBeLessThan(4_000)
    const stopping = worker.stop({ graceMs: 0 })
    await scene.clock.step(1_000)
    await stopping
    expect(scene.takeErrors()).toEqual(['ERR_CLOSING'])
  })

  test('counts adds one by one and many at a time, refused ones not', async () => {
    const scene = new Scene(setup)
    const queue = scene.delaying({ maxPending: 3 })
    await queue.inspect.pause()
    await queue.add('a')
    await queue.add('a')
    await queue.addMany(['a', 'b', 'b', 'c'])
    await queue.addAfter('c', 50)
    await expect(queue.add('d')).rejects.toMatchObject({ code: 'ERR_QUEUE_FULL' })
    const worker = createWorker({ queue, handler: () => undefined })
    await scene.quiet()
    const { asked, merged } = await stats(scene)
    // The delayed ask of a key that is ready is a second promise.
    expect({ asked, merged }).toEqual({ asked: 7, merged: 3 })
    await worker.stop()
  })
})

test('the fast paths of adding in memory count as well', async () => {
  const scene = new Scene(setups[0]!)
  const queue = scene.queue()
  await queue.inspect.pause()
  for (const key of ['a', 'b', 'a']) await queue.add(key)
  await queue.addMany(['b', 'c', 'c'])
  const worker = createWorker({ queue, handler: () => undefined })
  expect(await stats(scene)).toMatchObject({ asked: 6, merged: 3 })
  await worker.stop()
})

describe.each(leasedSetups)('leases that are over, over $way', (setup) => {
  test('are counted by the worker that ends them', async () => {
    const scene = new Scene(setup)
    const holder = scene.queue({ leaseMs: 1_000 })
    await holder.add('k')
    const held: Held<string> = await take(holder)
    const worker = createWorker({ queue: scene.queue(), handler: () => undefined })
    scene.forget(holder)
    scene.inner.renew = cutOff
    await scene.clock.step(20_000)
    expect((await registered(scene)).map((info) => info.stats?.leaseEnds)).toEqual([1])
    expect(held.signal.aborted).toBe(true)
    scene.takeErrors()
    await worker.stop()
    await holder.close()
  })

  test('are counted where they park the key, too', async () => {
    const scene = new Scene(setup)
    const holder = scene.queue({ leaseMs: 1_000 })
    await holder.add('k')
    await take(holder)
    const queue = scene.queue({ maxCrashes: 1 })
    const worker = createWorker({ queue, handler: () => undefined })
    scene.forget(holder)
    scene.inner.renew = cutOff
    await scene.clock.step(20_000)
    expect(await scene.row('k')).toMatchObject({ state: 'parked' })
    expect((await registered(scene)).map((info) => info.stats?.leaseEnds)).toEqual([1])
    scene.takeErrors()
    await worker.stop()
    await holder.close()
  })

  test('are not counted again by a worker that comes too late', async () => {
    const scene = new Scene(setup)
    const holder = scene.queue({ leaseMs: 1_000 })
    await holder.add('k')
    await take(holder)
    const worker = createWorker({ queue: scene.queue(), handler: () => undefined })
    scene.forget(holder)
    scene.inner.renew = cutOff
    const expire = scene.inner.expire.bind(scene.inner)
    scene.inner.expire = (...args) => {
      void expire(...args)
      return expire(...args)
    }
    await scene.clock.step(20_000)
    expect((await registered(scene)).map((info) => info.stats?.leaseEnds)).toEqual([0])
    scene.takeErrors()
    await worker.stop()
    await holder.close()
  })

  test('are ended with the heartbeats of a worker that is busy, too', async () => {
    const scene = new Scene(setup)
    const holder = scene.queue({ leaseMs: 1_000 })
    await holder.add('k')
    await take(holder)
    const running = Promise.withResolvers<void>()
    const queue = scene.queue()
    await queue.add('busy')
    const worker = createWorker({ queue, handler: () => running.promise })
    scene.forget(holder)
    scene.inner.renew = cutOff
    await scene.clock.step(20_000)
    expect(await scene.row('k')).toMatchObject({ state: 'ready', crashes: 1 })
    scene.takeErrors()
    running.resolve()
    await worker.stop()
    await holder.close()
  })
})
