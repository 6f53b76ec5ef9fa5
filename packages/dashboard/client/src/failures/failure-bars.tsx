import type { JSX } from 'preact'
import { grouped, many } from '../text/figures.ts'

const height = 18

/** Failed runs over the range, one bar for each step. */
export function FailureBars({
  perStep,
}: {
  readonly perStep: readonly number[]
}): JSX.Element | null {
  if (perStep.length === 0) return null
  const most = Math.max(1, ...perStep)
  const label = `${many(
    perStep.reduce((sum, failed) => sum + failed, 0),
    'failed run',
  )}, at most ${grouped(most)} in a step`
  return (
    <svg
      class="failure-bars"
      viewBox={`0 0 ${perStep.length} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      {perStep.map((failed, index) => {
        const high = (failed / most) * height
        return failed === 0 ? null : (
          <rect key={index} x={index + 0.1} width={0.8} y={height - high} height={high} />
        )
      })}
    </svg>
  )
}
