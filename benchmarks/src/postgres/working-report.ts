import { spreadOf, written } from '../stats.ts'
import type { Samples } from './turns.ts'

/** Prints one table for each concurrency and duration: all settings, and ours of the best rival. */
export function reportWorking(samples: Samples): void {
  const groups = new Map<string, [side: string, perMs: readonly number[]][]>()
  for (const [name, { perMs = [] }] of Object.entries(samples)) {
    const [group = '', side = ''] = name.split(' | ')
    groups.set(group, [...(groups.get(group) ?? []), [side, perMs]])
  }
  const middle = (all: readonly number[]): number => spreadOf(all).median
  for (const [group, sides] of groups) {
    console.log(`\n${group}\n`)
    console.log('| side | thousand handlers started a second |')
    console.log('| --- | --- |')
    for (const [side, perMs] of sides) console.log(`| ${side} | ${written(spreadOf(perMs), 2)} |`)
    const of = (start: string): number =>
      Math.max(0, ...sides.filter(([side]) => side.startsWith(start)).map(([, all]) => middle(all)))
    const ours = of('sluice')
    for (const rival of ['graphile-worker', 'pg-boss', 'bare loop', 'raw statements']) {
      const theirs = of(rival)
      if (theirs > 0) console.log(`\nof ${rival} at its best: ${(ours / theirs).toFixed(2)}`)
    }
  }
}
