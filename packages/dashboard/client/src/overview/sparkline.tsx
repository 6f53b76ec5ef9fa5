import type { JSX } from 'preact'
import { rate } from '../text/figures.ts'
import { areaPath, linePath } from './line-path.ts'

const width = 120
const height = 22

/** Arrivals (a line) and departures (an area) of the last minutes. */
export function Sparkline({
  history,
}: {
  readonly history: readonly (readonly [number, number])[]
}): JSX.Element {
  const comes = history.map(([value]) => value)
  const goes = history.map(([, value]) => value)
  const top = Math.max(0.1, ...comes, ...goes)
  const box = { width, height: height - 2, top }
  const last = history.at(-1)
  const label =
    last === undefined
      ? 'no history yet'
      : `last 5 minutes: in ${rate(last[0])} per second, out ${rate(last[1])} per second, at most ${rate(top)}`
  return (
    <svg
      class="sparkline"
      viewBox={`0 -1 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <title>{label}</title>
      {history.length > 1 && (
        <>
          <path class="spark-out" d={areaPath(goes, box)} />
          <path class="spark-edge" d={linePath(goes, box)} />
          <path class="spark-in" d={linePath(comes, box)} />
        </>
      )}
    </svg>
  )
}
