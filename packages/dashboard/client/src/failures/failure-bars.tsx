import type { JSX } from 'preact'
import type { HistoryRange } from '../../../src/wire.ts'
import { StepPicture } from '../chart/step-picture.tsx'
import { rangeWords, stepWords } from '../text/durations.ts'
import { grouped, many } from '../text/figures.ts'

const height = 18

/** Failed runs over the range, one bar for each step. */
export function FailureBars({
  perStep,
  range,
}: {
  readonly perStep: readonly number[]
  readonly range: HistoryRange
}): JSX.Element | null {
  if (perStep.length === 0) return null
  const most = Math.max(1, ...perStep)
  const all = perStep.reduce((sum, failed) => sum + failed, 0)
  const words = (at: number | undefined) =>
    at === undefined
      ? `${many(all, 'failed run')}, at most ${grouped(most)} in a step`
      : `${many(perStep[at] ?? 0, 'failed run')}, ${stepWords(perStep.length - 1 - at, range)}`
  return (
    <StepPicture
      class="failure-bars"
      label={`Failed runs, last ${rangeWords[range]}`}
      count={perStep.length}
      wordsOf={words}
    >
      {(at) => (
        <svg
          viewBox={`0 0 ${perStep.length} ${height}`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          {at !== undefined && <rect class="chart-point" x={at} width={1} height={height} />}
          {perStep.map((failed, index) => {
            const high = (failed / most) * height
            return failed === 0 ? null : (
              <rect key={index} x={index + 0.1} width={0.8} y={height - high} height={high} />
            )
          })}
        </svg>
      )}
    </StepPicture>
  )
}
