import type { JSX } from 'preact'
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
  readonly range: string
}): JSX.Element {
  const known = depths.filter((depth) => depth !== null)
  const most = Math.max(0, ...known)
  const box = { width, height: height - 2, top: Math.max(1, most) }
  const label =
    known.length === 0
      ? 'nothing recorded'
      : `ready keys, last ${range}: ${grouped(known.at(-1) ?? 0)} at the end, at most ${grouped(most)}`
  return (
    <svg
      class="sparkline"
      viewBox={`0 -1 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      <path class="spark-ground" d={`M0 ${height - 2}H${width}`} />
      {known.length > 1 && (
        <>
          <path class="spark-area" d={areaPath(depths, box)} />
          <path class="spark-line" d={linePath(depths, box)} />
        </>
      )}
    </svg>
  )
}
