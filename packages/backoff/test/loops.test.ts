import { type Clock, systemClock } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { describe, expect, test, vi } from 'vitest'
import {
  backoffUntil,
  exponentialBackoffManager,
  forever,
  jitteredBackoffManager,
  jitterUntil,
  nonSlidingUntil,
  until,
} from '../src/index.ts'
import { controlled, diary, fail, stepSeconds, work } from './support/loops.ts'

/** Says how a promise stands, without waiting for it. */
function follow(promise: Promise<unknown>) {
  const seen: { state: 'pending' | 'resolved' | 'rejected'; error?: unknown } = { state: 'pending' }
  promise.then(
    () => {
      seen.state = 'resolved'
    },
    (error: unknown) => {
      seen.state = 'rejected'
      seen.error = error
    },
  )
  return seen
}

describe('sliding and non-sliding', () => {
  test('work of 3 s, period 10 s: sliding starts at 0, 13, 26', async () => {
    const clock = fakeClock()
    const { starts, fn } = diary(clock, () => 3_000)
    const { signal, abort } = controlled()
    const loop = until(fn, 10_000, { signal, clock })
    await stepSeconds(clock, 30)
    abort()
    await loop
    expect(starts).toEqual([0, 13, 26])
  })

  test('work of 3 s, period 10 s: non-sliding starts at 0, 10, 20, 30', async () => {
    const clock = fakeClock()
    const { starts, fn } = diary(clock, () => 3_000)
    const { signal, abort } = controlled()
    const loop = nonSlidingUntil(fn, 10_000, { signal, clock })
    await stepSeconds(clock, 33)
    abort()
    await loop
    expect(starts).toEqual([0, 10, 20, 30])
  })

  test('work of 25 s, period 10 s: sliding starts at 0, 35, 70', async () => {
    const clock = fakeClock()
    const { starts, fn } = diary(clock, () => 25_000)
    const { signal, abort } = controlled()
    const loop = until(fn, 10_000, { signal, clock })
    await stepSeconds(clock, 95)
    abort()
    await loop
    expect(starts).toEqual([0, 35, 70])
  })

  test('work of 25 s twice, period 10 s: an overrun is followed at once, and not made up for', async () => {
    const clock = fakeClock()
    const { starts, fn } = diary(clock, (run) => (run <= 2 ? 25_000 : 0))
    const { signal, abort } = controlled()
    const loop = nonSlidingUntil(fn, 10_000, { signal, clock })
    await stepSeconds(clock, 75)
    abort()
    await loop
    expect(starts).toEqual([0, 25, 50, 60, 70])
  })
})

describe('stopping comes first', () => {
  test('stopped before it began, it runs nothing', async () => {
    const { starts, fn } = diary(fakeClock())
    await until(fn, 1_000, { signal: AbortSignal.abort() })
    expect(starts).toEqual([])
  })

  test('the first run is at once', async () => {
    const clock = fakeClock()
    const { starts, fn } = diary(clock)
    const { signal, abort } = controlled()
    const loop = until(fn, 1_000, { signal, clock })
    expect(starts).toEqual([0])
    abort()
    await loop
  })

  test.each([true, false])(
    'stopped by its own function, it ends without waiting (sliding %s)',
    async (sliding) => {
      const clock = fakeClock()
      const { signal, abort } = controlled()
      let runs = 0
      await jitterUntil(
        () => {
          runs += 1
          abort()
        },
        1_000,
        0,
        { signal, clock, sliding },
      )
      expect([runs, clock.waiters()]).toEqual([1, 0])
    },
  )

  test('stopped in the middle of a wait, it ends at once and leaves no timer', async () => {
    const clock = fakeClock()
    const { starts, fn } = diary(clock)
    const { signal, abort } = controlled()
    const loop = until(fn, 1_000, { signal, clock })
    await clock.step(500)
    abort()
    await loop
    expect([starts, clock.waiters()]).toEqual([[0], 0])
  })

  test.each([true, false])(
    'when the wait ends and it is stopped at the same time, it does not run again (sliding %s)',
    async (sliding) => {
      for (const stopsFirst of [true, false]) {
        // A timer that rings when the test says so, so that nothing runs in between.
        let ring = () => {}
        const timer = { stop: () => true, reset: () => true, ref: () => {}, unref: () => {} }
        const clock: Clock = {
          ...systemClock,
          startTimer: (_, callback) => {
            ring = callback
            return timer
          },
        }
        const { signal, abort } = controlled()
        const fn = vi.fn()
        const manager = jitteredBackoffManager({ durationMs: 1_000, clock })
        const loop = backoffUntil(fn, manager, { signal, sliding })
        await Promise.resolve()
        if (stopsFirst) abort()
        ring()
        abort()
        await loop
        expect(fn).toHaveBeenCalledOnce()
      }
    },
  )

  test('it ends only when the run that is under way has ended', async () => {
    const clock = fakeClock()
    const { signal, abort } = controlled()
    const seen = follow(until(() => work(clock, 5_000), 1_000, { signal, clock }))
    await clock.step(1_000)
    abort()
    await clock.step(3_999)
    expect(seen.state).toBe('pending')
    await clock.step(1)
    expect(seen.state).toBe('resolved')
  })

  test('a function that throws the reason it was stopped for is not an error', async () => {
    const clock = fakeClock()
    const { signal, abort } = controlled()
    const report = vi.fn()
    const loop = until(
      async (stop) => {
        await work(clock, 1_000)
        stop.throwIfAborted()
      },
      1_000,
      { signal, clock, report },
    )
    await clock.step(500)
    abort(new Error('enough'))
    await clock.step(500)
    await loop
    expect(report).not.toHaveBeenCalled()
  })
})

