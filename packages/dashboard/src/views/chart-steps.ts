import { historyResolutions } from '@sluice/core/driver'
import type { HistoryStep, QueueHistory, WorkerRow } from 'sluice'
import type { Chart, ChartStep } from '../wire.ts'
import { chartMarks, sumOfMarks } from './chart-marks.ts'

/** When the axis of a history begins, and how many steps it has. */
export function axisOf({ now, stepMs }: QueueHistory): { from: number; count: number } {
  const count = historyResolutions.find((each) => each.stepMs === stepMs)?.steps ?? 1
  return { from: (Math.floor(now / stepMs) - count + 1) * stepMs, count }
}

/** A step as charts show it. */
function chartStep({ at, done, failed, merged, depth }: HistoryStep): ChartStep {
  const { ready, parked, capped } = depth
  return { at, done, failed, merged, ready, parked, ...(capped ? { capped } : {}) }
}

/** A history as a chart shows it: a fixed axis, steps where something was recorded, and incidents. */
export function chartOf(history: QueueHistory, workers: readonly WorkerRow[]): Chart {
  const { stepMs, steps } = history
  const { from, count } = axisOf(history)
  // The axis of an empty chart stands still, so that nothing is sent for it.
  if (steps.length === 0) return { stepMs, from: 0, count, steps: [], marks: [] }
  const marks = chartMarks(history, workers, from)
  return { stepMs, from, count, steps: steps.map(chartStep), marks }
}

/** The sum of several charts of equal steps. A step that no queue has is missing. */
export function sumOf(charts: readonly Chart[], empty: Chart): Chart {
  // Queues are read one after another, and a step may begin in between.
  const from = Math.max(empty.from, ...charts.map((chart) => chart.from))
  const sums = new Map<number, ChartStep>()
  for (const { steps } of charts) {
    for (const step of steps) {
      if (step.at < from) continue
      const sum = sums.get(step.at)
      if (sum === undefined) sums.set(step.at, step)
      else {
        sums.set(step.at, {
          at: step.at,
          done: sum.done + step.done,
          failed: sum.failed + step.failed,
          merged: sum.merged + step.merged,
          ready: sum.ready + step.ready,
          parked: sum.parked + step.parked,
          ...(sum.capped === true || step.capped === true ? { capped: true } : {}),
        })
      }
    }
  }
  const marks = sumOfMarks(charts.flatMap((chart) => chart.marks).filter(({ at }) => at >= from))
  return { ...empty, from, steps: [...sums.values()].sort((a, b) => a.at - b.at), marks }
}

/** The ready keys at each step of a chart's axis; null where nothing was recorded. */
export function depthsOf({ stepMs, from, count, steps }: Chart): (number | null)[] {
  const ready = new Map(steps.map((step) => [step.at, step.ready]))
  return Array.from({ length: count }, (_, index) => ready.get(from + index * stepMs) ?? null)
}
