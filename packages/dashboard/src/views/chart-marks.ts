import { historyDepthCap } from '@sluice/core/driver'
import type { HistoryStep, QueueHistory, WorkerRow } from 'sluice'
import type { ChartMark } from '../wire.ts'

type Marked = readonly [what: ChartMark['what'], count: number]

/** The counts between the last record before a step and its own. */
function marksOfStep(step: HistoryStep, before: HistoryStep | undefined): readonly Marked[] {
  const { depth, expired } = step
  if (before === undefined) return [['expired', expired]]
  const isCounted = depth.parked < historyDepthCap
  return [
    ['expired', expired],
    ['parked', isCounted ? depth.parked - before.depth.parked : 0],
    ['paused', depth.paused && !before.depth.paused ? 1 : 0],
    ['resumed', before.depth.paused && !depth.paused ? 1 : 0],
  ]
}

/**
 * The incidents in the history of a queue: what changed from one record to the next, and the starts of
 * the workers that are still on its list. What happened and was undone between two records is unknown.
 */
export function chartMarks(
  { now, stepMs, steps }: QueueHistory,
  workers: readonly WorkerRow[],
  from: number,
): ChartMark[] {
  const marks = steps.flatMap((step, index) =>
    marksOfStep(step, steps[index - 1]).map(([what, count]) => ({ at: step.at, what, count })),
  )
  for (const { startedAt, concurrency } of workers) {
    const at = Math.floor(startedAt / stepMs) * stepMs
    if (concurrency > 0 && at >= from && at <= now) marks.push({ at, what: 'started', count: 1 })
  }
  return sumOfMarks(marks)
}

/** Marks of the same kind in the same step as one, oldest first. */
export function sumOfMarks(marks: readonly ChartMark[]): ChartMark[] {
  const sums = new Map<string, ChartMark>()
  for (const { at, what, count } of marks) {
    if (count <= 0) continue
    const id = `${at} ${what}`
    sums.set(id, { at, what, count: (sums.get(id)?.count ?? 0) + count })
  }
  return [...sums.values()].sort((a, b) => a.at - b.at)
}
