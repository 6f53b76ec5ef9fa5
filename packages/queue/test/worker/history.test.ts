import {
  type FailedRun,
  type HistoryStep,
  SluiceError,
  type TickRequest,
  type WorkCounts,
} from '@sluice/core'
import { describe, expect, test } from 'vitest'
import { createWorker, exponential } from '../../src/index.ts'
import { fakeRealTime } from '../support/real-time.ts'
import { late, Scene, setups, unleased } from '../support/setups.ts'

function coded(code: string, message = 'no'): Error {
  return Object.assign(new Error(message), { code })
}

/** The sums over all steps. */
function sums(steps: readonly HistoryStep[]): WorkCounts {
  const sum = (name: keyof WorkCounts): number => steps.reduce((n, step) => n + step[name], 0)
  return {
    ...{ started: sum('started'), done: sum('done'), failed: sum('failed') },
    ...{ added: sum('added'), merged: sum('merged'), expired: sum('expired') },
  }
}

describe.each(setups)('the history of a queue, over $way', (setup) => {
  test('has what workers did, written with their heartbeats', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited({ limiter: exponential({ baseMs: 60_000, maxMs: 60_000 }) })
    const worker = createWorker({
      queue,
      handler: async (item) => {
        if (String(item).startsWith('bad')) throw coded('ECONNREFUSED')
      },
    })
    await scene.quiet()
    await queue.addMany(['good', 'bad 1', 'bad 2'])
    await queue.addAfter('later', 500_000)
    await queue.addAfter('later', 500_000)
    await scene.clock.step(10_000)
    const { now, stepMs, steps } = await queue.inspect.history()
    expect([now, stepMs]).toEqual([1_010_000, 10_000])
    expect(sums(steps)).toEqual({
      ...{ started: 3, done: 1, failed: 2 },
      ...{ added: 4, merged: 1, expired: 0 },
    })
    expect(steps.at(-1)).toMatchObject({
      at: 1_010_000,
      depth: {
        ready: 0,
        delayed: 3,
        held: 0,
        parked: 0,
        oldestMs: 0,
        capped: false,
        paused: false,
      },
      codes: [['ECONNREFUSED', 2]],
    })

    await scene.clock.step(10_000)
    const later = await queue.inspect.history({ range: '1h' })
    expect(later.stepMs).toBe(60_000)
    expect(sums(later.steps)).toEqual(sums(steps))
    await expect(queue.inspect.history({ range: '2h' as never })).rejects.toThrow('range')
    await worker.stop()
  })

  test('has the rest of a worker that stops', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const worker = createWorker({ queue, handler: () => undefined })
    await queue.add('k')
    await scene.quiet()
    await worker.stop()
    await scene.quiet()
    expect(sums((await queue.inspect.history()).steps)).toMatchObject({ started: 1, done: 1 })
  })

  test('has failed runs that outlive their keys, with errors that were redacted once', async () => {
    const scene = new Scene(setup)
    const redacted: string[] = []
    const queue = scene.queue({
      redactError: (error) => {
        redacted.push(error.message)
        return { ...error, message: error.message.replaceAll('secret', '***') }
      },
    })
    const worker = createWorker({
      queue,
      maxFailures: 1,
      onExhausted: 'drop',
      handler: async () => {
        throw coded('E_LOGIN', `secret ${'x'.repeat(500)}`)
      },
    })
    await queue.add('k')
    await scene.clock.step(10_000)
    expect(await scene.states()).toEqual({})
    const [run, ...others] = await queue.inspect.failedRuns()
    expect(others).toEqual([])
    expect(run).toMatchObject({ at: 1_000_000, key: 'k', code: 'E_LOGIN', failures: 0 })
    expect(run?.error.message).toBe(`*** ${'x'.repeat(236)}`)
    expect(redacted).toHaveLength(1)
    await worker.stop()
  })

  test('a record has a few failed runs of each code, and counts them all', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const worker = createWorker({
      queue,
      maxFailures: 1,
      onExhausted: 'drop',
      handler: async (item) => {
        throw item === 'rare' ? new TypeError('x is not a function') : coded('EFLOOD')
      },
    })
    await queue.add('rare')
    await queue.addMany(Array.from({ length: 50 }, (_, n) => `k${n}`))
    await scene.clock.step(10_000)
    const runs = await queue.inspect.failedRuns()
    const keys = runs.map(({ key }) => key).sort()
    expect(keys).toEqual(['k45', 'k46', 'k47', 'k48', 'k49', 'rare'])
    const { steps } = await queue.inspect.history()
    expect(steps.at(-1)?.codes).toEqual([
      ['EFLOOD', 50],
      ['TypeError', 1],
    ])
    await worker.stop()
  })

  test('counts a handler that was abandoned as a failed run', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const stuck = Promise.withResolvers<void>()
    const handler = (): Promise<void> => stuck.promise
    const worker = createWorker({ queue, timeoutMs: 100, abandonMs: 1_000, handler })
    await queue.add('k')
    await scene.clock.step(100)
    await scene.clock.step(1_000)
    stuck.resolve()
    await scene.clock.step(10_000)
    const [run] = await queue.inspect.failedRuns()
    expect(run).toMatchObject({ at: 1_001_100, key: 'k', code: 'ERR_HANDLER_TIMEOUT' })
    await worker.stop()
    scene.takeErrors()
  })
})

