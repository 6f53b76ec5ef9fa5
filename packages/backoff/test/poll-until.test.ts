import { type Clock, SluiceError } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { describe, expect, test, vi } from 'vitest'
import { Backoff, exponentialBackoff, type PollOptions, pollUntil } from '../src/index.ts'
import { question, settle, timeout } from './support/condition.ts'

describe('pollUntil', () => {
  function polled(
    options: Omit<PollOptions, 'clock'>,
    ...how: [number?, ((turn: number) => number)?]
  ) {
    const clock = fakeClock()
    const { askedMs, condition } = question(clock, ...how)
    return { clock, askedMs, promise: pollUntil(condition, { ...options, clock }) }
  }

  test('asks after each interval until the condition holds', async () => {
    const { clock, askedMs, promise } = polled({ intervalMs: 10 }, 30)
    expect(await settle(clock, promise)).toEqual({ outcome: 'resolved', endedMs: 30 })
    expect(askedMs).toEqual([10, 20, 30])
    expect(clock.waiters()).toBe(0)
  })

  test('the interval counts from the call, however long the process has run', async () => {
    const clock = fakeClock()
    await clock.step(1_000)
    const { askedMs, condition } = question(clock, 20)
    await settle(clock, pollUntil(condition, { intervalMs: 10, clock }))
    expect(askedMs).toEqual([10, 20])
  })

  test('with immediate it asks at once, too', async () => {
    const { clock, askedMs, promise } = polled({ intervalMs: 10, immediate: true }, 20)
    await settle(clock, promise)
    expect(askedMs).toEqual([0, 10, 20])
  })

  test('after the timeout it gives up, without asking once more', async () => {
    const { clock, askedMs, promise } = polled({ intervalMs: 10, timeoutMs: 35 })
    expect(await settle(clock, promise)).toMatchObject({ outcome: timeout, endedMs: 35 })
    expect(askedMs).toEqual([10, 20, 30])
    expect(clock.waiters()).toBe(0)
  })

  test('when the timeout and a turn fall together, the timeout comes first', async () => {
    const { clock, askedMs, promise } = polled({ intervalMs: 10, timeoutMs: 30 }, 30)
    expect(await settle(clock, promise)).toMatchObject({ outcome: timeout, endedMs: 30 })
    expect(askedMs).toEqual([10, 20])
  })

  test('when time is up already, immediate still asks once, and otherwise nothing is asked', async () => {
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

  test('an abort right after the timer of a turn, before others had theirs, still comes first', async () => {
    const clock = fakeClock()
    const { askedMs, condition } = question(clock)
    const abort = new AbortController()
    const aborting: Clock = {
      now: () => clock.now(),
      monotonicMs: () => clock.monotonicMs(),
      startTimer: (ms, act) =>
        clock.startTimer(ms, () => {
          act()
          abort.abort('enough')
        }),
      startTicker: (ms, act) => clock.startTicker(ms, act),
    }
    const { signal } = abort
    const promise = pollUntil(condition, { intervalMs: 10, signal, clock: aborting })
    expect(await settle(clock, promise)).toEqual({ outcome: 'enough', endedMs: 10 })
    expect(askedMs).toEqual([])
  })

  test('a slow condition is asked again right after, and then in the old rhythm', async () => {
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

  test('an error of the condition ends it, as it is', async () => {
    const clock = fakeClock()
    const error = new Error('no such thing')
    const promise = pollUntil(() => Promise.reject(error), { intervalMs: 10, clock })
    expect(await settle(clock, promise)).toEqual({ outcome: error, endedMs: 10 })
    expect(clock.waiters()).toBe(0)
  })

  test('an interval of 0 asks again and again, and lets others have their turn', async () => {
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
    ['fixed, non-sliding', false, false, false, [10, 35, 60, 85]],
    ['fixed, non-sliding, immediate', false, false, true, [0, 25, 50, 75]],
    ['constant, sliding', false, true, false, [10, 45, 80, 115]],
    ['constant, sliding, immediate', false, true, true, [0, 35, 70, 105]],
    ['growing, non-sliding', true, false, false, [10, 35, 75, 155]],
    ['growing, non-sliding, immediate', true, false, true, [0, 25, 50, 90]],
    ['growing, sliding', true, true, false, [10, 55, 120, 225]],
    ['growing, sliding, immediate', true, true, true, [0, 35, 80, 145]],
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

  test('sliding: a condition of 3 ms every 10 ms is polled at 0, 13, 26', async () => {
    const options = { intervalMs: 10, sliding: true, immediate: true }
    const { clock, askedMs, promise } = polled(options, 29, () => 3)
    await settle(clock, promise)
    expect(askedMs).toEqual([0, 13, 26])
  })

  test('growing delays begin with a wait, and end with the timeout', async () => {
    const backoff = new Backoff({ durationMs: 10, factor: 2, steps: 9 })
    for (const sliding of [false, true]) {
      const intervalMs = backoff.delayFn()
      const { clock, askedMs, promise } = polled({ intervalMs, sliding, timeoutMs: 70 })
      expect(await settle(clock, promise)).toMatchObject({ outcome: timeout, endedMs: 70 })
      expect(askedMs).toEqual([10, 30])
    }
  })

  test('the delay function is called once for each wait, and not after the condition holds', async () => {
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

  test('a delay of zero or less polls again at once, and lets others have their turn', async () => {
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
        parameter: 'intervalMs()',
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
