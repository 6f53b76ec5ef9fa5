// The queue in memory against a Go queue of the same rules; see ../../README.md.
import { execFileSync } from 'node:child_process'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { buildGoQueue } from './go-queue.ts'
import type { Samples } from './measure.ts'
import { type Line, linesOf, tableOf } from './report.ts'
import { workloads } from './workloads.ts'

const { env } = process
const keys = env['SLUICE_BENCH_KEYS'] ?? '1000000'
const rounds = env['SLUICE_BENCH_ROUNDS'] ?? '5'
const only = env['SLUICE_BENCH_ONLY']?.split(',')

const load = (): string => loadavg()[0]!.toFixed(1)
const loadBefore = load()
const go = buildGoQueue()
const program = join(import.meta.dirname, 'measure.ts')
const lines: Line[] = []
for (const [name, workload] of Object.entries(workloads)) {
  if (only !== undefined && !only.includes(name)) continue
  console.error(`measuring: ${workload.title}`)
  const flags = ['--expose-gc', '--conditions=sluice-source', '--no-warnings']
  const command = [...flags, program, name, keys, rounds, ...(go === undefined ? [] : [go])]
  const out = execFileSync(process.execPath, command, { encoding: 'utf8' })
  lines.push(...linesOf(workload, JSON.parse(out) as Record<string, Samples>))
}
console.log(
  `in memory: ${keys} keys, ${rounds} rounds after the first, Node ${process.version}, load ` +
    `${loadBefore} before and ${load()} after`,
)
if (go === undefined) {
  console.log('There is no Go on this machine: nothing is compared with a Go queue.')
}
console.log()
console.log(tableOf(lines))
