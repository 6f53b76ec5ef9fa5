import { getEventListeners } from 'node:events'
import { SluiceError } from '@sluice/core'
import { type FakeClock, fakeClock } from '@sluice/core/testing'
import { describe, expect, test, vi } from 'vitest'
import {
  Backoff,
  type BackoffOptions,
  exponentialBackoff,
  isInterrupted,
  type PollOptions,
  pollUntil,
} from '../src/index.ts'

/** Notes at which milliseconds it was asked; holds from the given time on. */
function question(
  clock: FakeClock,
  holdsAtMs = Infinity,
  takesMs: (turn: number) => number = () => 0,
) {
  const startMs = clock.now()
  const askedMs: number[] = []
  const condition = async () => {
    askedMs.push(clock.now() - startMs)
    const ms = takesMs(askedMs.length)
    if (ms > 0) {
      await new Promise<void>((resolve) => {
        clock.startTimer(ms, resolve)
      })
    }
    return clock.now() - startMs >= holdsAtMs
  }
  return { askedMs, condition }
}

/** Lets time pass until the promise is settled; says how it was, and when. */
async function settle(clock: FakeClock, promise: Promise<void>, mostMs = 1_000) {
  const startMs = clock.now()
  let outcome: unknown = 'pending'
  let endedMs: number | undefined
  promise.then(
    () => {
      outcome = 'resolved'
      endedMs = clock.now() - startMs
    },
    (error: unknown) => {
      outcome = error
      endedMs = clock.now() - startMs
    },
  )
  await clock.step(mostMs)
  return { outcome, endedMs }
}

const timeout = { code: 'ERR_TIMEOUT' }

describe('exponentialBackoff', () => {
  function tried(options: BackoffOptions, holdsAtMs?: number) {
    const clock = fakeClock()
    const { askedMs, condition } = question(clock, holdsAtMs)
    const backoff = new Backoff(options)
    const promise = exponentialBackoff(backoff, condition, { clock })
    return { clock, backoff, askedMs, promise }
  }

  test('LOOP-10 tries as often as there are steps, and does not pause after the last', async () => {
    const { clock, askedMs, promise } = tried({ durationMs: 10, factor: 2, steps: 4 })
    expect(await settle(clock, promise)).toMatchObject({ outcome: timeout, endedMs: 70 })
    expect(askedMs).toEqual([0, 10, 30, 70])
  })

  test('LOOP-10 resolves as soon as the condition holds', async () => {
    const { clock, askedMs, promise } = tried({ durationMs: 10, factor: 2, steps: 9 }, 30)
    expect(await settle(clock, promise)).toEqual({ outcome: 'resolved', endedMs: 30 })
    expect(askedMs).toEqual([0, 10, 30])
  })

  test('LOOP-10 without steps nothing is tried', async () => {
    for (const steps of [0, -1]) {
      const { askedMs, promise } = tried({ durationMs: 10, steps })
      await expect(promise).rejects.toMatchObject(timeout)
      expect(askedMs).toEqual([])
    }
  })

  test('LOOP-10 an error of the condition ends it, as it is', async () => {
    const error = new Error('no such thing')
    for (const condition of [
      () => {
        throw error
      },
      () => Promise.reject(error),
    ]) {
      const backoff = new Backoff({ durationMs: 10, steps: 3 })
      await expect(exponentialBackoff(backoff, condition)).rejects.toBe(error)
    }
  })

  test('quirk 14: {50 ms, 2, 10 steps, cap 150 ms} is 2 tries, 150 ms, timed out', async () => {
    const options = { durationMs: 50, factor: 2, steps: 10, capMs: 150 }
    const { clock, askedMs, promise } = tried(options)
    expect(await settle(clock, promise)).toMatchObject({ outcome: timeout, endedMs: 150 })
    expect(askedMs).toEqual([0, 50])
  })

  test('quirk 14: with endsAtCap false it goes on at the cap until the steps are used up', async () => {
    const options = { durationMs: 50, factor: 2, steps: 5, capMs: 150, endsAtCap: false }
    const { clock, askedMs, promise } = tried(options)
    expect(await settle(clock, promise)).toMatchObject({ outcome: timeout, endedMs: 450 })
    expect(askedMs).toEqual([0, 50, 150, 300, 450])
  })

  test('the backoff that was given is not stepped', async () => {
    const { clock, backoff, promise } = tried({ durationMs: 10, factor: 2, steps: 4 })
    await settle(clock, promise)
    expect([backoff.steps, backoff.durationMs]).toEqual([4, 10])
  })

  test('LOOP-11 aborted before, it does not try', async () => {
    const { askedMs, condition } = question(fakeClock())
    const signal = AbortSignal.abort(new Error('over'))
    const backoff = new Backoff({ durationMs: 10, steps: 3 })
    await expect(exponentialBackoff(backoff, condition, { signal })).rejects.toThrow('over')
    expect(askedMs).toEqual([])
  })

  test('LOOP-11 aborted in a pause, it ends at once with the reason', async () => {
    const clock = fakeClock()
    const { askedMs, condition } = question(clock)
    const controller = new AbortController()
    const backoff = new Backoff({ durationMs: 100, steps: 3 })
    const promise = exponentialBackoff(backoff, condition, { clock, signal: controller.signal })
    clock.startTimer(150, () => controller.abort(new Error('over')))
    const { outcome, endedMs } = await settle(clock, promise)
    expect([outcome, endedMs]).toMatchObject([{ message: 'over' }, 150])
    expect([askedMs, clock.waiters()]).toEqual([[0, 100], 0])
  })

  test('LOOP-11 aborted by the condition, it does not try again', async () => {
    const controller = new AbortController()
    const condition = vi.fn(() => {
      controller.abort(new Error('over'))
      return false
    })
    const backoff = new Backoff({ durationMs: 10, steps: 3 })
    const promise = exponentialBackoff(backoff, condition, { signal: controller.signal })
    await expect(promise).rejects.toThrow('over')
    expect(condition).toHaveBeenCalledOnce()
  })

  test('jitter comes from the source of the backoff', async () => {
    const options = { durationMs: 100, factor: 1, steps: 3, jitter: 1, random: () => 0.5 }
    const { clock, askedMs, promise } = tried(options)
    await settle(clock, promise)
    expect(askedMs).toEqual([0, 150, 300])
  })
})

