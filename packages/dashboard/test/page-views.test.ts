import { inspectStore, memoryDriver } from 'sluice'
import { describe, expect, it } from 'vitest'
import { stationNow, waysTaken } from '../client/src/key/state-graph.ts'
import { applyDelta } from '../client/src/live/apply-delta.ts'
import { filterQueues, sortQueues } from '../client/src/overview/sort-queues.ts'
import { heldOrder } from '../client/src/ui/held-rows.ts'
import { deltaOf, partsOf } from '../src/live/delta.ts'
import { KeyDisplay } from '../src/views/key-display.ts'
import { KeyHistories } from '../src/views/key-history.ts'
import { readKeyView } from '../src/views/key-view.ts'
import type { KeyStep, Overview, QueueRow } from '../src/wire.ts'

const row = (queue: string, ready = 0, more: Partial<QueueRow> = {}): QueueRow => ({
  queue,
  counts: {
    ...{ ready, delayed: 0, backoff: 0, processing: 0, dirty: 0, parked: 0, idle: 0 },
    ...{ capped: false, paused: false },
  },
  workers: 1,
  slots: 1,
  severity: 'ok',
  reason: '',
  flow: {},
  gone: 0,
  depths: [],
  ...more,
})

const names = ({ queues }: Overview): string[] => queues.map(({ queue }) => queue)

describe('a change of a view', () => {
  const chart = { stepMs: 10_000, from: 0, count: 0, steps: [], marks: [] }
  const always = { range: '5m', chart } as const
  const queues = [row('a'), row('b'), row('c')]
  const before: Overview = { ...always, at: 1, queues, stored: 2 }

  it('replaces what it sets, and removes what it unsets', () => {
    const view = { ...before, extra: 5 }
    const after = applyDelta<'overview'>(view, {
      set: { at: 2, stored: 9 },
      unset: ['extra'],
    })
    expect(after).toEqual({ ...always, at: 2, stored: 9, queues: before.queues })
    expect(view.at).toBe(1)
  })

  it('keeps the rows that did not change as they are', () => {
    const after = applyDelta<'overview'>(before, { set: {}, rows: { b: row('b', 7) } })
    expect(names(after)).toEqual(['a', 'b', 'c'])
    expect(after.queues[0]).toBe(before.queues[0])
    expect(after.queues[1]?.counts.ready).toBe(7)
  })

  it('adds, takes away and puts in order', () => {
    const after = applyDelta<'overview'>(before, {
      set: {},
      rows: { d: row('d') },
      gone: ['a'],
      order: ['d', 'c', 'b'],
    })
    expect(names(after)).toEqual(['d', 'c', 'b'])
  })

  it('may be only that a queue is gone, or that the order is another', () => {
    expect(names(applyDelta<'overview'>(before, { set: {}, gone: ['b'] }))).toEqual(['a', 'c'])
    const order = ['c', 'a', 'b']
    expect(names(applyDelta<'overview'>(before, { set: {}, order }))).toEqual(order)
  })

  it('of the server leads to what the server saw', () => {
    const versions: Overview[] = [
      before,
      { ...always, at: 2, queues: [row('c', 3), row('a'), row('__proto__')], stored: 2 },
      { ...always, at: 3, queues: [row('constructor', 1), row('c', 3)], stored: 9 },
      { ...always, at: 4, queues: [], stored: 2 },
      { ...always, range: '1h', at: 5, queues: [row('b'), row('a', 2)], stored: 2 },
    ]
    let shown = before
    for (const [index, version] of versions.entries()) {
      if (index === 0) continue
      const delta = deltaOf(partsOf(versions[index - 1] as Overview), partsOf(version))
      if (delta !== undefined) {
        shown = applyDelta<'overview'>(shown, JSON.parse(JSON.stringify(delta)) as typeof delta)
      }
      expect(shown).toEqual(version)
    }
  })
})

