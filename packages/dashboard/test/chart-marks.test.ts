import { createQueue, createWorker, type HistoryStep, type WorkerRow } from 'sluice'
import { describe, expect, onTestFinished, test } from 'vitest'
import { chartMarks, sumOfMarks } from '../src/views/chart-marks.ts'
import { chartOf, sumOf } from '../src/views/chart-steps.ts'
import type { ChartStep, Overview, QueueView } from '../src/wire.ts'
import { kept, Site } from './site.ts'

function step(at: number, parts: { expired?: number; parked?: number; paused?: boolean }) {
  const { expired = 0, parked = 0, paused = false } = parts
  const counts = { started: 0, done: 0, failed: 0, added: 0, merged: 0, codes: [] }
  const depth = { ready: 0, delayed: 0, held: 0, oldestMs: 0, capped: false, parked, paused }
  return { at, ...counts, expired, depth } satisfies HistoryStep
}

const now = 1_000_000
const from = now - 300_000

function worker(startedAt: number, concurrency = 4): WorkerRow {
  return { holder: 'w', host: 'h', pid: 1, concurrency, settings: {}, startedAt, seenAt: now }
}

describe('the sum of charts', () => {
  test('of queues that were read before and after a step began has the axis of the later ones', () => {
    const stepMs = 10_000
    const before = chartOf(
      { now: now - 1, stepMs, steps: [step(690_000, {}), step(990_000, {})] },
      [],
    )
    const after = chartOf({ now, stepMs, steps: [step(700_000, {}), step(now, {})] }, [])
    for (const charts of [
      [before, after],
      [after, before],
    ]) {
      const sum = sumOf(charts, chartOf({ now, stepMs, steps: [] }, []))
      expect(sum.from).toBe(700_000)
      expect(sum.steps.map(({ at }) => at)).toEqual([700_000, 990_000, now])
    }
  })
})

describe('the figures of a chart', () => {
  test('of several queues are added up step by step, and may be more if those of one queue are', () => {
    const empty = chartOf({ now, stepMs: 10_000, steps: [] }, [])
    const one = { at: now, done: 1, failed: 2, merged: 3, ready: 4, parked: 5 }
    const other = { at: now, done: 10, failed: 20, merged: 30, ready: 40, parked: 50 }
    const alone = { ...one, at: now - 10_000 }
    const sum = { at: now, done: 11, failed: 22, merged: 33, ready: 44, parked: 55 }
    const capped = { ...one, capped: true }
    const stepsOf = (...charts: ChartStep[][]) =>
      sumOf(
        charts.map((steps) => ({ ...empty, steps })),
        empty,
      ).steps
    expect(stepsOf([one], [alone, other])).toEqual([alone, sum])
    expect(stepsOf([capped], [other])).toEqual([{ ...sum, capped: true }])
    expect(stepsOf([other], [capped])).toEqual([{ ...sum, capped: true }])
  })
})

describe('the marks of a chart', () => {
  test('tell what changed from one record to the next', () => {
    const steps = [
      step(950_000, { parked: 2, paused: true }),
      step(960_000, { expired: 3, parked: 2, paused: true }),
      step(970_000, { parked: 5 }),
      step(990_000, { parked: 1, paused: true }),
    ]
    expect(chartMarks({ now, stepMs: 10_000, steps }, [], from)).toEqual([
      { at: 960_000, what: 'expired', count: 3 },
      { at: 970_000, what: 'parked', count: 3 },
      { at: 970_000, what: 'resumed', count: 1 },
      { at: 990_000, what: 'paused', count: 1 },
    ])
  })

  test('do not tell how many keys were parked where they were not all counted', () => {
    const steps = [step(980_000, { parked: 9_990 }), step(990_000, { parked: 10_000 })]
    expect(chartMarks({ now, stepMs: 10_000, steps }, [], from)).toEqual([])
  })

  test('tell when workers started that take keys, within the axis', () => {
    const workers = [worker(981_234), worker(985_000), worker(950_000, 0), worker(from - 1)]
    expect(chartMarks({ now, stepMs: 10_000, steps: [] }, workers, from)).toEqual([
      { at: 980_000, what: 'started', count: 2 },
    ])
  })

  test('of several queues are added up', () => {
    const one = { at: 960_000, what: 'parked', count: 3 } as const
    const paused = { at: 950_000, what: 'paused', count: 1 } as const
    expect(sumOfMarks([one, paused, one, paused])).toEqual([
      { ...paused, count: 2 },
      { ...one, count: 6 },
    ])
  })

  test('an empty chart has none', () => {
    const chart = chartOf({ now, stepMs: 10_000, steps: [] }, [worker(now - 1)])
    expect(chart.marks).toEqual([])
  })

  test('and the state of the queue since when, from a worker that reports', async () => {
    const site = kept(new Site())
    const { driver, clock } = site
    const queue = kept(createQueue<string>({ name: 'orders', driver, clock }))
    const taker = createWorker({ queue, concurrency: 2, handler: () => Promise.resolve() })
    onTestFinished(() => taker.stop())
    const seconds = async (count: number) => {
      for (let second = 0; second < count; second += 1) await clock.step(1_000)
    }
    await seconds(40)
    await queue.inspect.pause()
    await seconds(90)
    const paused = (await site.ask<QueueView>('/api/queue?queue=orders')).body
    expect(paused.severity).toBe('paused')
    expect(paused.chart.marks.map(({ what }) => what)).toEqual(['started', 'paused'])
    const { at = 0, orEarlier } = paused.since ?? {}
    expect(orEarlier).toBe(false)
    expect(clock.now() - at).toBeGreaterThan(75_000)
    expect(clock.now() - at).toBeLessThan(105_000)
    await queue.inspect.resume()
    await seconds(30)
    const resumed = (await site.ask<QueueView>('/api/queue?queue=orders')).body
    expect(resumed).toMatchObject({ severity: 'ok' })
    expect(resumed.since).toBeUndefined()
    const { chart } = (await site.ask<Overview>('/api/overview')).body
    expect(chart.marks.map(({ what }) => what)).toEqual(['started', 'paused', 'resumed'])
  })
})
