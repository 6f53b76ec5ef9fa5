import type { HistoryStep } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import {
  judgeQueue,
  type QueueSigns,
  type Severity,
  severities,
  urgencies,
  type WorkerRow,
} from '../../src/index.ts'

const now = 1_000_000

function worker(seenMsAgo = 0): WorkerRow {
  const seen = { startedAt: 0, seenAt: now - seenMsAgo }
  return { holder: 'w', host: 'h', pid: 1, concurrency: 4, settings: {}, ...seen }
}

interface Minute {
  /** Per second. */
  readonly out?: number
  readonly failed?: number
  readonly expired?: number
  readonly ready?: (step: number) => number
  readonly capped?: boolean
  readonly oldestMs?: (step: number) => number
  readonly until?: number
}

/** The last minute in steps of ten seconds. */
function minute(given: Minute): QueueSigns['history'] {
  const { out = 0, failed = 0, expired = 0, capped = false, until = now } = given
  const steps = Array.from({ length: 6 }, (_, n): HistoryStep => {
    const depth = {
      delayed: 0,
      held: 0,
      parked: 0,
      capped,
      paused: false,
      oldestMs: given.oldestMs?.(n) ?? 0,
    }
    return {
      at: until - (6 - n) * 10_000,
      started: 10 * out,
      done: 10 * (out - failed),
      failed: 10 * failed,
      added: 10 * out,
      merged: 30 * out,
      expired: n === 0 ? expired : 0,
      depth: { ...depth, ready: given.ready?.(n) ?? 0 },
      codes: [],
    }
  })
  return { now, stepMs: 10_000, steps }
}

const none = { ready: 0, delayed: 0, backoff: 0, processing: 0, dirty: 0, parked: 0, idle: 0 }

function signs(
  counts: Partial<QueueSigns['counts']> = {},
  more: Partial<Omit<QueueSigns, 'counts'>> = {},
): QueueSigns {
  const all = { ...none, capped: false, paused: false, ...counts }
  return { now, workers: [worker()], history: minute({}), ...more, counts: all }
}

const growing = (step: number): number => 100 + 20 * step
const readySince = (ms: number) => ({ ready: 1, oldestReadyAt: now - ms })

interface Case {
  readonly severity: Severity
  readonly if: string
  readonly reason: string
  readonly signs: QueueSigns
}