describe('rows', () => {
  it('move at once without the pointer or the focus in them', () => {
    expect(heldOrder(['a', 'b'], ['b', 'a', 'c'], false)).toEqual(['b', 'a', 'c'])
  })

  it('keep their positions otherwise: deleted rows stay, new rows come last', () => {
    expect(heldOrder(['a', 'b', 'c'], ['x', 'c', 'a'], true)).toEqual(['a', 'b', 'c', 'x'])
  })

  it('come in the wanted order once more than 200 deleted ones have gathered', () => {
    const gone = Array.from({ length: 200 }, (_, index) => `gone ${index}`)
    expect(heldOrder([...gone, 'b'], ['a', 'b'], true)).toEqual([...gone, 'b', 'a'])
    expect(heldOrder([...gone, 'one more', 'b'], ['a', 'b'], true)).toEqual(['a', 'b'])
  })

  it('come in the wanted order when there were none', () => {
    expect(heldOrder([], ['b', 'a'], true)).toEqual(['b', 'a'])
  })

  it('are found by a part of the name, and put in order by a column', () => {
    const since = (queue: string, ready: number, oldestReadyAt: number) => {
      const { counts } = row(queue, ready)
      return row(queue, ready, { counts: { ...counts, oldestReadyAt } })
    }
    const rows = [since('Pods', 2, 9), since('web-pods', 4, 7), row('certs', 9)]
    expect(filterQueues(rows, ' pOD ').map(({ queue }) => queue)).toEqual(['Pods', 'web-pods'])
    expect(filterQueues(rows, '')).toBe(rows)
    const by = (order: Parameters<typeof sortQueues>[1]) =>
      sortQueues(rows, order).map(({ queue }) => queue)
    expect(by('worst')).toEqual(['Pods', 'web-pods', 'certs'])
    expect(by('ready')).toEqual(['certs', 'web-pods', 'Pods'])
    expect(by('oldest')).toEqual(['web-pods', 'Pods', 'certs'])
    expect(by('queue')).toEqual(['Pods', 'certs', 'web-pods'])
    const { counts } = row('')
    const measured = { p50: 1, p95: 1, p99: 1 }
    const figures: Partial<Record<Parameters<typeof sortQueues>[1], Partial<QueueRow>>> = {
      delayed: { counts: { ...counts, delayed: 1 } },
      backoff: { counts: { ...counts, backoff: 1 } },
      processing: { counts: { ...counts, dirty: 1 } },
      parked: { counts: { ...counts, parked: 1 } },
      in: { flow: { inPerSecond: 1 } },
      out: { flow: { outPerSecond: 1 } },
      failing: { flow: { errorRatio: 1 } },
      wait: { wait: measured },
      work: { work: measured },
    }
    const orders = Object.keys(figures) as (keyof typeof figures)[]
    const each = orders.map((order) => row(order, 0, figures[order] ?? {}))
    for (const order of orders) expect(sortQueues(each, order)[0]?.queue).toBe(order)
  })
})

describe('the ways that a key took', () => {
  const steps = (...to: KeyStep['to'][]): Pick<KeyStep, 'to'>[] => to.map((one) => ({ to: one }))

  it('follow its steps', () => {
    const taken = waysTaken(steps('ready', 'processing', 'dirty', 'ready'), 0)
    expect([...taken]).toEqual(['add-ready', 'ready-processing', 'processing-dirty', 'dirty-ready'])
  })

  it('go round: a key that is done starts again', () => {
    const taken = waysTaken(steps('ready', 'processing', 'absent', 'delayed'), 0)
    expect([...taken]).toContain('processing-done')
    expect([...taken]).toContain('add-delayed')
  })

  it('come from a run where a key with failures is first seen backing off', () => {
    expect([...waysTaken(steps('backoff'), 3)]).toEqual(['processing-backoff'])
    expect([...waysTaken(steps('backoff'), 0)]).toEqual(['add-backoff'])
  })

  it('do not count an add while running as a transition to ready', () => {
    const taken = waysTaken(steps('processing', 'ready', 'dirty', 'ready'), 0)
    expect([...taken]).toEqual(['add-ready', 'ready-processing', 'processing-dirty', 'dirty-ready'])
  })

  it('fill in the only possible transition between two reads', () => {
    expect([...waysTaken(steps('backoff', 'processing', 'backoff'), 2)]).toEqual([
      ...['processing-backoff', 'backoff-ready', 'ready-processing'],
    ])
    expect([...waysTaken(steps('dirty'), 0)]).toEqual([
      ...['add-ready', 'ready-processing', 'processing-dirty'],
    ])
  })

  it('leave out transitions that were not observed', () => {
    expect([...waysTaken(steps('ready', 'backoff', 'ready'), 1)]).toEqual([
      'add-ready',
      'backoff-ready',
    ])
  })
})

describe('the node of a key that is not stored', () => {
  const steps = (...to: KeyStep['to'][]): Pick<KeyStep, 'to'>[] => to.map((one) => ({ to: one }))

  it('is done where its last run was seen', () => {
    expect(stationNow('absent', steps('ready', 'processing', 'absent'))).toBe('done')
    expect(stationNow('absent', steps('dirty', 'absent'))).toBe('done')
    expect(stationNow('absent', steps('processing', 'idle', 'absent'))).toBe('done')
  })

  it('is none where it was removed before it ran, or was never seen', () => {
    expect(stationNow('absent', steps('ready', 'absent'))).toBeUndefined()
    expect(stationNow('absent', steps('processing', 'absent', 'parked', 'absent'))).toBeUndefined()
    expect(stationNow('absent', [])).toBeUndefined()
    expect(stationNow('ready', steps('absent', 'ready'))).toBe('ready')
  })
})

describe('the view of a key', () => {
  it('has only the members of an explanation that the page knows', async () => {
    const driver = memoryDriver()
    await using store = inspectStore(driver)
    const inspect = store.queue('orders')
    const explained = { ...(await inspect.explain('a')), item: 'secret' }
    const display = new KeyDisplay({ redact: () => 'redacted' }, () => {})
    const parts = {
      store: { ...store, queue: () => ({ ...inspect, explain: async () => explained }) },
      display,
      histories: new KeyHistories(),
    }
    const view = await readKeyView(parts, 'orders', 'a', true)
    expect(view).toMatchObject({ key: 'a', state: 'absent', queue: 'orders' })
    expect(JSON.stringify(view)).not.toContain('secret')
  })
})
