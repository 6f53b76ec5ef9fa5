import type { JSX } from 'preact'
import type { KeyStateWord, KeyStep } from '../../../src/wire.ts'
import { type Station, stationNow, wayId, ways, waysTaken } from './state-graph.ts'

/** The position of each node in a picture of 640 by 268. */
const spots: Readonly<Record<Station, readonly [x: number, y: number]>> = {
  add: [42, 124],
  delayed: [168, 52],
  ready: [268, 124],
  processing: [424, 124],
  dirty: [424, 34],
  backoff: [340, 216],
  parked: [524, 216],
  done: [590, 124],
}

/** The path of each transition. Rare transitions are not drawn. */
const curves: Readonly<Record<string, readonly [d: string, wordX: number, wordY: number]>> = {
  'add-ready': ['M66 124H220', 120, 117],
  'add-delayed': ['M42 108C42 70 80 52 118 52', 62, 62],
  'delayed-ready': ['M218 52C256 52 268 70 268 104', 262, 66],
  'ready-processing': ['M316 124H366', 341, 117],
  'processing-done': ['M482 124H556', 516, 117],
  'processing-dirty': ['M436 106V54', 474, 82],
  'dirty-ready': ['M376 34C312 34 282 60 276 104', 316, 38],
  'processing-backoff': ['M424 142C424 180 410 200 390 210', 438, 176],
  'backoff-ready': ['M292 216C262 212 262 180 266 144', 254, 186],
  'processing-parked': ['M460 142C490 156 510 174 518 196', 516, 166],
  'parked-ready': ['M524 236C524 262 400 262 262 262C224 262 226 180 246 144', 420, 256],
}

const widths: Readonly<Partial<Record<Station, number>>> = {
  processing: 116,
  add: 48,
  done: 64,
}

function StationView({ station, isHere }: { station: Station; isHere: boolean }): JSX.Element {
  const [x, y] = spots[station]
  const width = widths[station] ?? 96
  return (
    <g class={`station station-${station} ${isHere ? 'here' : ''}`}>
      {isHere && (
        <rect class="pulse" x={x - width / 2} y={y - 17} width={width} height="34" rx="17" />
      )}
      <rect x={x - width / 2} y={y - 17} width={width} height="34" rx="17" />
      <text x={x} y={y + 4.5}>
        {station}
      </text>
    </g>
  )
}

function described(state: KeyStateWord | 'absent', taken: ReadonlySet<string>): string {
  const way = ways
    .filter(({ from, to }) => taken.has(wayId(from, to)))
    .map(({ from, to }) => `${from} to ${to}`)
  return `The key is ${state}.${way.length === 0 ? '' : ` Transitions: ${way.join(', ')}.`}`
}

/** The state graph, with the state of this key and the transitions it was seen to make. */
export function StateMachine({
  state,
  steps,
  failures,
}: {
  readonly state: KeyStateWord | 'absent'
  readonly steps: readonly KeyStep[]
  readonly failures: number
}): JSX.Element {
  const taken = waysTaken(steps, failures)
  const here = stationNow(state, steps)
  const drawn = ways.filter(({ from, to }) => curves[wayId(from, to)] !== undefined)
  // Observed transitions are painted over the others.
  const inOrder = [
    ...drawn.filter(({ from, to }) => !taken.has(wayId(from, to))),
    ...drawn.filter(({ from, to }) => taken.has(wayId(from, to))),
  ]
  const label = described(state, taken)
  return (
    <svg class="machine" viewBox="0 0 640 272" role="img" aria-label={label}>
      <defs>
        {(['way-end', 'way-end-taken'] as const).map((id) => (
          <marker
            key={id}
            id={id}
            class={id}
            viewBox="0 0 8 8"
            refX="6.500"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            markerUnits="userSpaceOnUse"
            orient="auto"
          >
            <path d="M0 0.800 7 4 0 7.200z" />
          </marker>
        ))}
      </defs>
      {inOrder.map(({ from, to, word }) => {
        const id = wayId(from, to)
        const [d = '', x, y] = curves[id] ?? []
        const isTaken = taken.has(id)
        return (
          <g key={id} class={`way ${isTaken ? 'taken' : ''}`}>
            <path d={d} marker-end={`url(#way-end${isTaken ? '-taken' : ''})`} />
            {word !== undefined && (
              <text x={x} y={y}>
                {word}
              </text>
            )}
          </g>
        )
      })}
      {(Object.keys(spots) as Station[]).map((station) => (
        <StationView key={station} station={station} isHere={station === here} />
      ))}
    </svg>
  )
}
