import { spreadOf, written } from '../stats.ts'
import { bareThen, middle } from './client-go.ts'
import type { Samples } from './measure.ts'
import type { Workload } from './workloads.ts'

/** One line of the table. */
export interface Line {
  readonly workload: string
  readonly form: string
  readonly rate: string
  readonly peak: string
  readonly ofBare: string
  readonly ofClientGo: string
  readonly goal: string
}

const headings: Line = {
  workload: 'workload',
  form: 'form',
  rate: 'M items/s',
  peak: 'peak heap',
  ofBare: 'of bare loop',
  ofClientGo: 'of client-go',
  goal: 'goal',
}

/** Turns the samples of one workload into lines: ours, and the loops it is compared with. */
export function linesOf(workload: Workload, all: Readonly<Record<string, Samples>>): Line[] {
  const medianOf = (form: string): number => spreadOf(all[form]!.rates).median
  const yardstick = all['yardstick'] === undefined ? 'bare loop' : 'yardstick'
  const speed = medianOf(yardstick) / middle(bareThen[workload.yardstick])
  const clientGoNow = middle(workload.clientGo) * speed
  return Object.entries(all).map(([form, { peakMb, rates }]) => {
    const ratio = (to: number): string => (medianOf(form) / to).toFixed(2)
    const isOurs = workload.ours[form] !== undefined
    return {
      workload: workload.title,
      form: form === 'yardstick' ? `bare loop, ${workload.yardstick}` : form,
      rate: written(spreadOf(rates)),
      peak: `${spreadOf(peakMb).median.toFixed(0)} MB`,
      ofBare: isOurs && all['bare loop'] !== undefined ? ratio(medianOf('bare loop')) : '',
      ofClientGo: isOurs ? ratio(clientGoNow) : '',
      goal: isOurs ? (workload.goals[form]?.toFixed(2) ?? '') : '',
    }
  })
}

/** The table, in Markdown. */
export function tableOf(lines: readonly Line[]): string {
  const columns = Object.keys(headings) as (keyof Line)[]
  const widths = columns.map((column) =>
    Math.max(...[headings, ...lines].map((line) => line[column].length)),
  )
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at]!)).join(' | ')} |`
  const text = (line: Line): string => row(columns.map((column) => line[column]))
  const rule = row(widths.map((width) => '-'.repeat(width)))
  return [text(headings), rule, ...lines.map(text)].join('\n')
}
