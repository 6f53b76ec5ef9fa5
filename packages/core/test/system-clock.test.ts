import assert from 'node:assert/strict'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { SluiceRangeError, SluiceTypeError } from '../src/errors.ts'
import { fakeClock } from '../src/testing/index.ts'
import { systemClock } from '../src/time/system-clock.ts'

// real time: this is the one clock that reads it, and nothing else can show that it does. Delays
// are a few milliseconds, and only lower bounds are asserted: a busy machine is late, never early.

const delay = (ms: number): Promise<void> =>
  new Promise((resolve) => systemClock.startTimer(ms, resolve).ref())

/** Keeps the process, and so the test, alive while unref'd timers run. */
async function lasting<T>(work: () => Promise<T>): Promise<T> {
  const timer = systemClock.startTimer(60_000, () => assert.fail('the test took a minute'))
  timer.ref()
  try {
    return await work()
  } finally {
    timer.stop()
  }
}

/** A promise, and the function that resolves it. */
function latch(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

function activeTimers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
}

describe('reading', () => {
  test('now is the wall clock', () => {
    const before = Date.now()
    const now = systemClock.now()
    assert.ok(before <= now && now <= Date.now())
  })

  test('monotonicMs goes forward with real time', async () => {
    const before = systemClock.monotonicMs()
    await delay(5)
    assert.ok(systemClock.monotonicMs() - before >= 4)
  })
})

describe('timers', () => {
  test('fire once, not before their time', async () => {
    for (const ms of [1, 2.5, 7]) {
      const before = systemClock.monotonicMs()
      let fires = 0
      await lasting(
        () =>
          new Promise<void>((resolve) => {
            systemClock.startTimer(ms, () => {
              fires += 1
              resolve()
            })
          }),
      )
      assert.ok(systemClock.monotonicMs() - before >= ms)
      await delay(ms + 2)
      assert.equal(fires, 1)
    }
  })

  test('do not fire while a fraction of a millisecond is left', () => {
    // real time: is put under control here, to read a fraction of a millisecond less.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const reading = vi.spyOn(performance, 'now').mockReturnValue(100.4)
    onTestFinished(() => {
      reading.mockRestore()
      vi.useRealTimers()
    })
    let fired = 0
    systemClock.startTimer(10, () => (fired += 1))
    // The runtime counts in whole milliseconds, and begins before it is asked to.
    reading.mockReturnValue(110.02)
    vi.advanceTimersByTime(10)
    expect(fired).toBe(0)
    reading.mockReturnValue(110.4)
    vi.advanceTimersByTime(1)
    expect(fired).toBe(1)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('of zero and less fire soon, never synchronously', async () => {
    for (const ms of [0, -0, -1, -1e300, -Infinity]) {
      let hasFired = false
      const fired = new Promise<void>((resolve) => {
        systemClock.startTimer(ms, () => {
          hasFired = true
          resolve()
        })
      })
      assert.equal(hasFired, false)
      await lasting(() => fired)
    }
  })

  test('fire in the order of their instants', () => {
    // real time: is put under control here, or a busy machine could start the second one after the first is due.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const log: number[] = []
    for (const ms of [12, 1, 6]) systemClock.startTimer(ms, () => log.push(ms))
    vi.advanceTimersByTime(12)
    assert.deepEqual(log, [1, 6, 12])
  })

  test('beyond what the runtime holds do not fire at once, nor wake the process again and again', async () => {
    // real time: what the clock asks of the runtime is listened to here.
    const setting = vi.spyOn(globalThis, 'setTimeout')
    onTestFinished(() => setting.mockRestore())
    const timers = [2 ** 31, 1e15, Number.MAX_VALUE, Infinity].map((ms) =>
      systemClock.startTimer(ms, () => assert.fail(`${ms} ms are not over`)),
    )
    await delay(5)
    // The runtime fires a longer one after 1 ms.
    for (const [, ms] of setting.mock.calls) expect(ms).toBeLessThan(2 ** 31)
    for (const timer of timers) {
      assert.equal(timer.stop(), true)
      assert.equal(timer.stop(), false)
    }
  })

  test('stop and reset return whether it was pending', async () => {
    let fires = 0
    const fired = latch()
    const timer = systemClock.startTimer(60_000, () => {
      fires += 1
      fired.open()
    })
    assert.equal(timer.stop(), true)
    assert.equal(timer.stop(), false)
    assert.equal(timer.reset(60_000), false)
    assert.equal(timer.reset(1), true)
    await lasting(() => fired.opened)
    assert.equal(timer.stop(), false)
    assert.equal(timer.reset(60_000), false)
    assert.equal(timer.stop(), true)
    assert.equal(fires, 1)
  })

  test('keep the process alive only while ref’d', () => {
    const before = activeTimers()
    const timer = systemClock.startTimer(60_000, () => {})
    assert.equal(activeTimers(), before)
    timer.ref()
    assert.equal(activeTimers(), before + 1)
    timer.reset(50_000)
    assert.equal(activeTimers(), before + 1)
    timer.unref()
    assert.equal(activeTimers(), before)
    timer.reset(40_000)
    assert.equal(activeTimers(), before)
    timer.stop()
    timer.ref()
    assert.equal(activeTimers(), before)
    timer.reset(60_000)
    assert.equal(activeTimers(), before + 1)
    timer.stop()
    assert.equal(activeTimers(), before)
  })
})

describe('bad input', () => {
  test('is a typed error, the same as that of the fake clock', () => {
    const timer = systemClock.startTimer(60_000, () => {})
    for (const clock of [systemClock, fakeClock()]) {
      for (const bad of [Number.NaN, '5', undefined, null, 5n, new Date(5)]) {
        assert.throws(() => clock.startTimer(bad as number, () => {}), SluiceTypeError)
        assert.throws(() => clock.startTicker(bad as number, () => {}), SluiceTypeError)
        assert.throws(() => timer.reset(bad as number), SluiceTypeError)
      }
      for (const bad of [0, -0, -1, -Infinity]) {
        assert.throws(() => clock.startTicker(bad, () => {}), SluiceRangeError)
      }
    }
    assert.equal(timer.stop(), true)
  })
})

describe('tickers', () => {
  test('tick until they are stopped, also from within a tick', async () => {
    let ticks = 0
    const stopped = latch()
    const before = systemClock.monotonicMs()
    const ticker = systemClock.startTicker(3, () => {
      ticks += 1
      if (ticks < 3) return
      assert.equal(ticker.stop(), true)
      stopped.open()
    })
    await lasting(() => stopped.opened)
    assert.ok(systemClock.monotonicMs() - before >= 6)
    await delay(10)
    assert.equal(ticks, 3)
    assert.equal(ticker.stop(), false)
  })

  test('never keep the process alive', () => {
    const before = activeTimers()
    const ticker = systemClock.startTicker(60_000, () => {})
    assert.equal(activeTimers(), before)
    ticker.stop()
  })

  test('with a period beyond what the runtime holds do not tick at once', async () => {
    const ticker = systemClock.startTicker(2 ** 31, () => assert.fail('24 days are not over'))
    await delay(5)
    assert.equal(ticker.stop(), true)
  })
})
