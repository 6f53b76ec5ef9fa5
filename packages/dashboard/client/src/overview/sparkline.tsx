import type { JSX } from 'preact'
import type { HistoryRange } from '../../../src/wire.ts'
import { StepPicture } from '../chart/step-picture.tsx'
import { rangeWords, stepWords } from '../text/durations.ts'
import { grouped } from '../text/figures.ts'
import { areaPath, linePath } from './line-path.ts'

const width = 120
const height = 22

/** The ready keys over a range of time, with gaps where nothing was recorded. */
export function Sparkline({
  depths,
  range,
}: {
  readonly depths: readonly (number | null)[]
  readonly range: HistoryRange
}): JSX.Element {
  const known = depths.filter((depth) => depth !== null)
  const most = Math.max(0, ...known)
  const box = { width, height: height - 2, top: Math.max(1, most) }
  const words = (at: number | undefined) => {
    if (at === undefined) {
      return known.length === 0
        ? 'nothing recorded'
        : `${grouped(known.at(-1) ?? 0)} at the end, at most ${grouped(most)}`
    }
    const depth = depths[at] ?? null
    const value = depth === null ? 'not recorded' : `${grouped(depth)} ready`
    return `${value}, ${stepWords(depths.length - 1 - at, range)}`
  }
  const x = (at: number) => (at * width) / Math.max(1, depths.length - 1)
  return (
    <StepPicture
      class="sparkline-box"
      label={`Ready keys, last ${rangeWords[range]}`}
      count={Math.max(1, depths.length)}
      wordsOf={words}
    >
      {(at) => (
        <svg
          class="sparkline"
          viewBox={`0 -1 ${width} ${height}`}
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          <path class="spark-ground" d={`M0 ${height - 2}H${width}`} />
          {known.length > 1 && (
            <>
              <path class="spark-area" d={areaPath(depths, box)} />
              <path class="spark-line" d={linePath(depths, box)} />
            </>
          )}
          {at !== undefined && <path class="spark-at" d={`M${x(at)} 0V${height - 2}`} />}
        </svg>
      )}
    </StepPicture>
  )
}
