// This folder is the chart of what workers did, and of the keys that were ready.

import { useSignal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'
import type { Chart, ChartMark } from '../../../src/wire.ts'
import { clockTime, duration } from '../text/durations.ts'
import { atLeast, grouped, rate } from '../text/figures.ts'
import { Icon } from '../ui/icon.tsx'
import { type Bar, barsOf, gapsOf, linePieces, topOf } from './chart-shapes.ts'
import { markKinds, markNames, markWords } from './mark-words.ts'
import { RangeSwitch } from './range-switch.tsx'
import { StepPicture } from './step-picture.tsx'

/** How far back a chart with steps of a length goes. */
const reaches: Readonly<Record<number, string>> = {
  10000: '5 min',
  60000: '1 h',
  600000: '24 h',
}

/** A step that is this far back is not taken for the present: workers report every ten seconds. */
const youngSteps = 4

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

/** The marks of a chart below it, each at its step. */
function Marks({ chart }: { readonly chart: Chart }): JSX.Element {
  const { from, stepMs, count, marks } = chart
  return (
    <div class="chart-marks" aria-hidden="true">
      {[...new Set(marks.map(({ at }) => at))].map((at) => {
        const index = Math.round((at - from) / stepMs)
        const here = marks.filter((mark) => mark.at === at)
        return (
          <span
            key={at}
            class="chart-mark"
            style={{ left: `${((index + 0.5) / count) * 100}%` }}
            title={here.map(markWords).join('; ')}
          >
            {markNames
              .filter((name) => here.some(({ what }) => what === name))
              .map((name) => (
                <Icon key={name} name={markKinds[name].icon} class={`mark-${name}`} />
              ))}
          </span>
        )
      })}
    </div>
  )
}

/** What the marks mean that the chart has. */
function MarkLegend({ marks }: { readonly marks: readonly ChartMark[] }): JSX.Element {
  return (
    <span class="mark-legend">
      {markNames
        .filter((name) => marks.some(({ what }) => what === name))
        .map((name) => (
          <span key={name}>
            <Icon name={markKinds[name].icon} class={`mark-${name}`} /> {markKinds[name].title}
          </span>
        ))}
    </span>
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
  const { from, count, stepMs, marks } = chart
  const bars = barsOf(chart, now)
  const top = topOf(bars, ({ done, failed, merged }) => done + failed + merged)
  const readyTop = topOf(bars, ({ ready }) => ready)
  const at = pointed.value
  const barAt = (index: number | undefined) =>
    index === undefined ? bars.at(-1) : bars.find((bar) => bar.index === index)
  const noteOf = (index: number | undefined) => {
    const last = bars.at(-1)
    if (last === undefined) return ''
    if (index === undefined) {
      const back = count - 1 - last.index
      return back < youngSteps ? 'latest' : `latest, ${duration(back * stepMs)} ago`
    }
    const time = clockTime(from + index * stepMs, now).slice(-12, -4)
    const here = marks.filter((mark) => Math.round((mark.at - from) / stepMs) === index)
    const isKnown = barAt(index) !== undefined
    return [time, ...(isKnown ? [] : ['not recorded']), ...here.map(markWords)].join(', ')
  }
  return (
    <figure class="work-chart">
      <figcaption>
        <h2>{title}</h2>
        <Figures bar={barAt(at)} note={noteOf(at)} />
        <RangeSwitch />
      </figcaption>
      <div class="chart-box">
        {bars.length > 0 && (
          <>
            <span class="chart-top figures">{rate(top)}/s</span>
            <span class="chart-top-ready figures">{grouped(readyTop)}</span>
          </>
        )}
        <StepPicture
          class="chart"
          label={`${title}, last ${reaches[stepMs] ?? duration(count * stepMs)}`}
          count={count}
          wordsOf={(index) => summary(barAt(index), noteOf(index))}
          pointed={pointed}
        >
          <svg viewBox={`0 0 ${count} ${height}`} preserveAspectRatio="none" aria-hidden="true">
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
        </StepPicture>
        {bars.length === 0 && <p class="chart-none faint">{none}</p>}
      </div>
      {marks.length > 0 && <Marks chart={chart} />}
      <div class="chart-axis figures">
        <span>{reaches[stepMs] ?? duration(count * stepMs)} ago</span>
        <MarkLegend marks={marks} />
        <span>now</span>
      </div>
    </figure>
  )
}

function summary(bar: Bar | undefined, note: string): string {
  if (bar === undefined) return note === '' ? 'nothing recorded' : note
  const { done, failed, merged, ready } = bar
  return `${note}: ${rate(done)} done, ${rate(failed)} failed and ${rate(merged)} merged per second, ${grouped(ready)} ready`
}
