import type { HistoryStep } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import {
  type HistoryRange,
  type QueueHistory,
  type QueueSigns,
  type Severity,
  severitySince,
} from '../../src/index.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const now = 100 * hour + 3 * second

const stepMs: Readonly<Record<HistoryRange, number>> = {
  '5m': 10 * second,
  '1h': minute,
  '24h': 10 * minute,
}
const reach: Readonly<Record<HistoryRange, number>> = {
  '5m': 5 * minute,
  '1h': hour,
  '24h': 24 * hour,
}

type Parts = Partial<Omit<HistoryStep, 'depth'>> & { depth?: Partial<HistoryStep['depth']> }

/** What workers would have recorded, if a queue was as `at` tells, this many milliseconds ago. */
function recorded(at: (ago: number) => Parts | undefined) {
  const reads: HistoryRange[] = []
  const history = ({ range = '5m' }: { range?: HistoryRange } = {}): Promise<QueueHistory> => {
    reads.push(range)
    const long = stepMs[range]
    const steps: HistoryStep[] = []
    for (let start = Math.floor((now - reach[range]) / long) * long; start <= now; start += long) {
      const parts = at(now - start)
      if (parts === undefined) continue
      const counts = { started: 0, done: 0, failed: 0, added: 0, merged: 0, expired: 0 }
      const depth = { ready: 0, delayed: 0, held: 0, parked: 0, oldestMs: 0 }
      const flags = { capped: false, paused: false }
      steps.push({
        ...{ at: start, codes: [] },
        ...{ ...counts, ...parts },
        depth: { ...depth, ...flags, ...parts.depth },
      })
    }
    return Promise.resolve({ now, stepMs: long, steps })
  }
  return { history, reads }
}

const counts = { ready: 0, delayed: 0, backoff: 0, processing: 0, dirty: 0, parked: 0, idle: 0 }
const signs: Omit<QueueSigns, 'history'> = {
  now,
  counts: { ...counts, capped: false, paused: false },
  workers: [],
}

/** For how long a queue is said to be in a state, in seconds. */
async function secondsOf(severity: Severity, at: (ago: number) => Parts | undefined) {
  const { history, reads } = recorded(at)
  const since = await severitySince(severity, signs, { history })
  if (since === undefined) return undefined
  const { withinMs, orEarlier } = since
  return [(now - since.at) / second, withinMs / second, orEarlier, reads.length]
}

const pausedFor = (ms: number) => (ago: number) => ({ depth: { paused: ago < ms } })

