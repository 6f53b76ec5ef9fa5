import type { ChartMark } from '../../../src/wire.ts'
import { grouped, many } from '../text/figures.ts'
import type { IconName } from '../ui/icon.tsx'

type What = ChartMark['what']

/** How each kind of mark looks, and what it is called, the worst first. */
export const markKinds: Readonly<
  Record<What, { readonly icon: IconName; readonly title: string }>
> = {
  expired: { icon: 'cross', title: 'lease expired' },
  parked: { icon: 'parked', title: 'parked' },
  paused: { icon: 'calm', title: 'paused' },
  resumed: { icon: 'processing', title: 'resumed' },
  started: { icon: 'plus', title: 'worker started' },
}

/** The kinds of marks, the worst first. */
export const markNames = Object.keys(markKinds) as What[]

/** A mark as a sentence. */
export function markWords({ what, count }: ChartMark): string {
  if (what === 'expired') {
    return `${many(count, 'lease')} expired: a worker vanished, hung or lost the store`
  }
  if (what === 'parked') return `${many(count, 'key')} parked`
  if (what === 'started') return `${many(count, 'worker')} started`
  return count === 1 ? markKinds[what].title : `${grouped(count)} queues ${what}`
}
