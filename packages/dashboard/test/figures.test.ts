import {
  createRateLimitingQueue,
  createWorker,
  exponential,
  maxOf,
  tokenBucket,
  type Worker,
} from 'sluice'
import { describe, expect, onTestFinished, test } from 'vitest'
import { histogramOf, quantilesOf } from '../src/views/durations/run-histogram.ts'
import type { Overview, QueueRow, QueueView } from '../src/wire.ts'
import { EventReader } from './event-reader.ts'
import { kept, Site } from './site.ts'

describe('quantiles', () => {
  test('lie within the bounds of what was counted', () => {
    const bounds = [1, 2, 4, 8]
    expect(quantilesOf(bounds, [0, 0, 100, 0, 0])).toEqual({ p50: 3, p95: 3.9, p99: 3.98 })
    expect(quantilesOf(bounds, [100, 0, 0, 0, 0])).toEqual({ p50: 0.5, p95: 0.95, p99: 0.99 })
    expect(quantilesOf(bounds, [50, 0, 0, 50, 0])).toEqual({ p50: 1, p95: 7.6, p99: 7.92 })
    expect(quantilesOf(bounds, [0, 0, 0, 0, 3])).toEqual({ p50: 8, p95: 8, p99: 8 })
  })

  test('of nothing are none', () => {
    expect(quantilesOf([1, 2], [])).toBeUndefined()
    expect(quantilesOf([1, 2], [0, 0, 0])).toBeUndefined()
    expect(histogramOf([1, 2], [0, 0, 0])).toBeUndefined()
  })
})

describe('the limiter of a queue', () => {
  test('has its buckets shown, without a worker the own one alone, with their tokens now', async () => {
    const site = kept(new Site())
    const { driver, clock } = site
    const limiter = maxOf(
      tokenBucket({ perSecond: 1, burst: 10 }),
      tokenBucket({ name: 'shared', perSecond: 1, burst: 10 }),
    )
    const queue = kept(createRateLimitingQueue<string>({ name: 'orders', driver, clock, limiter }))
    for (const key of ['a', 'b']) await queue.addRateLimited(key)
    await clock.step(250)
    const shown = async () => (await site.ask<QueueView>('/api/queue?queue=orders')).body.buckets
    const rate = { perSecond: 1, burst: 10, tokens: 8.2 }
    expect(await shown()).toEqual([{ name: 'queue:orders', ...rate }])
    const worker = createWorker({ queue, async handler() {} })
    onTestFinished(() => worker.stop())
    await clock.step(0)
    expect((await shown()).map(({ name }) => name).sort()).toEqual(['queue:orders', 'shared'])
  })

  test('is that of the workers which take keys, as explain has it, after a newer one has stopped', async () => {
    const site = kept(new Site())
    const { driver, clock } = site
    const start = (baseMs: number): Worker => {
      const limiter = exponential({ baseMs, maxMs: 3_600_000 })
      const queue = kept(
        createRateLimitingQueue<string>({ name: 'orders', driver, clock, limiter }),
      )
      const worker = createWorker({ queue, async handler() {} })
      onTestFinished(() => worker.stop())
      return worker
    }
    start(1_000)
    await clock.step(1)
    const newer = start(2_000)
    await clock.step(1)
    await newer.stop()

    const { body } = await site.ask<QueueView>('/api/queue?queue=orders')
    expect(body.limiter).toBe('1.0 s doubled with each failure, at most 1 h')
  })
})

describe('the flow of a queue', () => {
  /** A queue with 20 adds per second, of which one in four fails, and a page that watches it. */
  async function flowing(
    seconds: number,
    perSecond: number,
  ): Promise<{ site: Site; worker: Worker; row: QueueRow }> {
    const site = kept(new Site())
    const { driver, clock } = site
    const limiter = exponential({ baseMs: 3_600_000, maxMs: 3_600_000 })
    const queue = kept(createRateLimitingQueue<string>({ name: 'orders', driver, clock, limiter }))
    const worker = createWorker({
      queue,
      concurrency: 4,
      async handler(item) {
        if (Number(item.slice(1)) % 4 === 0) throw new Error('no')
      },
    })
    onTestFinished(() => worker.stop())
    const events = new EventReader(await site.send('/api/stream?about=overview'))
    for (let second = 0; second < seconds; second += 1) {
      for (let key = 0; key < perSecond; key += 1) {
        await queue.add(`k${second * perSecond + key}`)
        // Half of the adds say nothing new.
        await queue.add(`k${second * perSecond + key}`)
      }
      await clock.step(1_000)
    }
    await events.cancel()
    const { body } = await site.ask<Overview>('/api/overview')
    return { site, worker, row: body.queues[0] as QueueRow }
  }

  test('is computed from the totals of workers, over the last minute', async () => {
    const { site, row } = await flowing(90, 20)
    expect(row).toMatchObject({ queue: 'orders', workers: 1, slots: 4, severity: 'failing' })
    // An add that comes when its key was taken already leads to one more run.
    const { outPerSecond = 0, inPerSecond = 0 } = row.flow
    expect(outPerSecond).toBeGreaterThan(19)
    expect(outPerSecond).toBeLessThan(30)
    expect(row.flow.errorRatio).toBeCloseTo(0.25, 1)
    // Failed keys wait for their next run: five more keys per second are pending.
    expect(inPerSecond - outPerSecond).toBeGreaterThan(4)
    expect(inPerSecond - outPerSecond).toBeLessThan(7)
    expect(row.flow.mergedRatio).toBeGreaterThan(0)
    expect(row.flow.mergedRatio).toBeLessThan(1)
    expect(row.wait).toMatchObject({ p50: expect.any(Number), p99: expect.any(Number) })
    expect(row.depths).toHaveLength(31)
    expect(row.depths.slice(-4, -1)).toEqual([0, 0, 0])
    expect(row.depths[0]).toBeNull()

    const { body } = await site.ask<QueueView>('/api/queue?queue=orders')
    expect(body.workerList).toMatchObject([{ concurrency: 4, busy: 0, host: expect.any(String) }])
    expect(body.limiter).toBe('1 h doubled with each failure, at most 1 h')
    expect(body.failureGroups).toMatchObject([{ code: 'Error' }])
    const [group] = body.failureGroups
    expect(group?.failed).toBeGreaterThan(300)
    expect(group?.runs[0]).toMatchObject({ message: 'no', key: expect.any(String) })
    expect(group?.perStep).toHaveLength(31)
    expect(body.chart.steps.length).toBeGreaterThan(7)
    expect(body.chart.steps.at(-2)).toMatchObject({ ready: 0, parked: 0 })
    const { boundsMs, counts } = body.workHistogram ?? { boundsMs: [], counts: [] }
    expect(counts.length).toBeLessThanOrEqual(boundsMs.length + 1)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0)
  })

  test('is unknown for a queue whose workers have not reported yet', async () => {
    const { row } = await flowing(2, 3)
    expect(row.flow).toEqual({})
    expect(row.depths.slice(0, -1).every((depth) => depth === null)).toBe(true)
  })

  test('ends when the worker has gone', async () => {
    const { site, worker, row } = await flowing(60, 5)
    expect(row.flow.outPerSecond).toBeGreaterThan(4)
    await worker.stop()
    await site.clock.step(120_000)
    const { body } = await site.ask<Overview>('/api/overview')
    expect(body.queues[0]).toMatchObject({ workers: 0, slots: 0, gone: 0, flow: {} })
  })
})
