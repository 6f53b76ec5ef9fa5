import { spreadOf, written } from '../stats.ts'
import type { Sample, Samples } from './measure.ts'
import type { Workload } from './workloads.ts'

const headings = {
  workload: 'workload',
  form: 'form',
  rate: 'M keys/s',
  cold: 'first',
  cpu: 'CPU ns',
  gc: 'GC ns',
  bytes: 'bytes',
  ofGo: 'of Go',
  ofGoCpu: 'by CPU',
  goal: 'goal',
}

/** One line of the table. */
export type Line = Readonly<Record<keyof typeof headings, string>>

/** Turns the samples of one workload into lines: ours, the floor, and Go's. */
export function linesOf(workload: Workload, all: Readonly<Record<string, Samples>>): Line[] {
  const go = all['Go']
  return Object.entries(all).map(([form, { count, cold, peakBytes, warm }]) => {
    const rate = ({ seconds }: Sample): number => count / seconds / 1e6
    const nsPerKey = (seconds: (sample: Sample) => number): string =>
      spreadOf(warm.map((sample) => (seconds(sample) / count) * 1e9)).median.toFixed(0)
    // Each sample is compared with Go's of the same round: a slow minute slows both.
    const ratio = (time: (sample: Sample) => number): string =>
      go === undefined || form === 'Go'
        ? ''
        : written(spreadOf(warm.map((sample, at) => time(go.warm[at]!) / time(sample))))
    const keys = count / (workload.times ?? 1)
    return {
      workload: workload.title,
      form,
      rate: written(spreadOf(warm.map(rate))),
      cold: rate(cold).toFixed(2),
      cpu: nsPerKey(({ cpuSeconds }) => cpuSeconds),
      gc: nsPerKey(({ gcSeconds }) => gcSeconds),
      bytes: workload.floor?.[form] === undefined ? (peakBytes / keys).toFixed(0) : '',
      ofGo: ratio(({ seconds }) => seconds),
      ofGoCpu: ratio(({ cpuSeconds }) => cpuSeconds),
      goal: go === undefined ? '' : (workload.goals[form]?.toFixed(2) ?? ''),
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