const cases: readonly Case[] = [
  {
    severity: 'no workers',
    if: 'keys are ready and no worker is online',
    reason: '2 keys ready, and no worker is online.',
    signs: signs({ ready: 2 }, { workers: [] }),
  },
  {
    severity: 'no workers',
    if: 'the only worker is gone',
    reason: '1 key ready, and no worker is online.',
    signs: signs({ ready: 1 }, { workers: [worker(26_000)] }),
  },
  {
    severity: 'no workers',
    if: 'the last worker has gone, and its leases have expired',
    reason: '2 keys ready, and no worker is online.',
    signs: signs({ ready: 2 }, { workers: [], history: minute({ expired: 2 }) }),
  },
  {
    severity: 'no workers',
    if: 'the workers have crashed, and the leases of all keys that they held have expired',
    reason: '3 keys ready, 5 keys held under expired leases, and no worker is online.',
    signs: signs({ ready: 3, processing: 4, dirty: 1, heldUntil: now }, { workers: [] }),
  },
  {
    severity: 'no workers',
    if: 'no key is ready, but all that the workers held wait for one',
    reason: '1 key held under expired leases, and no worker is online.',
    signs: signs({ processing: 1, heldUntil: now - 1 }, { workers: [] }),
  },
  {
    severity: 'paused',
    if: 'the workers have crashed, and it is paused',
    reason: 'Paused; no key is ready.',
    signs: signs({ processing: 1, paused: true, heldUntil: now - 1 }, { workers: [] }),
  },
  {
    severity: 'ok',
    if: 'leases have expired that a worker who is online will end',
    reason: 'Running 1 key.',
    signs: signs({ ready: 2, processing: 1, heldUntil: now - 1 }),
  },
  {
    severity: 'ok',
    if: 'no worker is listed, but a key is held under a lease',
    reason: 'Running 1 key.',
    signs: signs({ ready: 2, processing: 1, heldUntil: now + 1 }, { workers: [] }),
  },
  {
    severity: 'ok',
    if: 'no worker is listed, but a key is held without a lease',
    reason: 'Running 1 key.',
    signs: signs({ ready: 2, processing: 1 }, { workers: [] }),
  },
  {
    severity: 'ok',
    if: 'the store keeps no list',
    reason: '2 keys ready.',
    signs: signs({ ready: 2 }, { workers: undefined }),
  },
  {
    severity: 'ok',
    if: 'no worker is online, and no key is ready',
    reason: 'No key is ready yet, and no worker is online.',
    signs: signs({ delayed: 2 }, { workers: [] }),
  },
  {
    severity: 'ok',
    if: 'a worker is online, and no key is ready',
    reason: 'No key is ready yet.',
    signs: signs({ backoff: 2 }),
  },
  {
    severity: 'ok',
    if: 'keys run, and keys that run were added again',
    reason: 'Running 5 keys.',
    signs: signs({ ready: 1, processing: 2, dirty: 3 }),
  },
  {
    severity: 'leases lost',
    if: 'a lease expired, even if the queue is paused',
    reason: '1 lease expired in the last minute: workers crash, hang or lose the store.',
    signs: signs({ paused: true }, { history: minute({ expired: 1 }) }),
  },
  {
    severity: 'falling behind',
    if: 'more keys arrive than finish',
    reason: '2.0 more keys per second arrive than finish.',
    signs: signs(
      { ...readySince(90_000), ready: 200 },
      { history: minute({ out: 10, ready: growing }) },
    ),
  },
  {
    severity: 'falling behind',
    if: 'there are more keys than are counted, and the oldest grows older',
    reason: '10,000+ keys ready, and the oldest waits longer and longer.',
    signs: signs(
      { ready: 10_000, capped: true },
      { history: minute({ out: 10, capped: true, oldestMs: (step) => 8_000 * step }) },
    ),
  },
  {
    severity: 'ok',
    if: 'there are more keys than are counted, and the oldest does not grow older',
    reason: '10,000+ keys ready.',
    signs: signs(
      { ready: 10_000, capped: true },
      { history: minute({ out: 10, capped: true, oldestMs: () => 30_000 }) },
    ),
  },
  {
    severity: 'parked',
    if: 'only other keys than the parked ones are more than are counted',
    reason: '2 keys are parked and will not run until unparked.',
    signs: signs({ parked: 2, delayed: 10_000, capped: true }),
  },
  {
    severity: 'ok',
    if: 'as many arrive as finish',
    reason: '50 keys ready.',
    signs: signs({ ready: 50 }, { history: minute({ out: 10 }) }),
  },
  {
    severity: 'ok',
    if: 'less than a twentieth more arrive than finish',
    reason: '50 keys ready.',
    signs: signs({ ready: 50 }, { history: minute({ out: 10, ready: (step) => 50 + 4 * step }) }),
  },
  {
    severity: 'ok',
    if: 'a tenth more arrive than finish, but less than one in ten seconds',
    reason: '50 keys ready.',
    signs: signs(
      { ready: 50 },
      { history: minute({ out: 0.8, ready: (step) => 50 + 0.8 * step }) },
    ),
  },
  {
    severity: 'ok',
    if: 'more keys arrive than finish, but few wait',
    reason: '9 keys ready.',
    signs: signs({ ready: 9 }, { history: minute({ out: 10, ready: growing }) }),
  },
  {
    severity: 'waiting long',
    if: 'a key is ready for a minute',
    reason: 'A key has been ready for 1 min.',
    signs: signs(readySince(60_000)),
  },
  {
    severity: 'waiting long',
    if: 'the workers have crashed, and leases of keys that they held still last',
    reason: 'A key has been ready for 2 min, and no worker is online.',
    signs: signs({ ...readySince(179_999), processing: 5, heldUntil: now + 1 }, { workers: [] }),
  },
  {
    severity: 'ok',
    if: 'a key is ready for less than a minute',
    reason: '1 key ready.',
    signs: signs(readySince(59_999)),
  },
  {
    severity: 'failing',
    if: 'one in ten runs fails',
    reason: '10 % of the runs of the last minute failed.',
    signs: signs({}, { history: minute({ out: 5, failed: 0.5 }) }),
  },
  {
    severity: 'ok',
    if: 'one in a hundred fails',
    reason: 'Nothing to do.',
    signs: signs({}, { history: minute({ out: 5, failed: 0.05 }) }),
  },
  {
    severity: 'ok',
    if: 'every run fails, of which there are few',
    reason: 'Nothing to do.',
    signs: signs({}, { history: minute({ out: 0.005, failed: 0.005 }) }),
  },
  {
    severity: 'parked',
    if: 'a key is parked',
    reason: '1 key is parked and will not run until unparked.',
    signs: signs({ parked: 1, processing: 1 }),
  },
  {
    severity: 'paused',
    if: 'it is paused, which explains the rest',
    reason: 'Paused; 9 keys ready.',
    signs: signs({ ...readySince(90_000), ready: 9, paused: true, parked: 1 }, { workers: [] }),
  },
  {
    severity: 'paused',
    if: 'it is paused, and no key is ready',
    reason: 'Paused; no key is ready.',
    signs: signs({ paused: true }),
  },
  { severity: 'ok', if: 'there is nothing to do', reason: 'Nothing to do.', signs: signs() },
]

