// SQLite against a loop written by hand and against plainjob; see ../../README.md.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { spreadOf, written } from '../stats.ts'
import { yardstick } from './contestants.ts'
import { backlogs } from './depth.ts'
import type { Samples } from './measure.ts'

const { env } = process
const keys = env['SLUICE_BENCH_KEYS'] ?? '100000'
const depth = env['SLUICE_BENCH_DEPTH'] ?? '1000000'
const rounds = env['SLUICE_BENCH_ROUNDS'] ?? '5'
const time = env['SLUICE_BENCH_TIME'] ?? 'wall'
const parts = env['SLUICE_BENCH_PARTS']?.split(',')
const isWanted = (part: string): boolean => parts === undefined || parts.includes(part)

const program = join(import.meta.dirname, 'measure.ts')

function measure(workload: string, count: string, variant: string): Samples {
  process.stderr.write(`measuring: ${workload} ${variant}${' '.repeat(40)}\r`)
  const flags = ['--conditions=sluice-source', '--no-warnings']
  const command = [...flags, program, workload, count, rounds, time, variant]
  return JSON.parse(execFileSync(process.execPath, command, { encoding: 'utf8' })) as Samples
}

function figures(samples: Samples, side: string, name: string): readonly number[] {
  return samples[side]?.[name] ?? []
}

console.log(`SQLite: ${keys} keys, ${rounds} rounds, ${time} time, Node ${process.version}`)
for (const durability of isWanted('end-to-end') ? ['process', 'power'] : []) {
  const samples = measure('end-to-end', keys, durability)
  console.log(`\nadd, claim and finish, '${durability}', in thousands of keys a second\n`)
  console.log('| side | add 1,000 at a time | claim and finish 100 at a time | all | of the loop |')
  console.log('| --- | --- | --- | --- | --- |')
  const ofLoop = spreadOf(figures(samples, yardstick, 'all')).median
  for (const side of Object.keys(samples)) {
    const cells = ['add', 'rest', 'all'].map((name) =>
      written(spreadOf(figures(samples, side, name)), 1),
    )
    const ratio = spreadOf(figures(samples, side, 'all')).median / ofLoop
    console.log(`| ${side} | ${cells.join(' | ')} | ${ratio.toFixed(2)} |`)
  }
}

for (const durability of isWanted('singles') ? ['process', 'power'] : []) {
  const samples = measure('singles', keys, durability)
  console.log(`\nadds of one key, '${durability}', in thousands a second\n`)
  console.log('| side | adds | of hand-written |')
  console.log('| --- | --- | --- |')
  const [first = ''] = Object.keys(samples)
  const least = spreadOf(figures(samples, first, 'add')).median
  for (const side of Object.keys(samples)) {
    const adds = spreadOf(figures(samples, side, 'add'))
    console.log(`| ${side} | ${written(adds, 1)} | ${(adds.median / least).toFixed(2)} |`)
  }
}

if (isWanted('depth')) {
  console.log(
    '\nclaiming one key and finishing it, by the other keys of the queue, in milliseconds\n',
  )
  console.log('| other keys | how many | claim and finish | of 1,000 | claim in vain |')
  console.log('| --- | --- | --- | --- | --- |')
  for (const name of Object.keys(backlogs)) {
    const samples = measure('depth', depth, name)
    const least = spreadOf(figures(samples, '1000', 'hit')).median
    for (const side of Object.keys(samples)) {
      const hit = spreadOf(figures(samples, side, 'hit'))
      const vain = figures(samples, side, 'vain')
      const ratio = (hit.median / least).toFixed(2)
      console.log(
        `| ${name} | ${side} | ${written(hit, 3)} | ${ratio} | ` +
          `${Math.max(...vain) === 0 ? '' : written(spreadOf(vain), 3)} |`,
      )
    }
  }
}

if (isWanted('latency')) {
  const { latency = {} } = measure('latency', keys, '')
  const sorted = [...(latency['ms'] ?? [])].sort((a, b) => a - b)
  const at = (share: number): string =>
    (sorted[Math.floor(sorted.length * share)] ?? NaN).toFixed(1)
  console.log(
    '\nfrom an add to the handler of a worker that waits in another process, in milliseconds\n',
  )
  console.log(`middle ${at(0.5)}, 9 of 10 within ${at(0.9)}, longest ${at(0.9999)}`)
}
