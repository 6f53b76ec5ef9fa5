import { createRateLimitingQueue, createWorker, exponential } from 'sluice'
import { afterEach, describe, expect, test } from 'vitest'
import { QueueHistory } from '../src/views/queue-history.ts'
import { histogramOf, quantilesOf } from '../src/views/run-histogram.ts'
import { assess, type Signs, severities } from '../src/views/severity.ts'
import type { Overview, QueueRow, QueueView } from '../src/wire.ts'
import { EventReader } from './event-reader.ts'
import { Site } from './site.ts'

const open: { close(): Promise<unknown> }[] = []

afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
})

const idle: Signs = {
  counts: {
    ...{ ready: 0, delayed: 0, backoff: 0, processing: 0, dirty: 0, parked: 0, idle: 0 },
    ...{ capped: false, paused: false },
  },
  oldestMs: undefined,
  workers: 1,
  leasesLost: 0,
  flow: {},
}

function signs(change: Partial<Signs>, counts: Partial<Signs['counts']> = {}): Signs {
  return { ...idle, ...change, counts: { ...idle.counts, ...counts } }
}

describe('how a queue does', () => {
  const cases: [QueueRow['severity'], string, Signs][] = [
    ['no workers', 'keys are ready and nobody is there', signs({ workers: 0 }, { ready: 2 })],
    [
      'ok',
      'nobody is on the list, but somebody works',
      signs({ workers: 0 }, { ready: 2, processing: 1 }),
    ],
    ['ok', 'nobody keeps a list', signs({ workers: undefined }, { ready: 2 })],
    ['ok', 'nobody is there, and nothing is ready', signs({ workers: 0 }, { delayed: 2 })],
    ['leases lost', 'leases ran out', signs({ leasesLost: 1 }, { paused: true })],
    [
      'falling behind',
      'more comes than goes',
      signs({ flow: { inPerSecond: 12, outPerSecond: 10 }, oldestMs: 90_000 }, { ready: 50 }),
    ],
    [
      'ok',
      'as much comes as goes',
      signs({ flow: { inPerSecond: 10.2, outPerSecond: 10 } }, { ready: 50 }),
    ],
    [
      'ok',
      'more comes than goes, but nothing waits',
      signs({ flow: { inPerSecond: 12, outPerSecond: 10 } }),
    ],
    ['waiting long', 'a key has waited for a minute', signs({ oldestMs: 60_000 }, { ready: 1 })],
    ['failing', 'one in ten runs fails', signs({ flow: { outPerSecond: 5, errorRatio: 0.1 } })],
    ['ok', 'one in a hundred fails', signs({ flow: { outPerSecond: 5, errorRatio: 0.01 } })],
    [
      'paused',
      'it is paused, which explains the rest',
      signs({ workers: 0, oldestMs: 90_000 }, { ready: 9, paused: true }),
    ],
    ['ok', 'there is nothing to do', idle],
  ]
  for (const [severity, what, given] of cases) {
    test(`is "${severity}" if ${what}`, () => {
      expect(assess(given)).toEqual({ severity, reason: expect.stringMatching(/^[A-Z0-9].*\.$/) })
    })
  }

  test('has a word for each place in the list', () => {
    expect(new Set(severities).size).toBe(7)
  })
})

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

describe('the flow of a queue', () => {
  /** A queue with 20 adds per second, of which one in four fails, and a page that watches it. */
  async function flowing(
    seconds: number,
    perSecond: number,
  ): Promise<{ site: Site; row: QueueRow }> {
    const site = new Site()
    const { driver, clock } = site
    const limiter = exponential({ baseMs: 3_600_000, maxMs: 3_600_000 })
    const queue = createRateLimitingQueue<string>({ name: 'orders', driver, clock, limiter })
    const worker = createWorker({
      queue,
      concurrency: 4,
      async handler(item) {
        if (Number(item.slice(1)) % 4 === 0) throw new Error('no')
      },
    })
    open.push(site, queue, { close: () => worker.stop() })
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
    return { site, row: body.queues[0] as QueueRow }
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
    expect(row.history.length).toBeGreaterThan(12)
    expect(row.history.at(-1)?.[1]).toBeGreaterThan(18)

    const { body } = await site.ask<QueueView>('/api/queue?queue=orders')
    expect(body.workerList).toMatchObject([{ concurrency: 4, busy: 0, host: expect.any(String) }])
    expect(body.limiter).toBe('60 min doubled with each failure, at most 60 min')
    expect(body.failureGroups).toMatchObject([{ message: 'no' }])
    const { boundsMs, counts } = body.workHistogram ?? { boundsMs: [], counts: [] }
    expect(counts.length).toBeLessThanOrEqual(boundsMs.length + 1)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(0)
  })

  test('does not fall to nothing in the history where there is more than is counted', () => {
    const track = new QueueHistory()
    const capped = { ...idle.counts, ready: 1_000, capped: true }
    for (const [at, runs] of [
      [10_000, 100],
      [20_000, 200],
      [30_000, 300],
    ] as const) {
      const stats = { busy: 4, runs, failed: 0, asked: 0, merged: 0, wait: [], work: [] }
      track.record(at, capped, [
        {
          ...{ holder: 'a', host: 'h', pid: 1, concurrency: 4, settings: {} },
          ...{ startedAt: 0, seenAt: at, stats },
        },
      ])
    }
    expect(track.figures(30_000).flow.inPerSecond).toBeUndefined()
    expect(track.figures(30_000).history).toEqual([
      [10, 10],
      [10, 10],
      [10, 10],
    ])
  })

  test('is unknown for a queue that was not watched for long', async () => {
    const { row } = await flowing(2, 3)
    expect(row.flow).toEqual({})
    expect(row.history).toEqual([])
  })

  test('ends when the worker has gone', async () => {
    const { site, row } = await flowing(60, 5)
    expect(row.flow.outPerSecond).toBeGreaterThan(4)
    await open.pop()?.close()
    await site.clock.step(120_000)
    const { body } = await site.ask<Overview>('/api/overview')
    expect(body.queues[0]).toMatchObject({ workers: 0, slots: 0, flow: {} })
  })
})
