/** An informer without a server, whose watch fails when a test says so. */
import { fakeClock } from '@sluice/core/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { keepWatching } from '../src/keep-watching.ts'

/** A watch that is kept up; `fail` is an error of the watch, and `starts` starts one. */
function watched(starts = vi.fn(async () => {}), stops = vi.fn(async () => {})) {
  const clock = fakeClock()
  const errors: unknown[] = []
  const failed = new Set<(error?: unknown) => void>()
  const informer = {
    on(verb: string, callback: unknown) {
      if (verb === 'error') failed.add(callback as () => void)
    },
    off(_verb: string, callback: unknown) {
      failed.delete(callback as () => void)
    },
    start: starts,
    stop: stops,
    list: () => [],
  }
  const watch = keepWatching(informer, clock, (error) => errors.push(error))
  onTestFinished(() => watch.stop())
  const fail = (error?: unknown): void => {
    for (const each of failed) each(error)
  }
  return { clock, errors, failed, watch, starts, stops, fail }
}

test('the pauses grow to half a minute, and are short again after a watch of more than a minute', async () => {
  const { clock, starts, fail } = watched()
  for (const [index, ms] of [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000].entries()) {
    fail()
    await clock.step(ms - 1)
    expect(starts).toHaveBeenCalledTimes(index + 1)
    await clock.step(1)
    expect(starts).toHaveBeenCalledTimes(index + 2)
  }
  starts.mockClear()
  await clock.step(60_001)
  fail()
  await clock.step(500)
  expect(starts).toHaveBeenCalledTimes(1)
})

test('two errors of one watch begin one watch', async () => {
  const { clock, errors, starts, fail } = watched()
  fail(new Error('cut'))
  fail()
  await clock.step(1_500)
  expect(starts).toHaveBeenCalledTimes(2)
  expect(errors).toEqual([new Error('cut'), expect.objectContaining({ code: 'ERR_STORE' })])
})

test('a pause keeps the process alive, and stop ends it', async () => {
  const { clock, failed, watch, starts, fail } = watched()
  fail()
  expect(clock.refCount()).toBe(1)
  await watch.stop()
  expect(clock.refCount()).toBe(0)
  expect(failed.size, 'callbacks on the informer').toBe(0)
  await clock.step(60_000)
  expect(starts).toHaveBeenCalledTimes(1)
})

test('stop waits for the informer, and not for a list that does not answer', async () => {
  const stopping = Promise.withResolvers<void>()
  const never = Promise.withResolvers<void>()
  const { watch, stops } = watched(
    vi.fn(() => never.promise),
    vi.fn(() => stopping.promise),
  )
  let isStopped = false
  const stopped = watch.stop().then(() => {
    isStopped = true
  })
  expect(stops).toHaveBeenCalledTimes(1)
  await new Promise(setImmediate)
  expect(isStopped).toBe(false)
  stopping.resolve()
  await stopped
})

test('an error that comes after stop is not reported, and begins nothing', async () => {
  const listing = Promise.withResolvers<void>()
  const { clock, errors, watch, starts } = watched(vi.fn(() => listing.promise))
  const stopped = watch.stop()
  listing.reject(new Error('aborted'))
  await stopped
  await clock.step(60_000)
  expect(starts).toHaveBeenCalledTimes(1)
  expect(errors).toEqual([])
})
