import type { FakeClock } from '@sluice/core/testing'

/** Notes at which milliseconds it was asked; holds from the given time on. */
export function question(
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
export async function settle(clock: FakeClock, promise: Promise<void>, mostMs = 1_000) {
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

/** The error of a wait whose time is up. */
export const timeout = { code: 'ERR_TIMEOUT' }