describe('the family', () => {
  test('jitterUntil adds a share of each period, and none for a factor of zero or less', async () => {
    for (const [factor, expected] of [
      [0.5, [0, 1.25, 2.5]],
      [0, [0, 1, 2]],
      [-1, [0, 1, 2]],
    ] as const) {
      const clock = fakeClock()
      const { starts, fn } = diary(clock)
      const { signal, abort } = controlled()
      const loop = jitterUntil(fn, 1_000, factor, { signal, clock, random: () => 0.5 })
      await clock.step(2_500)
      abort()
      await loop
      expect(starts).toEqual(expected)
    }
  })

  test('a period of 0 runs again as soon as others had their turn', async () => {
    const clock = fakeClock()
    const startMs = clock.now()
    const { signal, abort } = controlled()
    let runs = 0
    const loop = until(
      () => {
        runs += 1
        if (runs === 50) abort()
      },
      0,
      { signal, clock },
    )
    await clock.step(0)
    await loop
    expect([runs, clock.now()]).toEqual([50, startMs])
  })

  test('forever ends only by an error', async () => {
    const clock = fakeClock()
    let runs = 0
    const seen = follow(
      forever(
        () => {
          runs += 1
          if (runs === 1_000) fail()
        },
        10,
        { clock },
      ),
    )
    await clock.step(9_989)
    expect([seen.state, runs]).toEqual(['pending', 999])
    await clock.step(1)
    expect([seen.state, runs]).toEqual(['rejected', 1_000])
  })

  test('backoffUntil asks the manager once for each wait', async () => {
    const clock = fakeClock()
    const options = { initialMs: 1_000, maxMs: 8_000, resetMs: 60_000, factor: 2, clock }
    for (const sliding of [true, false]) {
      const { starts, fn } = diary(clock)
      const { signal, abort } = controlled()
      const loop = backoffUntil(fn, exponentialBackoffManager(options), { signal, sliding })
      await stepSeconds(clock, 24)
      abort()
      await loop
      expect(starts).toEqual([0, 1, 3, 7, 15, 23])
    }
  })

  test('the function is given the signal, one that is never aborted if there is none', async () => {
    const clock = fakeClock()
    const { signal } = controlled()
    const given: AbortSignal[] = []
    const fn = (stop: AbortSignal) => {
      given.push(stop)
      fail()
    }
    await expect(until(fn, 1, { signal, clock })).rejects.toThrow()
    await expect(until(fn, 1, { clock })).rejects.toThrow()
    expect(given[0]).toBe(signal)
    expect(given[1]?.aborted).toBe(false)
  })
})

test('a loop uses one timer, again and again', async () => {
  const clock = fakeClock()
  const startTimer = vi.spyOn(clock, 'startTimer')
  const { signal, abort } = controlled()
  const manager = jitteredBackoffManager({ durationMs: 10, clock })
  const loop = backoffUntil(() => {}, manager, { signal })
  await clock.step(1_000)
  expect([startTimer.mock.calls.length, clock.waiters(), clock.refCount()]).toEqual([1, 1, 1])
  abort()
  await loop
  expect(clock.waiters()).toBe(0)
})

test('loops leave no listener on the signal they were given', async () => {
  const clock = fakeClock()
  const { signal } = controlled()
  const added = vi.spyOn(signal, 'addEventListener')
  const removed = vi.spyOn(signal, 'removeEventListener')
  let runs = 0
  const loop = until(
    () => {
      runs += 1
      if (runs === 20) fail()
    },
    10,
    { signal, clock },
  )
  const seen = follow(loop)
  await clock.step(1_000)
  expect(seen.state).toBe('rejected')
  expect(removed.mock.calls.length).toBe(added.mock.calls.length)
})
