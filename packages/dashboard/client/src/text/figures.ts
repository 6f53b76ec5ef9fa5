// This folder turns figures, durations, states and texts from outside into what is shown.

import {
  atLeastWords,
  countWords,
  keyStateWords,
  manyWords,
  percentWords,
  rateWords,
} from '@sluice/core/words'
import type { QueueRow } from '../../../src/wire.ts'

type QueueCounts = QueueRow['counts']

const gap = '\u00a0'

export const grouped = countWords
export const many = manyWords
export const atLeast = atLeastWords
export const rate = rateWords

/** A count with its noun that may be a lower bound: `1 code`, `3+ codes`. */
export function manyOf(one: string, count: number, mayBeMore: boolean): string {
  return `${atLeast(count, mayBeMore)} ${count === 1 && !mayBeMore ? one : `${one}s`}`
}

/** A count of keys that may be a lower bound: `1 key`, `10,000+ keys`. */
export function manyKeys(count: number, mayBeMore: boolean): string {
  return manyOf('key', count, mayBeMore)
}

/** Whether a count is a lower bound: all states are counted to the same cap. */
export function isCapped(count: number, counts: QueueCounts): boolean {
  return counts.capped && count >= Math.max(...keyStateWords.map((state) => counts[state]))
}

/** The number of keys of a state, or a lower bound: `10,000+`. */
export function counted(count: number, counts: QueueCounts): string {
  return atLeast(count, isCapped(count, counts))
}

/** A rate with its sign: `+6.5`. */
export function signedRate(perSecond: number): string {
  return `${perSecond > 0 ? '+' : perSecond < 0 ? '−' : '±'}${rate(Math.abs(perSecond))}`
}

/** A percentage that does not break: `9.1 %`, `100 %`. */
export function percent(ratio: number | undefined): string {
  return percentWords(ratio).replaceAll(' ', gap)
}
