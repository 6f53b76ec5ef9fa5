// Postgres against raw statements, pg-boss and graphile-worker; see ../../README.md.
import { execFileSync } from 'node:child_process'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { spreadOf, written } from '../stats.ts'
import { backlogs } from './depth.ts'
import { fewBuffers, settings } from './server.ts'
import type { Samples } from './turns.ts'
import { reportWorking } from './working-report.ts'

const { env } = process
const keys = env['SLUICE_BENCH_KEYS'] ?? '20000'
const depth = env['SLUICE_BENCH_DEPTH'] ?? '1000000'
const rounds = env['SLUICE_BENCH_ROUNDS'] ?? '7'
const idleMs = env['SLUICE_BENCH_IDLE_MS'] ?? '60000'
const parts = env['SLUICE_BENCH_PARTS']?.split(',')

const program = join(import.meta.dirname, 'measure.ts')

function measure(workload: string, count: string, variant = ''): Samples {
  process.stderr.write(`measuring: ${workload} ${variant}${' '.repeat(40)}\r`)
  const flags = ['--conditions=sluice-source', '--no-warnings']
  const command = [...flags, program, workload, count, rounds, variant]
  return JSON.parse(execFileSync(process.execPath, command, { encoding: 'utf8' })) as Samples
}

function figures(samples: Samples, side: string, name: string): readonly number[] {
  return samples[side]?.[name] ?? []
}

function median(samples: Samples, side: string, name: string): number {
  return spreadOf(figures(samples, side, name)).median
}

function load(): string {
  return `load average ${loadavg()
    .map((one) => one.toFixed(1))
    .join(' ')}`
}

/** Of each side how much it does, how much it computes for that, and both compared with the first. */
function compare(samples: Samples): void {
  const [yardstick = ''] = Object.keys(samples)
  console.log(
    '| side | thousand keys a second | of the first | computing, us a key | of the first |',
  )
  console.log('| --- | --- | --- | --- | --- |')
  for (const side of Object.keys(samples)) {
    const ofFirst = (name: string): string =>
      (median(samples, side, name) / median(samples, yardstick, name)).toFixed(2)
    const speed = written(spreadOf(figures(samples, side, 'perMs')), 1)
    const cpu = written(spreadOf(figures(samples, side, 'cpuUs')), 0)
    console.log(`| ${side} | ${speed} | ${ofFirst('perMs')} | ${cpu} | ${ofFirst('cpuUs')} |`)
  }
}

const isWanted = (part: string): boolean => parts === undefined || parts.includes(part)
const set = Object.entries(settings).map(([name, value]) => `${name}=${value}`)
console.log(`Postgres: ${keys} keys, ${rounds} rounds, Node ${process.version}, ${load()}`)
console.log(`server: ${set.join(' ')}`)
if (isWanted('adding')) {
  console.log('\nadding\n')
  compare(measure('adding', keys))
}
if (isWanted('singles')) {
  console.log('\nadds of one key, each awaited\n')
  compare(measure('singles', keys))
}
if (isWanted('processing')) {
  console.log('\nclaiming and finishing\n')
  compare(measure('processing', keys))
}
if (isWanted('working')) {
  console.log(
    `\nworkers at ordinary concurrency, the queue with its defaults; shared_buffers=${fewBuffers.shared_buffers}`,
  )
  reportWorking(measure('working', keys))
}
if (isWanted('fairness')) {
  console.log('\ntwo workers and a producer in three processes: the smaller share in any 10 s\n')
  const samples = measure('fairness', keys)
  for (const side of Object.keys(samples)) {
    const shares = figures(samples, side, 'smallerShare')
    console.log(`${side}: ${Math.min(...shares).toFixed(2)}`)
  }
}
if (isWanted('verbs')) {
  console.log('\nwhat a verb has client and server compute, one batch at a time, us a key\n')
  console.log('| verb | server | client |')
  console.log('| --- | --- | --- |')
  const samples = measure('verbs', keys)
  for (const verb of Object.keys(samples).sort()) {
    const of = (name: string): string => written(spreadOf(figures(samples, verb, name)), 1)
    console.log(`| ${verb} | ${of('server')} | ${of('client')} |`)
  }
}
if (isWanted('depth')) {
  console.log('\nclaiming one key, by the other keys of the queue, in milliseconds\n')
  console.log('| other keys | how many | claim | of 1,000 |')
  console.log('| --- | --- | --- | --- |')
  for (const name of Object.keys(backlogs)) {
    const samples = measure('depth', depth, name)
    for (const side of Object.keys(samples)) {
      const ratio = median(samples, side, 'claim') / median(samples, '1000', 'claim')
      const claim = written(spreadOf(figures(samples, side, 'claim')), 3)
      console.log(`| ${name} | ${side} | ${claim} | ${ratio.toFixed(2)} |`)
    }
  }
}
if (isWanted('latency')) {
  console.log('\nfrom an add to the handler of a worker in another process, in milliseconds\n')
  const samples = measure('latency', keys)
  const ofHand = median(samples, 'by hand', 'ms')
  for (const side of Object.keys(samples)) {
    const sorted = [...figures(samples, side, 'ms')].sort((a, b) => a - b)
    const at = (share: number): string =>
      (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1)
    const ratio = (median(samples, side, 'ms') / ofHand).toFixed(2)
    console.log(`${side}: middle ${at(0.5)} (${ratio}), 9 of 10 within ${at(0.9)}`)
  }
}
if (isWanted('idle')) {
  const samples = measure('idle', idleMs)
  console.log(`\nstatements of an idle queue with one worker in ${Number(idleMs) / 1_000} s\n`)
  for (const text of Object.keys(samples)) {
    console.log(`${figures(samples, text, 'calls').join()}: ${text}`)
  }
}
if (isWanted('pinned')) {
  console.log('\nadd, claim and finish 500, in windows of 5 s, while a transaction is left open\n')
  const samples = measure('pinned', '5000')
  for (const side of Object.keys(samples)) {
    const all = figures(samples, side, 'perMs').map((one) => one.toFixed(1))
    console.log(`${side}: ${all.join(' ')} thousand keys a second`)
  }
}
console.log(`\nat the end: ${load()}`)
