import { type Cell, type CellState, leaseMs, waitMs } from './clock-cells.ts'
import type { ClockStore } from './clock-run.ts'

/** What a machine that is busy may add to anything. */
const slackMs = 1_500

/** How late a key may be at most, in milliseconds. */
const lateMax: Readonly<Record<CellState, number>> = {
  ready: slackMs,
  delayed: slackMs,
  backoff: slackMs,
  healthy: 0,
  // Its lease ends up to a lease after the step, and is extended by one from when that is noticed.
  dead: leaseMs + slackMs,
  // Claimed again after it was put back.
  ahead: slackMs,
}

/** How early a key may be: a store that follows its wall clock ends delays by as much as it goes. */
function earlyMax(store: ClockStore, stepMs: number, state: CellState): number {
  if (state !== 'delayed' && state !== 'backoff') return Infinity
  const follows = store === 'sqlite' || store.endsWith('-server')
  return 50 + (follows ? Math.min(Math.max(0, stepMs), waitMs) : 0)
}

/** What is not as it was promised of a step; empty if all is. */
export function clockBounds(store: ClockStore, stepMs: number, cells: readonly Cell[]): string[] {
  return cells.flatMap(({ state, lateMs, doubles }) => {
    const problems: string[] = []
    if (lateMs > lateMax[state]) problems.push(`${state}: ${Math.round(lateMs)} ms late`)
    if (-lateMs > earlyMax(store, stepMs, state)) problems.push(`${state}: ${lateMs} ms early`)
    if (doubles > 0) problems.push(`${state}: ${doubles} times two at work on a key`)
    return problems
  })
}
