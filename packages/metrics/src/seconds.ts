/**
 * Milliseconds in seconds, by whole nanoseconds as the originals have them, so that 25 µs are
 * 2.5e-05 and nothing else. What lies in the past, as after a clock was set back, is 0.
 */
export function secondsOf(ms: number): number {
  return Math.max(0, Math.round(ms * 1e6) / 1e9)
}
