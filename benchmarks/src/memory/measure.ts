/**
 * One workload in a process of its own: `measure.ts WORKLOAD KEYS ROUNDS wall|cpu`. Runs ours, the
 * bare loop and the yardstick in turns, A B C A B C ..., and prints the samples as JSON.
 */
import {
  bareFillDrain,
  bareSteady,
  bareSynchronous,
  type Contestant,
  workloads,
} from './workloads.ts'

/** What was measured of one contestant, one sample per round. */
export interface Samples {
  /** In millions of items per second. */
  readonly rates: number[]
  /** What the heap and the typed arrays held at the peak, beyond what was there before, in MB. */
  readonly peakMb: number[]
}

const [name = '', keysText = '', roundsText = '', timeSource = 'wall'] = process.argv.slice(2)
const workload = workloads[name]
if (workload === undefined) throw new Error(`there is no workload ${name}`)
const keyCount = Number(keysText)

function clockMs(): number {
  if (timeSource !== 'cpu') return performance.now()
  // Of this thread alone: what it computes, however often others get in between.
  const { system, user } = process.threadCpuUsage()
  return (system + user) / 1_000
}

function usedBytes(): number {
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

async function sample(contestant: Contestant, count: number, into: Samples): Promise<void> {
  // Made again each time: a string that was a key of a Map before brings its hash along.
  const keys = Array.from({ length: keyCount }, (_, at) => `namespace/object-${at}`)
  globalThis.gc?.()
  const before = usedBytes()
  let peakBytes = 0
  const peak = (): void => {
    peakBytes = usedBytes() - before
  }
  const startMs = clockMs()
  await contestant({ count, keys, peak })
  into.rates.push(count / (clockMs() - startMs) / 1_000)
  into.peakMb.push(peakBytes / 1e6)
}

const contestants = new Map<string, Contestant>(Object.entries(workload.ours))
const yardstick = workload.yardstick === 'steady' ? bareSteady : bareFillDrain
if (workload.bare !== undefined) contestants.set('bare loop', workload.bare)
if (workload.bare === yardstick) {
  contestants.set('bare loop, synchronous', bareSynchronous[workload.yardstick])
} else {
  contestants.set('yardstick', yardstick)
}

const all: Record<string, Samples> = {}
for (let round = 0; round < Number(roundsText); round += 1) {
  for (const [title, contestant] of contestants) {
    const times = contestant === yardstick ? 1 : (workload.times ?? 1)
    all[title] ??= { rates: [], peakMb: [] }
    await sample(contestant, keyCount * times, all[title])
  }
}
console.log(JSON.stringify(all))
