import { bareThen, middle } from './client-go.ts'
import type { Samples } from './measure.ts'
import type { Workload } from './workloads.ts'

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b)
  const at = (sorted.length - 1) / 2
  return (sorted[Math.floor(at)]! + sorted[Math.ceil(at)]!) / 2
}

function rateText(rates: readonly number[]): string {
  const digits = median(rates) < 10 ? 2 : 1
  const [low, mid, high] = [Math.min(...rates), median(rates), Math.max(...rates)].map((rate) =>
    rate.toFixed(digits),
  )
  return `${mid} [${low}-${high}]`
}

/** One line of the table. */
export interface Line {
  readonly workload: string
  readonly form: string
  readonly rate: string
  readonly peak: string
  readonly toBare: string
  readonly toClientGo: string
  readonly goal: string
}

/** Turns the samples of one workload into lines, ours and then the loops it is compared with. */
export function linesOf(workload: Workload, all: Readonly<Record<string, Samples>>): Line[] {
  const yardstick = all['yardstick'] ?? all['bare']!
  const speed = median(yardstick.rates) / middle(bareThen[workload.yardstick])
  const clientGoNow = middle(workload.clientGo) * speed
  const bare = all['bare']
  return Object.entries(all).map(([form, { peakMb, rates }]) => {
    const isOurs = workload.ours[form] !== undefined
    const goal = workload.goals[form]
    return {
      workload: workload.title,
      form,
      rate: rateText(rates),
      peak: `${median(peakMb).toFixed(0)} MB`,
      toBare: bare === undefined ? '' : (median(rates) / median(bare.rates)).toFixed(2),
      toClientGo: isOurs ? (median(rates) / clientGoNow).toFixed(2) : '',
      goal: goal === undefined ? '' : goal.toFixed(2),
    }
  })
}

const headings: Line = {
  workload: 'workload',
  form: 'form',
  rate: 'M items/s, median [min-max]',
  peak: 'peak heap',
  toBare: 'to bare loop',
  toClientGo: 'to client-go',
  goal: 'goal',
}

/** The table, in Markdown. */
export function tableOf(lines: readonly Line[]): string {
  const columns = Object.keys(headings) as (keyof Line)[]
  const widths = columns.map((column) =>
    Math.max(...[headings, ...lines].map((line) => line[column].length)),
  )
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`
  const rule = row(widths.map((width) => '-'.repeat(width)))
  const text = (line: Line): string => row(columns.map((column) => line[column]))
  return [text(headings), rule, ...lines.map(text)].join('\n')
}
