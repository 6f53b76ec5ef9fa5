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
const old = { oldestReadyAt: now - 90_000 }

const cases: readonly (readonly [Severity, string, QueueSigns])[] = [
  ['no workers', 'keys are ready and no worker is online', signs({ ready: 2 }, { workers: [] })],
  ['no workers', 'the only worker is gone', signs({ ready: 2 }, { workers: [worker(26_000)] })],
  [
    'no workers',
    'the last worker has gone, and its leases have expired',
    signs({ ready: 2 }, { workers: [], history: minute({ expired: 2 }) }),
  ],
  ['ok', 'no worker is listed, but a key is held', signs({ processing: 1 }, { workers: [] })],
  ['ok', 'the store keeps no list', signs({ ready: 2 }, { workers: undefined })],
  ['ok', 'no worker is online, and no key is ready', signs({ delayed: 2 }, { workers: [] })],
  [
    'leases lost',
    'leases expired, even if paused',
    signs({ paused: true }, { history: minute({ expired: 1 }) }),
  ],
  [
    'falling behind',
    'more keys arrive than finish',
    signs({ ready: 200, ...old }, { history: minute({ out: 10, ready: growing }) }),
  ],
  [
    'falling behind',
    'there are more keys than are counted, and the oldest grows older',
    signs(
      { ready: 10_000, capped: true },
      { history: minute({ out: 10, capped: true, oldestMs: (step) => 8_000 * step }) },
    ),
  ],
  [
    'ok',
    'there are more keys than are counted, and the oldest does not grow older',
    signs(
      { ready: 10_000, capped: true },
      { history: minute({ out: 10, capped: true, oldestMs: () => 30_000 }) },
    ),
  ],
  ['ok', 'as many arrive as finish', signs({ ready: 50 }, { history: minute({ out: 10 }) })],
  ['waiting long', 'a key is ready for a minute', signs({ ready: 1, ...old })],
  ['failing', 'one in ten runs fails', signs({}, { history: minute({ out: 5, failed: 0.5 }) })],
  ['ok', 'one in a hundred fails', signs({}, { history: minute({ out: 5, failed: 0.05 }) })],
  ['parked', 'a key is parked', signs({ parked: 1, processing: 1 })],
  [
    'paused',
    'it is paused, which explains the rest',
    signs({ ready: 9, paused: true, parked: 1, ...old }, { workers: [] }),
  ],
  ['ok', 'there is nothing to do', signs()],
]

describe('a queue', () => {
  test.each(cases)('is "%s" if %s', (severity, _, given) => {
    const judgement = judgeQueue(given)
    expect(judgement).toMatchObject({ severity, reason: expect.stringMatching(/^[A-Z0-9].*\.$/) })
  })

  test('has every severity in the cases above', () => {
    expect(new Set(cases.map(([severity]) => severity))).toEqual(new Set(severities))
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
  })

  test('counts no worker that is gone as capacity', () => {
    const stopped = { ...worker(), concurrency: 0 }
    const workers = [worker(), worker(25_000), worker(25_001), stopped]
    expect(judgeQueue(signs({}, { workers }))).toMatchObject({ workers: 2, slots: 8, gone: 1 })
  })
})
