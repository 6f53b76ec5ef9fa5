import { EventEmitter, getEventListeners, once } from 'node:events'
import { runInNewContext } from 'node:vm'
import { SluiceError } from '@sluice/core'
import { type FakeClock, fakeClock } from '@sluice/core/testing'
import { describe, expect, test } from 'vitest'
import { Backoff, exponentialBackoff, isInterrupted, pollUntil, until } from '../src/index.ts'
import { settle } from './support/condition.ts'

describe('a wait keeps the process alive, and then nothing is left on the signal or the clock', () => {
  type Wait = (condition: () => boolean, signal: AbortSignal, clock: FakeClock) => Promise<void>
  const waits: [string, Wait][] = [
    [
      'pollUntil',
      (condition, signal, clock) =>
        pollUntil(condition, { intervalMs: 10, timeoutMs: 900, signal, clock }),
    ],
    [
      'exponentialBackoff',
      (condition, signal, clock) =>
        exponentialBackoff(new Backoff({ durationMs: 10, steps: 90 }), condition, {
          signal,
          clock,
        }),
    ],
  ]

  test.each(waits)('%s, once the condition holds', async (_name, wait) => {
    const clock = fakeClock()
    const { signal } = new AbortController()
    const startMs = clock.now()
    const promise = wait(() => clock.now() - startMs >= 30, signal, clock)
    await clock.step(15)
    expect(getEventListeners(signal, 'abort').length).toBeGreaterThan(0)
    expect(clock.refCount()).toBe(1)
    expect(await settle(clock, promise, 50)).toMatchObject({ outcome: 'resolved' })
    expect(getEventListeners(signal, 'abort')).toEqual([])
    expect(clock.waiters()).toBe(0)
  })

  test.each(waits)('%s, once it was aborted in a pause', async (_name, wait) => {
    const clock = fakeClock()
    const abort = new AbortController()
    const promise = wait(() => false, abort.signal, clock)
    await clock.step(15)
    abort.abort(new Error('enough'))
    await expect(promise).rejects.toThrow('enough')
    expect(getEventListeners(abort.signal, 'abort')).toEqual([])
    expect(clock.waiters()).toBe(0)
  })
})

describe('isInterrupted', () => {
  const timedOut = new SluiceError('ERR_TIMEOUT', 'late')

  test('holds for time that ran out and for aborts, also as the cause of another error', () => {
    for (const error of [
      timedOut,
      AbortSignal.abort().reason,
      new DOMException('late', 'TimeoutError'),
      new Error('while waiting', { cause: new Error('in turn', { cause: timedOut }) }),
    ]) {
      expect(isInterrupted(error)).toBe(true)
    }
  })

  test('does not hold for anything else, nor for a mention without a cause', () => {
    const circle = new Error('circle')
    circle.cause = circle
    for (const error of [
      undefined,
      null,
      'ERR_TIMEOUT',
      new Error('ERR_TIMEOUT: timed out waiting for the condition'),
      new SluiceError('ERR_STORE', 'down'),
      circle,
    ]) {
      expect(isInterrupted(error)).toBe(false)
    }
  })
})

test('errors of another realm count, such as those of Node in a test of Jest', () => {
  const other = runInNewContext('(cause) => new Error("while waiting", { cause })')
  class AbortError {
    readonly name = 'AbortError'
  }
  expect(isInterrupted(other(AbortSignal.abort().reason))).toBe(true)
  expect(isInterrupted(new AbortError())).toBe(true)
  expect(isInterrupted(other(new Error('down')))).toBe(false)
})

test('a loop that is stopped resolves when a function of Node that got its signal ends by that', async () => {
  const stopping = new AbortController()
  const fn = (signal: AbortSignal) => {
    const ending = once(new EventEmitter(), 'never', { signal })
    stopping.abort()
    return ending
  }
  await until(fn, 10, { signal: stopping.signal })
})

test('a wait rejects with the reason when a function of Node that got its signal ends by that', async () => {
  const never = (signal: AbortSignal) =>
    once(new EventEmitter(), 'never', { signal }).then(() => true)
  const clock = fakeClock()
  const options = { intervalMs: 10, timeoutMs: 50, clock }
  const late = expect(pollUntil(never, options)).rejects.toMatchObject({ code: 'ERR_TIMEOUT' })
  await clock.step(50)
  await late
  const stopping = new AbortController()
  const { signal } = stopping
  const stopped = Promise.allSettled([
    pollUntil(never, { ...options, immediate: true, signal }),
    exponentialBackoff(new Backoff({ durationMs: 10, steps: 2 }), never, { signal }),
  ])
  const reason = new Error('enough')
  stopping.abort(reason)
  expect(await stopped).toEqual([
    { status: 'rejected', reason },
    { status: 'rejected', reason },
  ])
  const other = () => never(AbortSignal.abort())
  await expect(pollUntil(other, { intervalMs: 1 })).rejects.toMatchObject({ code: 'ABORT_ERR' })
})

test('a loop rejects when a function of Node ends by another signal', async () => {
  const stopping = new AbortController()
  const fn = () => {
    stopping.abort()
    return once(new EventEmitter(), 'never', { signal: AbortSignal.abort() })
  }
  await expect(until(fn, 10, { signal: stopping.signal })).rejects.toMatchObject({
    code: 'ABORT_ERR',
  })
})

test('a loop that is stopped rejects with an error of its last run that is not the reason', async () => {
  const stopping = new AbortController()
  const error = new Error('the file is not closed')
  const fn = async () => {
    stopping.abort()
    throw error
  }
  await expect(until(fn, 10, { signal: stopping.signal })).rejects.toBe(error)
})

test('a loop whose function rejects without a reason rejects', async () => {
  const loop = until(() => Promise.reject(undefined), 10)
  await expect(loop).rejects.toBeUndefined()
})
