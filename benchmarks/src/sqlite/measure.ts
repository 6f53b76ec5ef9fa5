/**
 * One workload in a process of its own: `measure.ts WORKLOAD KEYS ROUNDS wall|cpu`. The sides take
 * turns, and the samples are printed as JSON.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Durability } from '../../../packages/sqlite/src/index.ts'
import { contestants } from './contestants.ts'
import { type backlogs, DeepStore } from './depth.ts'
import { latencies } from './latency.ts'
import { singles } from './singles.ts'

/** By side, what was measured in each round. */
export type Samples = Record<string, Record<string, number[]>>

const [workload = '', keysText = '', roundsText = '', timeSource = 'wall', variant = ''] =
  process.argv.slice(2)
const rounds = Number(roundsText)
const keyCount = Number(keysText)
const all: Samples = {}

function clockMs(): number {
  if (timeSource !== 'cpu') return performance.now()
  // What this process computes, and what the system does for it, however often others get between.
  const { system, user } = process.cpuUsage()
  return (system + user) / 1_000
}

function record(side: string, figures: Readonly<Record<string, number>>): void {
  all[side] ??= {}
  for (const [name, figure] of Object.entries(figures)) {
    all[side][name] ??= []
    all[side][name].push(figure)
  }
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  try {
    return await work(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

if (workload === 'end-to-end') {
  const only = variant === 'power' ? 0.1 : 1
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, { run, share }] of Object.entries(contestants)) {
      const length = Math.round(keyCount * share * only)
      const keys = Array.from({ length }, (_, at) => `namespace/object-${at}`)
      const parts = await inFolder((folder) =>
        run({ folder, durability: variant as Durability, keys, clockMs }),
      )
      const perSecond = (ms: number): number => length / ms
      record(name, {
        add: perSecond(parts.add),
        rest: perSecond(parts.rest),
        all: perSecond(parts.add + parts.rest),
      })
    }
  }
} else if (workload === 'singles') {
  // Until the log has its full size, a commit with 'power' also waits for the disk to note that it has grown, and
  // takes half as long again: the first 1,200 adds of ours, and the first 320 by hand.
  const length = Math.round(keyCount / (variant === 'power' ? 10 : 5))
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, add] of Object.entries(singles)) {
      const keys = Array.from({ length }, (_, at) => `namespace/object-${at}`)
      const ms = await inFolder((folder) =>
        add({ folder, durability: variant as Durability, keys, clockMs }),
      )
      record(name, { add: length / ms })
    }
  }
} else if (workload === 'depth') {
  const depths = [1_000, 100_000, 1_000_000].filter((depth) => depth <= keyCount)
  await inFolder(async (folder) => {
    const stores = []
    for (const depth of depths) {
      const store = await DeepStore.open(folder, depth, variant as keyof typeof backlogs)
      stores.push({ depth, store })
    }
    // The first round pays for what is not in memory yet.
    for (let round = 0; round <= rounds * 5; round += 1) {
      for (const { depth, store } of stores) {
        const sample = await store.sample(clockMs)
        if (round > 0) record(String(depth), sample)
      }
    }
    for (const { store } of stores) await store.close()
  })
} else if (workload === 'latency') {
  await inFolder(async (folder) => {
    for (const ms of await latencies(folder, rounds * 20)) record('latency', { ms })
  })
}
console.log(JSON.stringify(all))
