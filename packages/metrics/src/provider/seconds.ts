/**
 * Milliseconds as seconds, in whole nanoseconds as in the originals, so that 25 µs are exactly
 * 2.5e-05. A negative duration, as after a clock was set back, is 0.
 */
export function secondsOf(ms: number): number {
  return Math.max(0, Math.round(ms * 1e6) / 1e9)
}
