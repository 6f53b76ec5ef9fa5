import { describe, expect, test, vi } from 'vitest'
import { createWorker, type HandlerContext, type HandlerResult } from '../../src/index.ts'
import { leases, setUp } from '../support/worker-setups.ts'

describe.each(leases)('a key of a worker %s', (_name, leaseMs) => {
  test('comes back after requeueAfterMs without counting a failure, and keeps the priority', async () => {
    const { queue, clock, row } = setUp(leaseMs)
    const results: HandlerResult[] = [{ requeueAfterMs: 500 }, undefined]
    const seen: HandlerContext[] = []
    const worker = createWorker<string>({
      queue,
      handler: (_item, context) => {
        seen.push(context)
        return results.shift()
      },
    })
    await queue.add('a', { priority: 7 })
    await clock.step(499)
    expect(seen).toHaveLength(1)
    expect(await row('a')).toMatchObject({ state: 'delayed', failures: 0, priority: 7 })
    await clock.step(1)
    expect(seen.map(({ failures, priority }) => [failures, priority])).toEqual([
      [0, 7],
      [0, 7],
    ])
    await worker.stop()
    await queue.close()
  })

  test('comes back through the limiter after requeue', async () => {
    const { queue, clock, row } = setUp(leaseMs)
    const results: HandlerResult[] = [{ requeue: true }]
    const worker = createWorker<string>({ queue, handler: () => results.shift() })
    await queue.add('a')
    await clock.step(0)
    expect(await row('a')).toMatchObject({ state: 'backoff', failures: 1 })
    await clock.step(10)
    expect(await row('a')).toBeUndefined()
    await worker.stop()
    await queue.close()
  })

  test.each([
    { requeueAfterMs: 0, priority: 3 },
    { requeueAfterMs: -1, priority: 3 },
    { requeueAfterMs: -Infinity, priority: 3 },
    { requeue: false },
    // What a program in JavaScript may return for nothing.
    null,
  ])('is done with %o', async (result) => {
    const { queue, clock, row, errors } = setUp(leaseMs)
    let runs = 0
    const handler = (): HandlerResult => {
      runs += 1
      if (runs === 1) throw new Error('counts one')
      return result as HandlerResult
    }
    const worker = createWorker<string>({ queue, handler })
    await queue.add('a')
    await clock.step(1_000)
    expect([runs, await row('a'), errors]).toEqual([2, undefined, []])
    await worker.stop()
    await queue.close()
  })

  test('comes back by requeueAfterMs rather than requeue, unless it is zero or less', async () => {
    const { queue, clock, row } = setUp(leaseMs)
    const results: HandlerResult[] = [
      { requeueAfterMs: 500, requeue: true },
      { requeueAfterMs: 500, requeue: false },
      { requeueAfterMs: 0, requeue: true },
    ]
    const worker = createWorker<string>({ queue, handler: () => results.shift() })
    await queue.add('a')
    for (const state of ['delayed', 'delayed', 'backoff']) {
      await clock.step(0)
      expect(await row('a')).toMatchObject({ state, failures: state === 'backoff' ? 1 : 0 })
      await clock.step(500)
    }
    await worker.stop()
    await queue.close()
  })

  test.each([
    { requeueAfterMs: Number.NaN },
    { requeueAfterMs: Number.NaN, requeue: true },
    { requeueAfterMs: '5', requeue: true },
    { requeueAfterMs: Infinity },
    { requeueAfterMs: 0, requeue: 'true' },
    { priority: 5 },
    {},
    'ok',
    7,
    true,
  ])('a result that means nothing counts as a failure: %j', async (result) => {
    const { queue, clock, row } = setUp(leaseMs)
    const worker = createWorker<string>({
      queue,
      handler: () => result as HandlerResult,
    })
    await queue.add('a')
    await clock.step(0)
    expect(await row('a')).toMatchObject({ state: 'backoff', failures: 1 })
    await worker.stop()
    await queue.close()
  })

  test.each([
    [{ requeueAfterMs: '5' }, 'handler(item).requeueAfterMs must be a number of milliseconds; got'],
    [
      { requeueAfterMs: 1e13 },
      'handler(item).requeueAfterMs must be finite and at most 315576000000',
    ],
    [{ requeue: true, priority: 1.5 }, 'handler(item).priority must be a whole number from -1000'],
    [{}, 'handler(item) must return nothing, { requeueAfterMs } or { requeue }'],
    [{ requeueAfter: 5 }, 'with or without priority; got an object'],
    ['done', "with or without priority; got 'done'"],
  ])('what is wrong with a result is said: %j', async (result, words) => {
    const { queue, clock } = setUp(leaseMs)
    const onError = vi.fn<(error: unknown) => void>()
    const worker = createWorker<string>({
      queue,
      onError,
      handler: () => result as HandlerResult,
    })
    await queue.add('a')
    await clock.step(0)
    expect(String(onError.mock.calls[0]?.[0])).toContain(words)
    await worker.stop()
    await queue.close()
  })

  test('a result that cannot be read is reported as a result of the handler, with the cause', async () => {
    const { queue, clock } = setUp(leaseMs)
    const onError = vi.fn<(error: unknown) => void>()
    const cause = new Error('revoked')
    const worker = createWorker<string>({
      queue,
      onError,
      handler: () => ({
        get requeue(): boolean {
          throw cause
        },
      }),
    })
    await queue.add('a')
    await clock.step(0)
    const [error] = onError.mock.calls[0] as [Error]
    expect(error.message).toContain('handler(item) must return nothing')
    expect(error.cause).toBe(cause)
    await worker.stop()
    await queue.close()
  })
})
