import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import type { QueueView } from '../../../src/wire.ts'
import { clockTime } from '../text/durations.ts'
import { rate } from '../text/figures.ts'
import { paint } from '../ui/theme.ts'

type Series = [number[], number[], number[]]

function seriesOf({ history, at, historyEveryMs = 10_000 }: QueueView): Series {
  const last = history.length - 1
  return [
    history.map((_, index) => (at - (last - index) * historyEveryMs) / 1_000),
    history.map(([comes]) => comes),
    history.map(([, goes]) => goes),
  ]
}

/** The colours of the page, which a canvas cannot inherit. */
function colours(of: HTMLElement): (name: string) => string {
  return (name) => {
    const probe = of.querySelector(`[data-colour=${name}]`)
    return probe === null ? '#888' : getComputedStyle(probe).color
  }
}

function optionsOf(at: HTMLElement, onPoint: (index: number | null) => void): UPlot.Options {
  const colour = colours(at)
  const axis = {
    stroke: colour('label'),
    font: '11px system-ui, sans-serif',
    grid: { stroke: colour('grid'), width: 1 },
    ticks: { show: false },
  }
  return {
    width: Math.max(120, at.clientWidth),
    height: Math.max(120, at.clientHeight),
    legend: { show: false },
    padding: [8, 6, 0, 0],
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
    scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
    axes: [
      { ...axis, space: 70, size: 26, values: (_, ticks) => ticks.map(timeOfDay) },
      { ...axis, size: 44, space: 32, values: (_, ticks) => ticks.map((tick) => rate(tick)) },
    ],
    series: [
      {},
      { label: 'in', stroke: colour('in'), width: 1.75, points: { show: false } },
      {
        label: 'out',
        stroke: colour('out'),
        fill: colour('fill'),
        width: 1.25,
        points: { show: false },
      },
    ],
    hooks: { setCursor: [(plot) => onPoint(plot.cursor.idx ?? null)] },
  }
}

function timeOfDay(seconds: number): string {
  return clockTime(seconds * 1_000, seconds * 1_000).slice(0, 8)
}

/** Arrivals and departures of the queue over the last minutes. */
export function FlowChart({ view }: { readonly view: QueueView }): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot>(undefined)
  const pointed = useSignal<number | null>(null)
  const series = seriesOf(view)
  const latest = useRef(series)
  latest.current = series

  // A canvas does not follow the colours of the page: when they change, it is created again.
  useEffect(() => {
    const at = box.current
    if (at === null) return
    const made = new UPlot(
      optionsOf(at, (index) => {
        pointed.value = index
      }),
      latest.current,
      at,
    )
    plot.current = made
    const observer = new ResizeObserver(() => {
      made.setSize({
        width: Math.max(120, at.clientWidth),
        height: Math.max(120, at.clientHeight),
      })
    })
    observer.observe(at)
    return () => {
      observer.disconnect()
      made.destroy()
      plot.current = undefined
    }
  }, [paint.value])

  useEffect(() => plot.current?.setData(latest.current), [view.history, view.at])

  const at = pointed.value ?? series[0].length - 1
  const [time, comes, goes] = [series[0][at], series[1][at], series[2][at]]
  return (
    <figure class="flow-chart">
      <figcaption>
        <h2>Flow</h2>
        <span class="legend-in">
          in <b>{rate(comes)}</b>/s
        </span>
        <span class="legend-out">
          out <b>{rate(goes)}</b>/s
        </span>
        <span class="faint figures">
          {pointed.value === null || time === undefined ? 'now' : timeOfDay(time)}
        </span>
      </figcaption>
      <div ref={box} class="canvas" aria-hidden="true">
        <i data-colour="in" />
        <i data-colour="out" />
        <i data-colour="fill" />
        <i data-colour="label" />
        <i data-colour="grid" />
      </div>
      {series[0].length < 2 && (
        <p class="chart-note faint">Waiting for the second worker heartbeat (about 10 s).</p>
      )}
    </figure>
  )
}