describe('a record that does not arrive', () => {
  const outcomes = [
    ['is sent again if nothing was done', new SluiceError('ERR_STORE', 'away'), 3],
    ['is not sent again if it may have arrived', new SluiceError('ERR_UNKNOWN_OUTCOME', '?'), 0],
    ['is not sent again if it may still arrive', new SluiceError('ERR_TIMEOUT', 'late'), 0],
  ] as const

  test.each(outcomes)('%s', async (_, error, counted) => {
    const scene = new Scene(late)
    const { inner } = scene
    const tick = inner.tick.bind(inner)
    const time = fakeRealTime()
    let fails = 0
    let arrivals = 0
    inner.tick = (...args) => {
      if (args[1].record === undefined) return tick(...args)
      if (fails > 0) {
        fails -= 1
        throw error
      }
      const reply = tick(...args)
      arrivals += 1
      return reply
    }
    const queue = scene.queue()
    const worker = createWorker({
      queue,
      maxFailures: 1,
      onExhausted: 'drop',
      handler: async () => {
        throw coded('E')
      },
    })
    await scene.quiet()
    fails = 1
    await queue.addMany(['a', 'b', 'c'])
    await scene.clock.step(10_000)
    expect(fails).toBe(0)
    // The clock stands still: the step of the history in which the heartbeat failed is not left out.
    for (const before = arrivals; arrivals === before; ) await time.pass(50)
    await scene.quiet()
    const { steps } = await queue.inspect.history()
    expect(sums(steps).failed).toBe(counted)
    expect(steps.flatMap(({ codes }) => codes)).toEqual(counted === 0 ? [] : [['E', counted]])
    const runs: readonly FailedRun[] = (await inner.failedRuns?.('q')) ?? []
    expect(runs).toHaveLength(counted)
    await worker.stop()
    scene.takeErrors()
  })
})

test('a driver that keeps no history gets no records', async () => {
  const scene = new Scene(late)
  scene.late.capabilities = { ...scene.late.capabilities, history: false }
  const worker = createWorker({ queue: scene.queue(), handler: () => undefined })
  await scene.clock.step(10_000)
  const ticks = scene.late.requests('tick') as TickRequest[]
  const registrations = ticks.filter((tick) => tick.worker !== undefined)
  expect(registrations.length).toBeGreaterThan(0)
  expect(registrations.filter(({ record }) => record !== undefined)).toEqual([])
  await worker.stop()
})

test.each([late, unleased])(
  'a worker that stops before its first record was added leaves no rest untold, over $way',
  async (setup) => {
    const scene = new Scene(setup)
    const { late: store } = scene
    const { tick } = store
    const mayAdd = Promise.withResolvers<void>()
    let isAdding = false
    store.tick = async (queue, request) => {
      if (request.record === undefined) return await tick(queue, request)
      if (isAdding) {
        return { ...(await tick(queue, { ...request, record: undefined })), recorded: false }
      }
      isAdding = true
      await mayAdd.promise
      const reply = await tick(queue, request)
      isAdding = false
      return reply
    }
    const queue = scene.queue()
    const worker = createWorker({ queue, handler: () => undefined })
    await queue.add('k')
    await scene.quiet()
    await worker.stop()
    await scene.quiet()
    mayAdd.resolve()
    await scene.quiet()
    expect(sums((await queue.inspect.history()).steps)).toMatchObject({ started: 1, done: 1 })
  },
)
