import type { JSX } from 'preact'
import type { Histogram, Quantiles } from '../../../src/wire.ts'
import { StepPicture } from '../chart/step-picture.tsx'
import { duration, quantileWords } from '../text/durations.ts'
import { many } from '../text/figures.ts'

/** The bins that are not empty, and the width of the picture in bins. */
interface Strip {
  readonly bins: readonly { readonly until: number | undefined; readonly count: number }[]
  readonly total: number
  readonly top: number
}

const binsMin = 8

function stripOf({ boundsMs, counts }: Histogram): Strip {
  const bins = counts.map((count, index) => ({ until: boundsMs[index], count }))
  const first = bins.findIndex(({ count }) => count > 0)
  const last = bins.findLastIndex(({ count }) => count > 0)
  const total = counts.reduce((sum, count) => sum + count, 0)
  const missing = Math.max(0, binsMin - (last - first + 1))
  const from = Math.max(0, Math.min(first, first - Math.floor(missing / 2)))
  const until = Math.min(bins.length, Math.max(last + 1, from + binsMin))
  return { bins: bins.slice(from, until), total, top: Math.max(1, ...counts) }
}

/** The position of a duration in the strip, 0 to 1. Bins have equal widths: the scale is logarithmic. */
function position(ms: number, { bins }: Strip): number | undefined {
  for (const [index, { until }] of bins.entries()) {
    if (until !== undefined && ms > until) continue
    const from = bins[index - 1]?.until ?? (until ?? ms) / 2
    const share =
      until === undefined ? 0.5 : Math.log2(Math.max(ms, from) / from) / Math.log2(until / from)
    return (index + Math.min(1, Math.max(0, Number.isFinite(share) ? share : 0.5))) / bins.length
  }
  return undefined
}

const quantileNames = ['p50', 'p95', 'p99'] as const

const height = 44

/** A histogram of durations; each bar covers twice the duration of the one before. */
export function HistogramStrip({
  title,
  histogram,
  quantiles,
}: {
  readonly title: string
  readonly histogram: Histogram | undefined
  readonly quantiles: Quantiles | undefined
}): JSX.Element {
  const strip = histogram === undefined ? undefined : stripOf(histogram)
  return (
    <div class="strip">
      <div class="strip-head">
        <h2>{title}</h2>
        {quantiles === undefined ? (
          <span class="faint">nothing seen yet</span>
        ) : (
          <dl class="quantiles">
            {quantileNames.map((name) => (
              <div key={name} class={name}>
                <dt>{name}</dt>
                <dd>{quantileWords(quantiles[name])}</dd>
              </div>
            ))}
          </dl>
        )}
      </div>
      {strip !== undefined && strip.total > 0 && (
        <Bars title={title} strip={strip} quantiles={quantiles} />
      )}
    </div>
  )
}

/** The bound of a bar: `≤ 4 ms`. */
function boundWords(until: number | undefined): string {
  if (until === undefined) return 'more'
  return until < 0.95 ? duration(until) : `≤ ${duration(until)}`
}

function Bars({
  title,
  strip,
  quantiles,
}: {
  readonly title: string
  readonly strip: Strip
  readonly quantiles: Quantiles | undefined
}): JSX.Element {
  const { bins, top, total } = strip
  const width = bins.length * 10
  const label = `${title} of ${many(total, 'run')}, by powers of two`
  const words = (at: number | undefined) => {
    const bin = at === undefined ? undefined : bins[at]
    if (bin !== undefined) {
      const bound = bin.until === undefined ? 'longer' : `up to ${duration(bin.until)}`
      return `${bound}: ${many(bin.count, 'run')}`
    }
    if (quantiles === undefined) return many(total, 'run')
    return quantileNames.map((name) => `${name}: ${quantileWords(quantiles[name])}`).join(', ')
  }
  const ends = [bins[0]?.until, bins[Math.floor(bins.length / 2)]?.until, bins.at(-1)?.until]
  return (
    <>
      <StepPicture class="strip-bars" label={label} count={bins.length} wordsOf={words}>
        <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
          {bins.map(({ until, count }, index) => {
            const tall = count === 0 ? 0 : Math.max(1.5, (count / top) * (height - 2))
            return (
              <rect
                key={until ?? 'more'}
                x={index * 10 + 0.6}
                y={height - tall}
                width="8.800"
                height={tall}
              />
            )
          })}
          {quantiles !== undefined &&
            quantileNames.map((name) => {
              const at = position(quantiles[name], strip)
              return (
                at !== undefined && (
                  <line
                    key={name}
                    class={name}
                    x1={at * width}
                    x2={at * width}
                    y1="0"
                    y2={height}
                  />
                )
              )
            })}
        </svg>
      </StepPicture>
      <div class="strip-axis" aria-hidden="true">
        {ends.map((end, index) => (
          <span key={index}>{boundWords(end)}</span>
        ))}
      </div>
    </>
  )
}
