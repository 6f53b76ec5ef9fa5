function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`
}

/**
 * A duration for people, in at most two units: `3 ms`, `4.1 s`, `42 s`, `8 min 52 s`, `2 h 5 min`,
 * `3 d 4 h`. The one form in which the page, the command line and `explain` show durations.
 */
export function durationWords(ms: number): string {
  const size = Math.max(0, ms)
  if (size < 0.95) return size === 0 ? '0 ms' : '<1 ms'
  if (size < 999.5) return `${Math.round(size)} ms`
  if (size < 9_950) return `${(size / 1_000).toFixed(1)} s`
  const seconds = Math.round(size / 1_000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return pair(minutes, 'min', seconds % 60, 's')
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return pair(hours, 'h', minutes % 60, 'min')
  const days = Math.floor(hours / 24)
  if (days < 365) return pair(days, 'd', hours % 24, 'h')
  return `${(days / 365).toFixed(1)} years`
}

/** Since when something has been so, as far as that is known. */
export interface KnownSince {
  readonly at: number
  /** How inexact that is, in milliseconds. */
  readonly withinMs: number
  /** True if it may have begun earlier. */
  readonly orEarlier: boolean
}

/**
 * For how long something has been so, no more exactly than is known: `for 42 s`, `for 12 min`,
 * `for more than 5 min`, `for about 2 h`.
 */
export function sinceWords({ at, withinMs, orEarlier }: KnownSince, now: number): string {
  const ms = Math.max(0, now - at)
  const isCoarse = withinMs > 60_000 && ms >= 3_600_000
  const unit = ms < 60_000 ? 1_000 : isCoarse ? 3_600_000 : 60_000
  const words = durationWords(Math.floor(ms / unit) * unit).replace('.0 s', ' s')
  if (orEarlier) return `for more than ${words}`
  return `for ${withinMs >= 60_000 ? 'about ' : ''}${words}`
}
