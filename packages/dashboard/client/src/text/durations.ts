const gap = '\u00a0'

const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')

/** A duration with two significant figures: `3 ms`, `4.1 s`, `1 m 12 s`, `2 d 04 h`. */
export function duration(ms: number): string {
  const size = Math.max(0, ms)
  if (size < 0.95) return size === 0 ? `0${gap}ms` : `<1${gap}ms`
  if (size < 999.5) return `${Math.round(size)}${gap}ms`
  const seconds = size / 1_000
  if (seconds < 9.95) return `${seconds.toFixed(1)}${gap}s`
  if (seconds < 59.5) return `${Math.round(seconds)}${gap}s`
  return longDuration(Math.round(seconds))
}

function longDuration(seconds: number): string {
  const minutes = seconds / 60
  if (minutes < 60) return `${Math.floor(minutes)}${gap}m${gap}${two(seconds % 60)}${gap}s`
  const hours = minutes / 60
  if (hours < 24) return `${Math.floor(hours)}${gap}h${gap}${two(minutes % 60)}${gap}m`
  const days = hours / 24
  if (days < 365) return `${Math.floor(days)}${gap}d${gap}${two(hours % 24)}${gap}h`
  return `${(days / 365).toFixed(1)}${gap}years`
}

/** A countdown, which shows tenths at the end: `38 s`, `0.4 s`. */
export function countdown(ms: number): string {
  if (ms <= 0) return 'now'
  if (ms < 9_950) return `${(Math.ceil(ms / 100) / 10).toFixed(1)}${gap}s`
  if (ms <= 59_000) return `${Math.ceil(ms / 1_000)}${gap}s`
  return longDuration(Math.ceil(ms / 1_000))
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
