// The queue in memory against the bare loop, and through it against client-go; see ../../README.md.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import type { Samples } from './measure.ts'
import { type Line, linesOf, tableOf } from './report.ts'
import { workloads } from './workloads.ts'

const { env } = process
const keys = env['SLUICE_BENCH_KEYS'] ?? '1000000'
const rounds = env['SLUICE_BENCH_ROUNDS'] ?? '7'
const time = env['SLUICE_BENCH_TIME'] ?? 'wall'
const only = env['SLUICE_BENCH_ONLY']?.split(',')

const program = join(import.meta.dirname, 'measure.ts')
const lines: Line[] = []
for (const [name, workload] of Object.entries(workloads)) {
  if (only !== undefined && !only.includes(name)) continue
  process.stderr.write(`measuring: ${workload.title}${' '.repeat(40)}\r`)
  const flags = ['--expose-gc', '--conditions=sluice-source', '--no-warnings']
  const command = [...flags, program, name, keys, rounds, time]
  const out = execFileSync(process.execPath, command, { encoding: 'utf8' })
  lines.push(...linesOf(workload, JSON.parse(out) as Record<string, Samples>))
}
console.log(`in memory: ${keys} keys, ${rounds} rounds, ${time} time, Node ${process.version}`)
console.log()
console.log(tableOf(lines))
