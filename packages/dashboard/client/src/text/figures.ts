import type { QueueRow } from '../../../src/wire.ts'
import { keyStates } from './state-words.ts'

type QueueCounts = QueueRow['counts']

const narrow = '\u202f'

/** A whole number with grouped thousands: `12 041`. */
export function grouped(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, narrow)
}

/**
 * The number of keys of a state, or a lower bound: `10 000+`. A store stops counting every state at
 * the same cap, so only the greatest of its counts can be capped.
 */
export function counted(count: number, counts: QueueCounts): string {
  if (!counts.capped) return grouped(count)
  const greatest = Math.max(...keyStates.map((state) => counts[state]))
  return atLeast(count, count >= greatest)
}

/** A number that may be a lower bound: `10 000+`. */
export function atLeast(count: number, mayBeMore: boolean): string {
  return mayBeMore ? `${grouped(count)}+` : grouped(count)
}

/** A rate per second with significant digits: `0.02`, `2.1`, `38`, `1.2k`. */
export function rate(perSecond: number | undefined): string {
  if (perSecond === undefined) return '–'
  const size = Math.abs(perSecond)
  if (size === 0) return '0'
  if (size < 0.005) return '<0.01'
  if (size < 0.095) return perSecond.toFixed(2)
  if (size < 99.95) return perSecond.toFixed(1)
  if (size < 9_999.5) return grouped(perSecond)
  return `${(perSecond / 1_000).toFixed(size < 99_950 ? 1 : 0)}k`
}

/** A rate with its sign: `+6.5`. */
export function signedRate(perSecond: number): string {
  return `${perSecond > 0 ? '+' : perSecond < 0 ? '−' : '±'}${rate(Math.abs(perSecond))}`
}

/** A percentage: `9.1 %`, `100 %`. */
export function percent(ratio: number | undefined): string {
  if (ratio === undefined) return '–'
  const value = ratio * 100
  const text =
    value === 0 || value >= 99.95 ? value.toFixed(0) : value.toFixed(value < 9.95 ? 1 : 0)
  return `${text}${narrow}%`
}

/** A count with its noun: `1 key`, `2 041 keys`. */
export function many(count: number, one: string, more: string = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : more}`
}
