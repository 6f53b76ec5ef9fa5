import type { Failing, Simulation } from './simulate.ts'

const width = 800
const left = 64
const right = 16
const plotWidth = width - left - right
const plotHeight = 120
const panelHeight = 196
const top = 76
const spanMs = 1_800_000
const shortestMs = 1
const longestMs = 2_000_000
const cellPx = 4

const ink = '#1f2937'
const faint = '#6b7280'
const line = '#d1d5db'
const dots = '#1d4ed8'

/** What the picture says besides the delays. */
export interface Scene {
  readonly keyCount: number
  readonly outageMs: number
}

function x(ms: number): number {
  return left + (ms / spanMs) * plotWidth
}

/** Delays are drawn by their order of magnitude: each doubling is the same step up. */
function heightOf(ms: number): number {
  const share = Math.log(Math.max(ms, shortestMs) / shortestMs) / Math.log(longestMs / shortestMs)
  return plotHeight * Math.min(1, share)
}

function text(at: readonly [number, number], content: string, style: string): string {
  const safe = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<text x="${at[0]}" y="${at[1]}" ${style}>${safe}</text>`
}

/** Counts failures by cell; many of them fall on one spot. */
function cellsOf(failures: readonly Failing[]): Map<string, number> {
  const cells = new Map<string, number>()
  for (const { atMs, delayMs } of failures) {
    const column = Math.floor((x(atMs) - left) / cellPx)
    const row = Math.floor((plotHeight - heightOf(delayMs)) / cellPx)
    const cell = `${column} ${row}`
    cells.set(cell, (cells.get(cell) ?? 0) + 1)
  }
  return cells
}

/** One path for each strength, so that ten thousand dots stay a small file. */
function dotsOf({ failures }: Simulation, bottom: number): string[] {
  const byStrength = new Map<number, string[]>()
  for (const [cell, count] of cellsOf(failures)) {
    const [column = 0, row = 0] = cell.split(' ').map(Number)
    const strength = Math.min(4, 1 + Math.floor(Math.log10(count)))
    const corner = `M${left + column * cellPx} ${bottom - plotHeight + row * cellPx}`
    const squares = byStrength.get(strength) ?? []
    squares.push(`${corner}h${cellPx}v${cellPx}h-${cellPx}z`)
    byStrength.set(strength, squares)
  }
  return [...byStrength]
    .sort(([a], [b]) => a - b)
    .map(([strength, squares]) => {
      return `<path fill="${dots}" fill-opacity="${strength / 4}" d="${squares.join('')}"/>`
    })
}

function minutes(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

function panel(simulation: Simulation, index: number, { outageMs }: Scene): string[] {
  const bottom = top + index * panelHeight + 44 + plotHeight
  const { failures, busiestSecond, lastBackMs } = simulation
  const summary = [
    `${failures.length.toLocaleString('en-US')} failed runs`,
    `after the first second at most ${busiestSecond.toLocaleString('en-US')} runs a second`,
    `all back ${minutes(lastBackMs - outageMs)} after the end`,
  ].join('; ')
  const drawn = [
    text(
      [left, bottom - plotHeight - 26],
      simulation.title,
      `font-family="ui-monospace, monospace" font-size="13" fill="${ink}"`,
    ),
    text([left, bottom - plotHeight - 10], summary, `font-size="12" fill="${faint}"`),
    `<rect x="${left}" y="${bottom - plotHeight}" width="${x(outageMs) - left}" height="${plotHeight}" fill="#f3f4f6"/>`,
  ]
  for (const [ms, label] of [
    [10, '10 ms'],
    [1_000, '1 s'],
    [60_000, '1 min'],
    [1_000_000, '1,000 s'],
  ] as const) {
    const y = (bottom - heightOf(ms)).toFixed(1)
    drawn.push(
      `<path d="M${left} ${y}H${width - right}" stroke="${line}" stroke-width="0.5"/>`,
      text([left - 8, Number(y) + 4], label, `font-size="11" text-anchor="end" fill="${faint}"`),
    )
  }
  drawn.push(...dotsOf(simulation, bottom))
  const back = x(lastBackMs).toFixed(1)
  drawn.push(
    `<path d="M${left} ${bottom}H${width - right}" stroke="${faint}"/>`,
    `<path d="M${back} ${bottom - plotHeight}V${bottom}" stroke="${ink}" stroke-dasharray="3 3"/>`,
  )
  for (let minute = 0; minute <= 30; minute += 5) {
    const label = minute === 30 ? '30 min' : String(minute)
    drawn.push(
      text(
        [Number(x(minute * 60_000).toFixed(1)), bottom + 16],
        label,
        `font-size="11" text-anchor="${minute === 30 ? 'end' : 'middle'}" fill="${faint}"`,
      ),
    )
  }
  return drawn
}

/** One panel for each limiter: the delay it gave, over the time at which a key failed. */
export function draw(simulations: readonly Simulation[], scene: Scene): string {
  const height = top + simulations.length * panelHeight + 8
  const title = `${scene.keyCount.toLocaleString('en-US')} keys that fail together`
  const explanation =
    'The delay after each failure, over the time of the failure. Grey: everything fails. ' +
    'Dashed: the last key is back.'
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" role="img">`,
    `<title>${title}</title>`,
    `<desc>${explanation}</desc>`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text([left, 32], title, `font-size="18" fill="${ink}"`),
    text([left, 54], explanation, `font-size="13" fill="${faint}"`),
    ...simulations.flatMap((simulation, index) => panel(simulation, index, scene)),
    '</svg>',
  ].join('\n')}\n`
}