describe('pollUntil', () => {
  function polled(
    options: Omit<PollOptions, 'clock'>,
    ...how: [number?, ((turn: number) => number)?]
  ) {
    const clock = fakeClock()
    const { askedMs, condition } = question(clock, ...how)
    return { clock, askedMs, promise: pollUntil(condition, { ...options, clock }) }
  }

  test('LOOP-08 asks after each interval until the condition holds', async () => {
    const { clock, askedMs, promise } = polled({ intervalMs: 10 }, 30)
    expect(await settle(clock, promise)).toEqual({ outcome: 'resolved', endedMs: 30 })
    expect(askedMs).toEqual([10, 20, 30])
    expect(clock.waiters()).toBe(0)
  })

  test('LOOP-07 with immediate it asks at once, too', async () => {
    const { clock, askedMs, promise } = polled({ intervalMs: 10, immediate: true }, 20)
    await settle(clock, promise)
    expect(askedMs).toEqual([0, 10, 20])
  })

  test('LOOP-08 after the timeout it gives up, without asking once more', async () => {
    const { clock, askedMs, promise } = polled({ intervalMs: 10, timeoutMs: 35 })
    expect(await settle(clock, promise)).toMatchObject({ outcome: timeout, endedMs: 35 })
    expect(askedMs).toEqual([10, 20, 30])
    expect(clock.waiters()).toBe(0)
  })

  test('LOOP-03 when the timeout and a turn fall together, the timeout comes first', async () => {
    const { clock, askedMs, promise } = polled({ intervalMs: 10, timeoutMs: 30 }, 30)
    expect(await settle(clock, promise)).toMatchObject({ outcome: timeout, endedMs: 30 })
    expect(askedMs).toEqual([10, 20])
  })

  test('LOOP-07 when time is up already, immediate still asks once, and otherwise nothing is asked', async () => {
    for (const over of [{ timeoutMs: 0 }, { signal: AbortSignal.abort(new Error('over')) }]) {
      for (const [immediate, asked] of [
        [true, [0]],
        [false, []],
      ] as const) {
        const { clock, askedMs, promise } = polled({ intervalMs: 10, immediate, ...over })
        expect((await settle(clock, promise)).endedMs).toBe(0)
        expect(askedMs).toEqual(asked)
      }
    }
    const { clock, promise } = polled({ intervalMs: 10, immediate: true, timeoutMs: 0 }, 0)
    expect((await settle(clock, promise)).outcome).toBe('resolved')
  })

  test('an abort ends it at once, with the reason', async () => {
    const controller = new AbortController()
    const { clock, askedMs, promise } = polled({ intervalMs: 10, signal: controller.signal })
    clock.startTimer(25, () => controller.abort(new Error('over')))
    const { outcome, endedMs } = await settle(clock, promise)
    expect([outcome, endedMs]).toMatchObject([{ message: 'over' }, 25])
    expect([askedMs, clock.waiters()]).toEqual([[10, 20], 0])
  })

  test('B-08 a slow condition is asked again right after, and then in the old rhythm', async () => {
    const { clock, askedMs, promise } = polled({ intervalMs: 10 }, 60, (turn) =>
      turn === 1 ? 25 : 0,
    )
    await settle(clock, promise)
    // Asked at 10 until 35; the turns at 20 and 30 are one; then at 40 again.
    expect(askedMs).toEqual([10, 35, 40, 50, 60])
  })

  test('a condition that is under way when time is up is awaited, and believed if it holds', async () => {
    const late = polled({ intervalMs: 10, timeoutMs: 15 }, 30, () => 20)
    expect(await settle(late.clock, late.promise)).toEqual({ outcome: 'resolved', endedMs: 30 })
    const never = polled({ intervalMs: 10, timeoutMs: 15 }, Infinity, () => 20)
    expect(await settle(never.clock, never.promise)).toMatchObject({
      outcome: timeout,
      endedMs: 30,
    })
  })

  test('the condition is told when nobody waits any more', async () => {
    const clock = fakeClock()
    let given: AbortSignal | undefined
    const promise = pollUntil(
      (signal) => {
        given = signal
        return false
      },
      { intervalMs: 10, timeoutMs: 15, clock },
    )
    await settle(clock, promise)
    expect(given?.aborted).toBe(true)
    expect(SluiceError.is(given?.reason, 'ERR_TIMEOUT')).toBe(true)
  })

  test('POLL-04 an error of the condition ends it, as it is', async () => {
    const clock = fakeClock()
    const error = new Error('no such thing')
    const promise = pollUntil(() => Promise.reject(error), { intervalMs: 10, clock })
    expect(await settle(clock, promise)).toEqual({ outcome: error, endedMs: 10 })
    expect(clock.waiters()).toBe(0)
  })

  test('LOOP-08 an interval of 0 asks again and again, and lets others have their turn', async () => {
    const clock = fakeClock()
    let asked = 0
    const promise = pollUntil(
      () => {
        asked += 1
        return asked === 100
      },
      { intervalMs: 0, clock },
    )
    expect(await settle(clock, promise, 0)).toEqual({ outcome: 'resolved', endedMs: 0 })
  })

  test('an interval that no float holds exactly keeps its rhythm', async () => {
    const { clock, askedMs, promise } = polled({ intervalMs: 0.1 }, 2)
    await settle(clock, promise)
    expect(askedMs).toHaveLength(20)
  })

  // A condition that takes 25 ms; delays of 10 ms, or of 10, 20, 40, 80 ms.
  test.each<[string, boolean, boolean, boolean, readonly number[]]>([
    ['LOOP-08 fixed, non-sliding', false, false, false, [10, 35, 60, 85]],
    ['LOOP-08 fixed, non-sliding, immediate', false, false, true, [0, 25, 50, 75]],
    ['LOOP-09 constant, sliding', false, true, false, [10, 45, 80, 115]],
    ['LOOP-09 constant, sliding, immediate', false, true, true, [0, 35, 70, 105]],
    ['LOOP-09 growing, non-sliding', true, false, false, [10, 35, 75, 155]],
    ['LOOP-09 growing, non-sliding, immediate', true, false, true, [0, 25, 50, 90]],
    ['LOOP-09 growing, sliding', true, true, false, [10, 55, 120, 225]],
    ['LOOP-09 growing, sliding, immediate', true, true, true, [0, 35, 80, 145]],
  ])('%s: polls at these times', async (_, growing, sliding, immediate, expected) => {
    const backoff = new Backoff({ durationMs: 10, factor: 2, steps: 9 })
    const intervalMs = growing ? backoff.delayFn() : 10
    const fourthEndsMs = (expected[3] ?? 0) + 25
    const options = { intervalMs, sliding, immediate }
    const { clock, askedMs, promise } = polled(options, fourthEndsMs, () => 25)
    expect(await settle(clock, promise)).toEqual({ outcome: 'resolved', endedMs: fourthEndsMs })
    expect(askedMs).toEqual(expected)
    expect(clock.waiters()).toBe(0)
  })

  test('LOOP-05 sliding: a condition of 3 ms every 10 ms is polled at 0, 13, 26', async () => {
    const options = { intervalMs: 10, sliding: true, immediate: true }
    const { clock, askedMs, promise } = polled(options, 29, () => 3)
    await settle(clock, promise)
    expect(askedMs).toEqual([0, 13, 26])
  })

  test('LOOP-09 growing delays begin with a wait, and end with the timeout', async () => {
    const backoff = new Backoff({ durationMs: 10, factor: 2, steps: 9 })
    for (const sliding of [false, true]) {
      const intervalMs = backoff.delayFn()
      const { clock, askedMs, promise } = polled({ intervalMs, sliding, timeoutMs: 70 })
      expect(await settle(clock, promise)).toMatchObject({ outcome: timeout, endedMs: 70 })
      expect(askedMs).toEqual([10, 30])
    }
  })

  test('LOOP-07 the delay function is called once for each wait, and not after the condition holds', async () => {
    for (const [sliding, immediate, calls] of [
      [true, false, 3],
      [true, true, 2],
      [false, false, 4],
      [false, true, 3],
    ] as const) {
      const intervalMs = vi.fn(() => 10)
      const { clock, askedMs, promise } = polled(
        { intervalMs, sliding, immediate },
        immediate ? 20 : 30,
      )
      await settle(clock, promise)
      expect([askedMs.length, intervalMs.mock.calls.length]).toEqual([3, calls])
    }
  })

  test('LOOP-09 a delay of zero or less polls again at once, and lets others have their turn', async () => {
    const clock = fakeClock()
    const delays = [0, -5, 0]
    let asked = 0
    const condition = () => {
      asked += 1
      return asked === 100
    }
    const promise = pollUntil(condition, { intervalMs: () => delays[asked % 3] ?? 0, clock })
    expect(await settle(clock, promise, 0)).toEqual({ outcome: 'resolved', endedMs: 0 })
  })

  test('a delay function that throws or gives no number ends the poll', async () => {
    const error = new Error('no delay')
    const throws = polled({
      intervalMs: () => {
        throw error
      },
    })
    expect((await settle(throws.clock, throws.promise)).outcome).toBe(error)
    for (const ms of ['10', Number.NaN, undefined, Infinity]) {
      const { clock, askedMs, promise } = polled({ intervalMs: () => ms as number })
      const { outcome } = await settle(clock, promise)
      expect(outcome).toMatchObject({
        code: 'ERR_INVALID_INPUT',
        parameter: 'options.intervalMs()',
      })
      expect([askedMs, clock.waiters()]).toEqual([[], 0])
    }
  })

  test('on the clock of the runtime, too', async () => {
    let asked = 0
    await pollUntil(
      () => {
        asked += 1
        return asked === 3
      },
      { intervalMs: 1, timeoutMs: 10_000 },
    )
    await exponentialBackoff(new Backoff({ durationMs: 1, steps: 3 }), () => true)
    expect(asked).toBe(3)
  })
})

describe('nothing is left on the signal or the clock', () => {
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
    const promise = wait(() => clock.monotonicMs() >= 30, signal, clock)
    await clock.step(15)
    expect(getEventListeners(signal, 'abort').length).toBeGreaterThan(0)
    expect(clock.waiters()).toBeGreaterThan(0)
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

describe('ERR-01 isInterrupted', () => {
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
