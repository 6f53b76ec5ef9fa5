import type { Chart } from '../../../src/wire.ts'

/** One step of a chart as it is drawn: rates per second. */
export interface Bar {
  /** Its place on the axis, from 0. */
  readonly index: number
  readonly done: number
  readonly failed: number
  readonly merged: number
  readonly ready: number
  readonly capped: boolean
}

/** A step is drawn once it is this old: before, most workers have not reported for it. */
const youngMs = 20_000

/** The steps that are known, as bars. The current one is left out while little of it is known. */
export function barsOf({ from, stepMs, steps }: Chart, now: number): Bar[] {
  return steps.flatMap((step) => {
    const elapsed = Math.min(stepMs, now - step.at)
    if (elapsed < Math.min(stepMs, youngMs)) return []
    const perSecond = (count: number) => count / (elapsed / 1_000)
    return {
      index: Math.round((step.at - from) / stepMs),
      done: perSecond(step.done),
      failed: perSecond(step.failed),
      merged: perSecond(step.merged),
      ready: step.ready,
      capped: step.capped === true,
    }
  })
}

/** The greatest value, as a round number above it; 0 if all are 0. */
export function topOf(bars: readonly Bar[], of: (bar: Bar) => number): number {
  const most = Math.max(0, ...bars.map(of))
  if (most === 0) return 0
  const unit = 10 ** Math.floor(Math.log10(most))
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((n) => n * unit).find((n) => n >= most) ?? most
}

/** The parts of the axis without a bar, from and to an index. The step that is not over is none. */
export function gapsOf(bars: readonly Bar[], count: number): [number, number][] {
  const gaps: [number, number][] = []
  let from = 0
  for (const index of [...bars.map((bar) => bar.index), count]) {
    const end = index === count ? count - 1 : index
    if (end > from) gaps.push([from, end])
    from = index + 1
  }
  return gaps
}

/** The line of ready keys, interrupted where nothing is known. */
export function linePieces(bars: readonly Bar[], top: number, height: number): string[] {
  const pieces: string[] = []
  let last = -2
  for (const { index, ready } of bars) {
    const y = Math.round((1 - (top === 0 ? 0 : ready / top)) * height * 10) / 10
    const x = index + 0.5
    if (index === last + 1) pieces.push(`${pieces.pop() ?? ''}L${x} ${y}`)
    else pieces.push(`M${index} ${y}L${x} ${y}`)
    last = index
  }
  return pieces
}
