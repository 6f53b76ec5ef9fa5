import { usageError } from './command-error.ts'

const msOf: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

const whole = /^(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+$/
const part = /(\d+(?:\.\d+)?)(ms|[smhdw])/g

/** Parses `5s`, `1m30s`, `2h` or `250ms` to milliseconds; numbers without a unit if `bare` is `ms`. */
export function parseDuration(name: string, text: string, bare: 'ms' | 'none' = 'none'): number {
  if (bare === 'ms' && /^\d+(?:\.\d+)?$/.test(text)) return Number(text)
  if (!whole.test(text)) {
    const also = bare === 'ms' ? ', or milliseconds' : ''
    throw usageError(
      `${name} must be a duration such as 500ms, 5s, 1m30s or 2h${also}; got '${text}'`,
    )
  }
  let ms = 0
  for (const [, number, unit] of text.matchAll(part)) ms += Number(number) * msOf[unit ?? '']!
  return ms
}

/** An age in at most two units, the second only where the first is coarse. */
export function formatAge(ms: number): string {
  const seconds = Math.floor(Math.max(0, ms) / 1_000)
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.floor(minutes / 60)
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.floor(hours / 24)
  if (days < 8) return pair(days, 'd', hours % 24, 'h')
  if (days < 730) return `${days}d`
  const years = Math.floor(days / 365)
  return years < 8 ? pair(years, 'y', days % 365, 'd') : `${years}y`
}

function pair(first: number, unit: string, second: number, smaller: string): string {
  return second === 0 ? `${first}${unit}` : `${first}${unit}${second}${smaller}`
}

/** A duration: milliseconds below a second, otherwise as an age. */
export function formatSpan(ms: number): string {
  if (ms < 1) return '<1ms'
  if (ms < 1_000) return `${Math.round(ms)}ms`
  return ms < 10_000 ? `${(ms / 1_000).toFixed(1)}s` : formatAge(ms)
}
