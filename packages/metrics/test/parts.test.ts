import { expect, test } from 'vitest'
import { createRecorder } from '../src/index.ts'
import { openTelemetryMetrics } from '../src/opentelemetry.ts'
import { prometheusMetrics } from '../src/prometheus.ts'
import { boundsOf } from '../src/provider/buckets.ts'
import { metricIds, metricTable } from '../src/provider/names.ts'
import { secondsOf } from '../src/provider/seconds.ts'
import { askDelayMs, retryDelayMs } from '../src/queue/ask-delay-ms.ts'
import { DueHeap } from '../src/queue/due-heap.ts'
import { PriorityLabels } from '../src/queue/priority-labels.ts'
import { Ledger } from './stage.ts'

test('the presets have the bounds of the originals, digit by digit', () => {
  const kubernetes = [
    '1e-8',
    '1e-7',
    '0.000001',
    '0.000009999999999999999',
    '0.00009999999999999999',
    '0.001',
    '0.01',
    '0.1',
    '1',
    '10',
  ]
  // Go writes 9.999999999999999e-06 where JavaScript writes 0.000009999999999999999.
  expect(boundsOf('kubernetes').map(Number)).toEqual(kubernetes.map(Number))
  expect(boundsOf('controller-runtime').map(Number)).toEqual(
    [...kubernetes, '100', '1000'].map(Number),
  )
})

test('the tidy bounds go from a millisecond to a quarter of an hour', () => {
  expect(boundsOf('tidy')).toEqual([
    ...[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5],
    ...[1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1_000],
  ])
})

test('bounds of one s own have to rise from above 0', () => {
  expect(boundsOf([0.5, 1])).toEqual([0.5, 1])
  const wrong = [[], [0, 1], [1, 1], [2, 1], [Number.NaN], [1, Infinity], 'huge', 'constructor', 7]
  for (const bad of wrong) {
    expect(() => boundsOf(bad as never)).toThrow(/^buckets .*ERR_INVALID_INPUT/)
  }
})

test('seconds are whole nanoseconds', () => {
  expect([0.05, 0.025, 1, 0.075 - 0.05, -3].map(secondsOf)).toEqual([5e-5, 2.5e-5, 1e-3, 2.5e-5, 0])
})

test('the heap gives keys in the order in which they are due, each of them once', () => {
  const heap = new DueHeap()
  const expected = new Map<string, number>()
  const chance = (n: number, below: number): number => (n * 7_919 + (n >> 3) * 104_729) % below
  for (let n = 0; n < 5_000; n += 1) {
    const key = `k${chance(n, 97)}`
    if (chance(n, 5) === 0) {
      heap.delete(key)
      expected.delete(key)
      expect(heap.get(key)).toBeUndefined()
    } else {
      const dueAt = chance(n, 1_009)
      heap.set({ key, dueAt, priority: n })
      expected.set(key, dueAt)
      expect(heap.get(key)).toEqual({ key, dueAt, priority: n })
    }
  }
  const out: [string, number][] = []
  for (let entry = heap.popDue(500); entry !== undefined; entry = heap.popDue(500)) {
    expect(entry.dueAt).toBeGreaterThanOrEqual(out.at(-1)?.[1] ?? 0)
    expect(heap.get(entry.key)).toBeUndefined()
    out.push([entry.key, entry.dueAt])
  }
  expect(out.sort()).toEqual([...expected].filter(([, dueAt]) => dueAt <= 500).sort())
  const [[key, dueAt] = ['', 0]] = [...expected].filter((entry) => entry[1] > 500)
  expect(heap.get(key)?.dueAt).toBe(dueAt)
  heap.clear()
  expect([heap.popDue(Infinity), heap.get(key)]).toEqual([undefined, undefined])
})

test('without its quirk: the first 25 priorities keep their labels, the rest share one', () => {
  const labels = new PriorityLabels()
  for (let priority = 0; priority < 25; priority += 1) {
    expect(labels.labelOf(priority)).toBe(String(priority))
  }
  expect(labels.labelOf(25)).toBe('exceeded_cardinality_limit')
  expect(labels.labelOf(3)).toBe('3')
})

test('what a limiter decided is told by the plan, or read off the time', () => {
  const finish = { as: 'retry', key: 'a', token: 1, delayMs: 0 } as const
  const reply = { outcome: 'delayed', dueAt: 5_000, failures: 3 } as const
  const exponential = { kind: 'exponential', baseMs: 10, maxMs: 1_000 } as const
  const bucket = { kind: 'bucket', name: 'b', perSecond: 1, burst: 1 } as const
  const both = { kind: 'maxOf', of: [exponential, bucket] } as const
  expect(retryDelayMs({ ...finish, delayMs: 7 }, reply, 0)).toBe(7)
  expect(retryDelayMs({ ...finish, plan: exponential }, reply, 0)).toBe(40)
  expect(retryDelayMs({ ...finish, plan: both }, reply, 1_000)).toBe(4_000)
  expect(retryDelayMs({ ...finish, plan: both }, { ...reply, outcome: 'ready' }, 0)).toBe(40)
  const ask = { key: 'a', item: undefined, priority: 0, delayMs: 3 }
  const answer = { outcome: 'added', dueAt: 0, failures: 0, plannedMs: 9 } as const
  expect(askDelayMs(ask, answer)).toBe(3)
  expect(askDelayMs({ ...ask, plan: exponential }, answer)).toBe(9)
})

test('the table names each metric once, with its kind in the name', () => {
  const names = metricIds.map((id) => metricTable[id].name)
  expect(new Set(names).size).toBe(names.length)
  for (const id of metricIds) {
    const { name, kind, labels } = metricTable[id]
    expect(name.endsWith('_total')).toBe(kind === 'counter')
    if (kind === 'histogram') expect(name).toMatch(/_seconds$/)
    expect(labels).not.toContain('key')
  }
})

test('bad options are refused by name', () => {
  const provider = new Ledger().provider()
  for (const [options, name] of [
    [{}, 'provider'],
    [{ provider, queues: 'q' }, 'queues'],
    [{ provider, queues: [''] }, 'queues[0]'],
    [{ provider, cap: 0 }, 'cap'],
    [{ provider, timeoutMs: 0 }, 'timeoutMs'],
    [{ provider, readsStore: 1 }, 'readsStore'],
    [{ provider, onError: 1 }, 'onError'],
    [{ provider, exporter: '' }, 'exporter'],
    [{ provider, queue: 'q' }, 'queue'],
  ] as const) {
    expect(() => createRecorder(options as never)).toThrow(name)
  }
  expect(() => prometheusMetrics({} as never)).toThrow('register')
  for (const [options, name] of [
    [{ controllers: { q: 1 } }, 'controllers["q"]'],
    [{ controllers: 'q' }, 'controllers must be an object'],
    [{ controllerRuntime: 'no' }, 'controllerRuntime'],
    [{ buckets: [] }, 'buckets'],
    [{ bukets: [1] }, 'bukets is not a known option'],
  ] as const) {
    expect(() => prometheusMetrics({ register: {}, ...options } as never)).toThrow(name)
    expect(() => openTelemetryMetrics(options as never)).toThrow(name)
  }
})
