// The queue in memory against the bare loop, and through it against client-go; see ../../README.md.
import { execFileSync } from 'node:child_process'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { type Spread, spreadOf, written } from '../stats.ts'

const count = Number(process.env['SLUICE_BENCH_KEYS'] ?? 1_000_000)
const rounds = Number(process.env['SLUICE_BENCH_ROUNDS'] ?? 3)
const repetitions = 3

/** What was measured beside each other on one machine in one hour, in millions of items a second. */
const recorded = {
  bare: { 'fill then drain': (0.65 + 0.77) / 2, steady: (2.3 + 2.9) / 2 },
  clientGo: {
    'fill then drain': (0.71 + 0.89) / 2,
    steady: (2.8 + 4.4) / 2,
    'hot keys': (32 + 40) / 2,
    'producer and four workers': (1.3 + 1.9) / 2,
    'rate-limited requeue': (0.67 + 1.06) / 2,
    'delayed inserts': (0.58 + 0.72) / 2,
  },
} as const

/** What is to be reached, of client-go. */
const goals: readonly (readonly [string, keyof typeof recorded.clientGo, number])[] = [
  ['fill then drain', 'fill then drain', 1.5],
  ['steady', 'steady', 0.9],
  ['producer and four workers', 'producer and four workers', 1.5],
  ['rate-limited requeue', 'rate-limited requeue', 1.2],
  ['delayed inserts', 'delayed inserts', 2.5],
  ['hot keys', 'hot keys', 0.35],
  ['hot keys, batched', 'hot keys', 1.2],
  ['fill then drain, batched', 'fill then drain', 2],
]

interface Figure {
  readonly rate: number
  readonly peakMb: number
}

function one(side: 'queue' | 'bare', name: string): Figure {
  const script = join(import.meta.dirname, 'one.ts')
  const out = execFileSync(process.execPath, [script, side, name, `${count}`, `${repetitions}`], {
    encoding: 'utf8',
  })
  return JSON.parse(out) as Figure
}

const sides = [
  ...goals.map(([name]) => ['queue', name] as const),
  ['bare', 'fill then drain'] as const,
  ['bare', 'steady'] as const,
  ['bare', 'fill then drain, synchronous'] as const,
  ['bare', 'steady, synchronous'] as const,
]
const figures = new Map<string, Figure[]>()
for (let round = 1; round <= rounds; round += 1) {
  for (const [side, name] of sides) {
    process.stderr.write(`round ${round} of ${rounds}: ${side}, ${name}        \r`)
    const key = `${side}: ${name}`
    figures.set(key, [...(figures.get(key) ?? []), one(side, name)])
  }
}
process.stderr.write(`${' '.repeat(72)}\r`)

function rates(key: string): Spread {
  return spreadOf(figures.get(key)!.map(({ rate }) => rate))
}

function peak(key: string): string {
  return Math.max(...figures.get(key)!.map(({ peakMb }) => peakMb)).toFixed(0)
}

const bareNow = {
  fill: rates('bare: fill then drain'),
  steady: rates('bare: steady'),
}
const factor = Math.sqrt(
  (bareNow.fill.median / recorded.bare['fill then drain']) *
    (bareNow.steady.median / recorded.bare.steady),
)

console.log(
  `memory: ${count} keys, ${rounds} rounds, Node ${process.version}, ${cpus().length} cores`,
)
console.log(
  `M items/s, median [lowest-highest]; this machine is ${factor.toFixed(2)} of the yardstick's`,
)
console.log()
const row = (cells: readonly string[]): void => {
  const widths = [30, 20, 12, 14, 8, 10]
  console.log(cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join(''))
}
row(['workload', 'queue', 'of bare', 'of client-go', 'goal', 'peak MB'])
for (const [name, original, goal] of goals) {
  const key = `queue: ${name}`
  const { median } = rates(key)
  const bare = figures.has(`bare: ${original}`) ? rates(`bare: ${original}`).median : undefined
  row([
    name,
    written(rates(key)),
    bare === undefined ? '-' : (median / bare).toFixed(2),
    (median / (recorded.clientGo[original] * factor)).toFixed(2),
    goal.toFixed(2),
    peak(key),
  ])
}
console.log()
for (const name of sides.filter(([side]) => side === 'bare').map(([, name]) => name)) {
  row([`bare loop, ${name}`, written(rates(`bare: ${name}`)), '', '', '', peak(`bare: ${name}`)])
}
