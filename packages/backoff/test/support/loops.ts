import type { FakeClock } from '@sluice/core/testing'

/** Takes time on a fake clock. */
export function work(clock: FakeClock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.startTimer(ms, resolve)
  })
}

/** Notes when it ran, counted from the beginning, in seconds; each run takes as long as told. */
export function diary(clock: FakeClock, runsTakeMs: (run: number) => number = () => 0) {
  const startMs = clock.now()
  const starts: number[] = []
  const fn = async () => {
    starts.push((clock.now() - startMs) / 1_000)
    const ms = runsTakeMs(starts.length)
    if (ms > 0) await work(clock, ms)
  }
  return { starts, fn }
}

/** Steps a clock second by second. */
export async function stepSeconds(clock: FakeClock, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) await clock.step(1_000)
}

/** A signal, and what aborts it. */
export function controlled() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: (reason?: unknown) => controller.abort(reason) }
}

/** A function that fails. */
export function fail(): never {
  throw new Error('broken')
}
