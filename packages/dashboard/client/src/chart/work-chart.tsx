// This folder is the chart of what workers did, and of the keys that were ready.

import { useSignal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import type { Chart } from '../../../src/wire.ts'
import { clockTime, duration } from '../text/durations.ts'
import { atLeast, grouped, rate } from '../text/figures.ts'
import { type Bar, barsOf, gapsOf, linePieces, topOf } from './chart-shapes.ts'
import { RangeSwitch } from './range-switch.tsx'

/** How far back a chart with steps of a length goes. */
const reaches: Readonly<Record<number, string>> = {
  10000: '5 min',
  60000: '1 h',
  600000: '24 h',
}

/** The height of the drawing; its width is a unit for each step. */
const height = 100

function Figures({ bar, note }: { readonly bar: Bar | undefined; readonly note: string }) {
  return (
    <>
      <span class="legend legend-done">
        done <b>{rate(bar?.done)}</b>/s
      </span>
      <span class="legend legend-failed">
        failed <b>{rate(bar?.failed)}</b>/s
      </span>
      <span class="legend legend-merged">
        merged <b>{rate(bar?.merged)}</b>/s
      </span>
      <span class="legend legend-ready">
        ready <b>{bar === undefined ? '–' : atLeast(bar.ready, bar.capped)}</b>
      </span>
      <span class="faint figures chart-when">{note}</span>
    </>
  )
}

function Stack({ bar, top }: { readonly bar: Bar; readonly top: number }): JSX.Element {
  const size = (value: number) => (top <= 0 ? 0 : (value / top) * height)
  let from = height
  return (
    <g>
      {(['done', 'failed', 'merged'] as const).map((kind) => {
        const high = size(bar[kind])
        from -= high
        return (
          high > 0 && (
            <rect
              key={kind}
              class={`bar-${kind}`}
              x={bar.index + 0.08}
              width={0.84}
              y={from}
              height={high}
            />
          )
        )
      })}
    </g>
  )
}

/** Done, failed and merged per second in stacks, ready keys as a line, and gaps where it is unknown. */
export function WorkChart({
  chart,
  now,
  title,
  none,
}: {
  readonly chart: Chart
  /** When the chart was read. */
  readonly now: number
  readonly title: string
  readonly none: ComponentChildren
}): JSX.Element {
  const pointed = useSignal<number | undefined>(undefined)
  const { from, count, stepMs } = chart
  const bars = barsOf(chart, now)
  const top = topOf(bars, ({ done, failed, merged }) => done + failed + merged)
  const readyTop = topOf(bars, ({ ready }) => ready)
  const at = pointed.value
  const shown = at === undefined ? bars.at(-1) : bars.find(({ index }) => index === at)
  const note =
    bars.length === 0
      ? ''
      : at === undefined
        ? 'latest'
        : `${clockTime(from + at * stepMs, now).slice(-12, -4)}${shown === undefined ? ', not recorded' : ''}`
  const point = (event: PointerEvent & { readonly currentTarget: SVGSVGElement }) => {
    const box = event.currentTarget.getBoundingClientRect()
    const index = Math.floor(((event.clientX - box.left) / box.width) * count)
    pointed.value = Math.max(0, Math.min(count - 1, index))
  }
  return (
    <figure class="work-chart">
      <figcaption>
        <h2>{title}</h2>
        <Figures bar={shown} note={note} />
        <RangeSwitch />
      </figcaption>
      <div class="chart-box">
        {bars.length > 0 && (
          <>
            <span class="chart-top figures">{rate(top)}/s</span>
            <span class="chart-top-ready figures">{grouped(readyTop)}</span>
          </>
        )}
        <svg
          class="chart"
          viewBox={`0 0 ${count} ${height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={summary(bars)}
          onPointerMove={point}
          onPointerLeave={() => {
            pointed.value = undefined
          }}
        >
          {gapsOf(bars, count).map(([start, end]) => (
            <rect key={start} class="chart-gap" x={start} width={end - start} height={height} />
          ))}
          {(bars.length === 0 ? [] : [0, 0.5, 1]).map((share) => (
            <path key={share} class="chart-rule" d={`M0 ${share * height}H${count}`} />
          ))}
          {bars.map((bar) => (
            <Stack key={bar.index} bar={bar} top={top} />
          ))}
          {linePieces(bars, readyTop, height).map((piece, index) => (
            <path key={index} class="line-ready" d={piece} />
          ))}
          {at !== undefined && <rect class="chart-point" x={at} width={1} height={height} />}
        </svg>
        {bars.length === 0 && <p class="chart-none faint">{none}</p>}
      </div>
      <div class="chart-axis figures">
        <span>{reaches[stepMs] ?? duration(count * stepMs)} ago</span>
        <span>now</span>
      </div>
    </figure>
  )
}

function summary(bars: readonly Bar[]): string {
  const last = bars.at(-1)
  if (last === undefined) return 'nothing recorded'
  return `latest: ${rate(last.done)} done, ${rate(last.failed)} failed and ${rate(last.merged)} merged per second, ${grouped(last.ready)} ready`
}
