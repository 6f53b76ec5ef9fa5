import { onTestFinished, vi } from 'vitest'

/** Real time under control: the test does not wait for pauses, such as those between attempts. */
export interface RealTime {
  /** Lets this much real time pass, in small steps, with a turn of the event loop after each. */
  pass(ms: number): Promise<void>
  /** Resolves after so much of the time that is under control. */
  after(ms: number): Promise<void>
  /** How many timers are set. */
  timers(): number
}

/** Puts the timers of this process under control until the test has finished; and the date, if asked. */
export function fakeRealTime(options: { readonly withDate?: boolean } = {}): RealTime {
  // real time: is put under control here; setImmediate is not, so that the event loop continues.
  const timers = ['setTimeout', 'clearTimeout', 'performance'] as const // real time: see above.
  const ms = Math.ceil(performance.now())
  vi.useFakeTimers({
    toFake: options.withDate === true ? [...timers, 'Date'] : [...timers],
    now: Date.now() - ms,
  })
  // The time goes on from where it was: a timer that an earlier test of this process left, such as the pause of
  // a store that was away, is due when it fires, and is not set once more, among those of this test.
  vi.advanceTimersByTime(ms)
  onTestFinished(() => {
    vi.useRealTimers()
  })
  return {
    timers: () => vi.getTimerCount(),
    after: (ms) => new Promise((resolve) => setTimeout(resolve, ms)), // real time: the fake of it.
    pass: async (ms) => {
      for (let left = ms; left > 0; left -= 50) {
        await vi.advanceTimersByTimeAsync(Math.min(50, left))
        await new Promise((resolve) => setImmediate(resolve))
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
  }
}
