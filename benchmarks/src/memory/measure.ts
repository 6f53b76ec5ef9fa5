/**
 * One workload in a process of its own: `measure.ts WORKLOAD KEYS ROUNDS [GO-PROGRAM]`. Runs the
 * forms of ours, the floor and the Go queue in turns, A B C A B C ..., and prints the samples as
 * JSON. Each sample has keys that no sample before it had.
 */
import { GCProfiler } from 'node:v8'
import {
  createDelayingQueue,
  createQueue,
  createRateLimitingQueue,
} from '../../../packages/queue/src/index.ts'
import { GoQueue, goVersions } from './go-queue.ts'
import { type Contestant, workloads } from './workloads.ts'

/** One run of a contestant. */
export interface Sample {
  readonly seconds: number
  /** CPU time of the whole process, threads of the collector and the compiler included. */
  readonly cpuSeconds: number
  /** In Node, how long the main thread stood still for the collector; in Go, its CPU time. */
  readonly gcSeconds: number
  /** What was in memory at the peak, beyond the keys: only in the sample that looks at it. */
  readonly peakBytes: number
}

/** What was measured of one contestant. */
export interface Samples {
  /** How many adds a sample has. */
  readonly count: number
  /** The first one, with everything cold. */
  readonly cold: Sample
  readonly warm: readonly Sample[]
  readonly peakBytes: number
}

const [name = '', keysText = '', roundsText = '', goProgram] = process.argv.slice(2)
const workload = workloads[name]
if (workload === undefined) throw new Error(`there is no workload ${name}`)
const keyCount = Number(keysText)

// A service has a queue for as long as it runs. Where there is none of the same kind, with a key held
// and a call that waits, a collection makes the engine forget the code that it has compiled for them.
const service = await Promise.all(
  [createQueue, createDelayingQueue, createRateLimitingQueue].map(async (create) => {
    const queue = create<string>({})
    await queue.add('held')
    const held = await queue.get()
    return { queue, held, waiting: queue.get() }
  }),
)

let firstUnused = 0

/** Keys as a template makes them: a rope, which the engine joins where its text is first read. */
function ropes(): string[] {
  const first = firstUnused
  firstUnused += keyCount
  return Array.from({ length: keyCount }, (_, at) => `namespace/object-${first + at}`)
}

/** Keys as a parser or a socket gives them. */
function flat(): string[] {
  return ropes().map((key) => Buffer.from(key, 'latin1').toString('latin1'))
}

function usedBytes(): number {
  globalThis.gc?.()
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

async function run(contestant: Contestant, hasRopes: boolean, count: number): Promise<Sample> {
  const keys = hasRopes ? ropes() : flat()
  globalThis.gc?.()
  const gc = new GCProfiler()
  gc.start()
  const cpuBefore = process.cpuUsage()
  const start = performance.now()
  await contestant({ count, keys, peak: () => undefined })
  const seconds = (performance.now() - start) / 1_000
  const { system, user } = process.cpuUsage(cpuBefore)
  const gcUs = gc.stop().statistics.reduce((sum, { cost }) => sum + cost, 0)
  return { seconds, cpuSeconds: (system + user) / 1e6, gcSeconds: gcUs / 1e6, peakBytes: 0 }
}

async function weigh(contestant: Contestant, count: number): Promise<number> {
  const keys = flat()
  const before = usedBytes()
  let peakBytes = 0
  const peak = (): void => {
    peakBytes = usedBytes() - before
  }
  await contestant({ count, keys, peak })
  return peakBytes
}

/** Something that takes turns: how to run it, and how to weigh it. */
interface Turn {
  readonly count: number
  run(): Promise<Sample>
  weigh(): Promise<number>
}

const turns = new Map<string, Turn>()
const count = keyCount * (workload.times ?? 1)
for (const [form, contestant] of Object.entries({ ...workload.ours, ...workload.floor })) {
  turns.set(form, {
    count,
    run: () => run(contestant, workload.ropes === form, count),
    weigh: () => weigh(contestant, count),
  })
}
const go = goProgram === undefined ? undefined : new GoQueue(goProgram)
if (go !== undefined) {
  for (const [form, version] of Object.entries(goVersions)) {
    const sample = (what: 'time' | 'heap'): Promise<Sample> => {
      const first = firstUnused
      firstUnused += keyCount
      return go.sample({ workload: name, version, first, keyCount, count, what })
    }
    turns.set(form, {
      count,
      run: () => sample('time'),
      weigh: async () => (await sample('heap')).peakBytes,
    })
  }
}

const all: Record<string, Sample[]> = {}
for (let round = 0; round <= Number(roundsText); round += 1) {
  for (const [form, turn] of turns) {
    all[form] ??= []
    all[form].push(await turn.run())
  }
}
const samples: Record<string, Samples> = {}
for (const [form, turn] of turns) {
  const [cold, ...warm] = all[form]!
  samples[form] = { count: turn.count, cold: cold!, warm, peakBytes: await turn.weigh() }
}
go?.close()
for (const { queue, held, waiting } of service) {
  await held!.done()
  await queue.close()
  await waiting
}
console.log(JSON.stringify(samples))
