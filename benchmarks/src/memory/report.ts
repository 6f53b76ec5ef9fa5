import { spreadOf, written } from '../stats.ts'
import { goVersions } from './go-queue.ts'
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
  ofOldGo: 'of Go 0.31',
  ofOldGoCpu: 'by CPU',
  goal: 'goal',
}

/** One line of the table. */
export type Line = Readonly<Record<keyof typeof headings, string>>

/** Turns the samples of one workload into lines: ours, the floor, and Go's. */
export function linesOf(workload: Workload, all: Readonly<Record<string, Samples>>): Line[] {
  const { Go: go, 'Go 0.31': oldGo } = all
  return Object.entries(all).map(([form, { count, cold, peakBytes, warm }]) => {
    const rate = ({ seconds }: Sample): number => count / seconds / 1e6
    const nsPerKey = (seconds: (sample: Sample) => number): string =>
      spreadOf(warm.map((sample) => (seconds(sample) / count) * 1e9)).median.toFixed(0)
    // Each sample is compared with Go's of the same round: a slow minute slows both.
    const ratio = (other: Samples | undefined, time: (sample: Sample) => number): string =>
      other === undefined || form in goVersions
        ? ''
        : written(spreadOf(warm.map((sample, at) => time(other.warm[at]!) / time(sample))))
    const wall = ({ seconds }: Sample): number => seconds
    const cpu = ({ cpuSeconds }: Sample): number => cpuSeconds
    const keys = count / (workload.times ?? 1)
    return {
      workload: workload.title,
      form,
      rate: written(spreadOf(warm.map(rate))),
      cold: rate(cold).toFixed(2),
      cpu: nsPerKey(cpu),
      gc: nsPerKey(({ gcSeconds }) => gcSeconds),
      bytes: workload.floor?.[form] === undefined ? (peakBytes / keys).toFixed(0) : '',
      ofGo: ratio(go, wall),
      ofGoCpu: ratio(go, cpu),
      ofOldGo: ratio(oldGo, wall),
      ofOldGoCpu: ratio(oldGo, cpu),
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