describe('since when a queue is in its state', () => {
  test('a pause is as exact as the reports of workers', async () => {
    expect(await secondsOf('paused', pausedFor(2 * minute))).toEqual([113, 10, false, 1])
  })

  test('a pause that is in no report yet began after the last one', async () => {
    expect(await secondsOf('paused', pausedFor(0))).toEqual([3, 10, false, 1])
  })

  test('it is searched in longer steps where the shorter ones end', async () => {
    expect(await secondsOf('paused', pausedFor(12 * minute))).toEqual([663, 60, false, 2])
    expect(await secondsOf('paused', pausedFor(5 * hour))).toEqual([17_403, 600, false, 3])
  })

  test('it may have begun before everything that is recorded', async () => {
    expect(await secondsOf('paused', pausedFor(1_000 * hour))).toEqual([86_403, 600, true, 3])
  })

  test('nothing is assumed of a time that nobody reported of', async () => {
    const gap = (ago: number) =>
      ago > 100 * second && ago < 140 * second ? undefined : { depth: { paused: true } }
    expect(await secondsOf('paused', gap)).toEqual([93, 10, true, 1])
    expect(await secondsOf('paused', () => undefined)).toBeUndefined()
    const silent = (ago: number) => (ago < 2 * minute ? undefined : { depth: { paused: true } })
    expect(await secondsOf('paused', silent)).toBeUndefined()
  })

  test('a worker that misses one report does not hide what was before', async () => {
    const missed = (ago: number) => {
      if (ago > 30 * second && ago < 40 * second) return undefined
      return { depth: { paused: ago < 2 * minute } }
    }
    expect(await secondsOf('paused', missed)).toEqual([113, 10, false, 1])
  })

  test('a worker that misses two reports hides what was before no more than that', async () => {
    const missed = (ago: number) => {
      if (ago > 20 * second && ago < 40 * second) return undefined
      return { depth: { paused: ago < 2 * minute } }
    }
    expect(await secondsOf('paused', missed)).toEqual([113, 10, false, 1])
  })

  test('a range without reports makes what a shorter one told no less exact', async () => {
    const { history } = recorded(pausedFor(hour))
    const since = await severitySince('paused', signs, {
      history: async ({ range = '5m' } = {}) =>
        range === '5m' ? await history({ range }) : { now, stepMs: stepMs[range], steps: [] },
    })
    expect(since).toEqual({ at: now - 303 * second, withinMs: 10 * second, orEarlier: true })
  })

  test('keys are parked since the first was', async () => {
    const parked = (ago: number) => ({
      depth: { parked: ago < minute ? 2 : ago < 2 * minute ? 1 : 0 },
    })
    expect(await secondsOf('parked', parked)).toEqual([113, 10, false, 1])
  })

  test('a queue fails since a tenth of the runs of a minute failed', async () => {
    const failing = (ago: number) => ({ done: 90, failed: ago < 2 * minute ? 60 : 0 })
    const [ago] = (await secondsOf('failing', failing)) ?? []
    expect(ago).toBeGreaterThan(60)
    expect(ago).toBeLessThan(120)
    const always = () => ({ done: 90, failed: 60 })
    expect(await secondsOf('failing', always)).toEqual([86_403, 600, true, 3])
  })

  test('leases are lost since the first was of those that were lost without a minute between', async () => {
    const lost = (ago: number) => ({ expired: [33, 83, 203].includes(ago / second) ? 1 : 0 })
    expect(await secondsOf('leases lost', lost)).toEqual([83, 10, false, 1])
  })

  test('the first steps of a range, which are less than a minute, do not end what longer steps go on with', async () => {
    // One every 50 s; the one before the first step that is kept is in longer steps only.
    const lost = (ago: number) => ({
      expired: ago > 303 * second || (ago / second) % 50 === 33 ? 1 : 0,
    })
    expect(await secondsOf('leases lost', lost)).toEqual([86_403, 600, true, 3])
    const failing = (ago: number) => ({
      done: 9,
      failed: ago > 303 * second || (ago / second) % 50 === 33 ? 9 : 0,
    })
    expect(await secondsOf('failing', failing)).toEqual([86_403, 600, true, 3])
  })

  test('what began in the first minute of a range is as exact as longer steps', async () => {
    const lost = (ago: number) => ({ expired: ago < 280 * second ? 1 : 0 })
    expect(await secondsOf('leases lost', lost)).toEqual([303, 60, false, 2])
    // Of a queue that is no older, nothing is known before.
    const recent = (ago: number) =>
      ago < 20 * second ? { expired: ago < 10 * second ? 1 : 0 } : undefined
    expect(await secondsOf('leases lost', recent)).toEqual([3, 10, true, 3])
  })

  test('a queue falls behind since more keys came than left', async () => {
    const behind = (ago: number) => ({
      done: 10,
      depth: { ready: ago > 2 * minute ? 20 : 20 + (2 * minute - ago) / second },
    })
    const [ago] = (await secondsOf('falling behind', behind)) ?? []
    expect(ago).toBeGreaterThan(60)
    expect(ago).toBeLessThan(130)
    const always = (past: number) => ({ depth: { ready: 10_000 - past / second } })
    // Longer steps do not tell, and are not read.
    expect((await secondsOf('falling behind', always))?.slice(2)).toEqual([true, 1])
  })

  test('a key waits long since a minute after it was ready', async () => {
    const { history } = recorded(() => undefined)
    const oldestReadyAt = now - 3 * minute
    const waiting = { ...signs, counts: { ...signs.counts, oldestReadyAt } }
    const since = await severitySince('waiting long', waiting, { history })
    expect(since).toEqual({ at: now - 2 * minute, withinMs: 0, orEarlier: false })
    expect(await severitySince('waiting long', signs, { history })).toBeUndefined()
  })

  test('no worker is online since the last one was seen, or reported', async () => {
    const silent = (ago: number) => (ago < 20 * minute ? undefined : {})
    expect(await secondsOf('no workers', silent)).toEqual([1_203, 60, false, 2])
    expect(await secondsOf('no workers', () => undefined)).toBeUndefined()
    const gone = { holder: 'w', host: 'h', pid: 1, concurrency: 4, settings: {}, startedAt: 0 }
    const { history, reads } = recorded(silent)
    const workers = [
      { ...gone, seenAt: now - 50 * second },
      { ...gone, seenAt: now - 40 * second, concurrency: 1 },
      // Takes no keys.
      { ...gone, seenAt: now - 30 * second, concurrency: 0 },
    ]
    const since = await severitySince('no workers', { ...signs, workers }, { history })
    expect(since).toEqual({ at: now - 40 * second, withinMs: 0, orEarlier: false })
    expect(reads).toEqual([])
  })

  test('of a queue that is as it should be, nothing is said', async () => {
    expect(await secondsOf('ok', () => ({}))).toBeUndefined()
  })
})