describe('a queue', () => {
  test.each(cases)('is "$severity" if $if', ({ severity, reason, signs: given }) => {
    expect(judgeQueue(given)).toMatchObject({ severity, reason })
  })

  test('has every severity in the cases above', () => {
    expect(new Set(cases.map(({ severity }) => severity))).toEqual(new Set(severities))
    expect(Object.keys(urgencies).sort()).toEqual([...severities].sort())
  })

  test('has the rates of the last minute', () => {
    const history = minute({ out: 10, failed: 2, ready: growing })
    expect(judgeQueue(signs({}, { history })).rates).toEqual({
      outPerSecond: 10,
      inPerSecond: 12,
      errorRatio: 0.2,
      mergedRatio: 0.75,
      leasesExpired: 0,
      agingPerSecond: 0,
    })
  })

  test('has no rates that are unknown', () => {
    const steps = (minute({ out: 10 })?.steps ?? []).slice(-1)
    const young = judgeQueue(signs({}, { history: { now, stepMs: 10_000, steps } }))
    expect(young.rates).not.toHaveProperty('inPerSecond')
    const capped = judgeQueue(signs({}, { history: minute({ out: 10, capped: true }) }))
    expect(capped.rates).not.toHaveProperty('inPerSecond')
    const stale = judgeQueue(signs({}, { history: minute({ out: 10, until: now - 30_000 }) }))
    expect(stale.rates).toEqual({})
    expect(judgeQueue(signs({}, { history: undefined })).rates).toEqual({})
    const idle = judgeQueue(signs({}, { history: minute({}) })).rates
    expect(idle).toEqual({ outPerSecond: 0, inPerSecond: 0, leasesExpired: 0, agingPerSecond: 0 })
  })

  test('has no rates of steps before the last minute, or of one that has not ended', () => {
    const stepsOf = (given: Minute) => minute(given)?.steps ?? []
    const lost = { out: 3, failed: 3, expired: 1 }
    const earlier = stepsOf({ ...lost, until: now - 70_000 })
    const unended = stepsOf({ ...lost, until: now + 9_000 }).slice(-1)
    const history = {
      now,
      stepMs: 10_000,
      steps: [...earlier, ...stepsOf({ out: 10 }), ...unended],
    }
    expect(judgeQueue(signs({}, { history })).rates).toMatchObject({
      outPerSecond: 10,
      errorRatio: 0,
      leasesExpired: 0,
    })
  })

  test('counts keys that run or are delayed as arrived', () => {
    const steps = (minute({ out: 10, ready: growing })?.steps ?? []).map((step, n) => ({
      ...step,
      depth: { ...step.depth, delayed: 10 * n, held: 5 * n },
    }))
    const { rates } = judgeQueue(signs({}, { history: { now, stepMs: 10_000, steps } }))
    expect(rates.inPerSecond).toBe(13.5)
  })

  test('has the age of the key that has been ready longest', () => {
    expect(judgeQueue(signs(readySince(1_500))).oldestMs).toBe(1_500)
    // The store's time may have been read after the counts.
    expect(judgeQueue(signs(readySince(-5))).oldestMs).toBe(0)
    expect(judgeQueue(signs())).not.toHaveProperty('oldestMs')
  })

  test('counts no worker that is gone as capacity', () => {
    const stopped = { ...worker(), concurrency: 0 }
    const workers = [worker(), worker(25_000), worker(25_001), stopped]
    expect(judgeQueue(signs({}, { workers }))).toMatchObject({ workers: 2, slots: 8, gone: 1 })
  })
})
