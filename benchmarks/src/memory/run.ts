import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Samples } from './measure.ts'
import { type Line, linesOf, tableOf } from './report.ts'
import { workloads } from './workloads.ts'

/** What to measure, and how thoroughly. */
export interface MemoryBenchOptions {
  readonly only: readonly string[]
  readonly keys: number
  readonly rounds: number
  /** `cpu`: the time this thread computed, for machines that others use too. */
  readonly time: 'wall' | 'cpu'
}

const program = new URL('./measure.ts', import.meta.url).pathname

/** Measures the workloads in memory, each in a process of its own, and prints the table. */
export async function runMemory({ only, keys, rounds, time }: MemoryBenchOptions): Promise<void> {
  const lines: Line[] = []
  for (const [name, workload] of Object.entries(workloads)) {
    if (only.length > 0 && !only.includes(name)) continue
    const command = ['--expose-gc', '--conditions=sluice-source', program, name]
    const args = [...command, String(keys), String(rounds), time]
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 24 })
    lines.push(...linesOf(workload, JSON.parse(stdout) as Record<string, Samples>))
    console.error(`measured: ${workload.title}`)
  }
  console.log(`Node ${process.version}, ${keys} keys, ${rounds} rounds, ${time} time\n`)
  console.log(tableOf(lines))
}
