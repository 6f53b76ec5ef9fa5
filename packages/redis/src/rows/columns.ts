import type { EpochMs } from '@sluice/core/driver'
import type { Reply } from '../connection/connections.ts'

/** A number of a reply: an integer, or text with `inf` for one that stands for none. */
export function number(reply: Reply | undefined): number {
  if (typeof reply === 'number') return reply
  if (reply === 'inf') return Infinity
  if (reply === '-inf') return -Infinity
  return Number(reply)
}

/** A text of a reply in which `''` stands for none. */
export function text(reply: Reply | undefined): string | undefined {
  return typeof reply === 'string' && reply !== '' ? reply : undefined
}

/** The numbers of a text, separated by spaces. */
export function numbers(reply: Reply | undefined): number[] {
  return String(reply).split(' ').map(number)
}

/**
 * The numbers of a text of which at most `count` words are numbers, and the trace contexts that follow
 * them.
 */
export function numbersAndTrace(
  reply: Reply | undefined,
  count: number,
): readonly [number[], string | undefined] {
  const words = String(reply).split(' ')
  const trace = words.length > count ? words.slice(count).join(' ') : undefined
  return [words.slice(0, count).map(number), trace]
}

/** An instant, or another number that may be infinite, as an argument. */
export function instant(value: EpochMs): string {
  if (value === Infinity) return 'inf'
  return value === -Infinity ? '-inf' : String(value)
}
