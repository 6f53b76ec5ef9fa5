import { durationBoundsMs } from '@sluice/core'
import { durationWords } from '@sluice/core/words'

/** How a range is called in a heading. */
export const rangeWords = { '5m': '5 min', '1h': '1 h', '24h': '24 h' } as const

/** How long the steps of a range are. */
const stepsMs = { '5m': 10_000, '1h': 60_000, '24h': 600_000 } as const

/** When a step of a range was, so many steps before the present one: `now`, `20 s ago`. */
export function stepWords(back: number, range: keyof typeof stepsMs): string {
  return back === 0 ? 'now' : `${duration(back * stepsMs[range])} ago`
}

const gap = '\u00a0'

const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')

/** A duration that does not break: `3 ms`, `4.1 s`, `1 min 12 s`, `2 d 4 h`. */
export function duration(ms: number): string {
  return durationWords(ms).replaceAll(' ', gap)
}

/** A quantile of durations; those beyond the last bound are only known to be longer. */
export function quantileWords(ms: number): string {
  const longest = durationBoundsMs.at(-1) ?? 0
  return ms > longest ? `>${duration(longest)}` : duration(ms)
}

/** An age in whole seconds: running tenths would distract, and lay out a long page with each of them. */
export function age(ms: number): string {
  return ms < 1_000 ? `<1${gap}s` : duration(Math.floor(ms / 1_000) * 1_000).replace('.0', '')
}

/** A countdown, which shows tenths at the end: `38 s`, `0.4 s`. */
export function countdown(ms: number): string {
  if (ms <= 0) return 'now'
  if (ms < 9_950) return `${(Math.ceil(ms / 100) / 10).toFixed(1)}${gap}s`
  return duration(Math.ceil(ms / 1_000) * 1_000)
}

/** A time of day: `12:44:41.120`, with the date unless it is today. */
export function clockTime(at: number, now: number): string {
  const date = new Date(at)
  const ms = String(date.getMilliseconds()).padStart(3, '0')
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${ms}`
  if (date.toDateString() === new Date(now).toDateString()) return time
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`
}

/** An instant in ISO 8601; the number if it is outside of the calendar. */
export function isoTime(at: number): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? String(at) : date.toISOString()
}
