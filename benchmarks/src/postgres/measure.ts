/**
 * One workload in a process of its own, on a server of its own: `measure.ts WORKLOAD KEYS ROUNDS
 * VARIANT`. The sides take turns, and the samples are printed as JSON.
 */
import { adders } from './adding.ts'
import { cpuMs } from './cpu-time.ts'
import { type backlogs, DeepStore } from './depth.ts'
import { fairness } from './fairness.ts'
import { idleStatements } from './idle.ts'
import { latencies } from './latency.ts'
import { pinned } from './pinned.ts'
import { processors } from './processing.ts'
import { fewBuffers, startServer } from './server.ts'
import { singleAdders } from './singles.ts'
import { record, type Samples } from './turns.ts'
import { verbs } from './verbs.ts'
import { working } from './working.ts'

const [workload = '', keysText = '', roundsText = '', variant = ''] = process.argv.slice(2)
const rounds = Number(roundsText)
const keyCount = Number(keysText)
const all: Samples = {}
const only = process.env['SLUICE_BENCH_ONLY']

function keysNamed(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `namespace/object-${at}`)
}

async function timed(
  side: string,
  round: number,
  count: number,
  work: () => Promise<unknown>,
): Promise<void> {
  const cpuBefore = cpuMs()
  const startedAt = performance.now()
  await work()
  const ms = performance.now() - startedAt
  const cpu = cpuMs() - cpuBefore
  // The first round pays for connections, and for what is not compiled yet.
  if (round > 0) record(all, side, { perMs: count / ms, cpuUs: (1_000 * cpu) / count })
}

const server = await startServer(workload === 'working' ? fewBuffers : {})
if (workload === 'adding') {
  const stores = []
  for (const make of adders) stores.push(await make(server))
  for (let round = 0; round <= rounds; round += 1) {
    for (const { ways, empty } of stores) {
      for (const [name, { add, share = 1 }] of Object.entries(ways)) {
        if (only !== undefined && !name.includes(only)) continue
        const keys = keysNamed(Math.round(keyCount * share))
        await empty()
        await server.sql('checkpoint')
        await timed(name, round, keys.length, () => add(keys))
      }
    }
  }
  for (const { close } of stores) await close()
}
if (workload === 'singles') {
  const ways = Object.entries(await singleAdders(server))
  const some = keysNamed(Math.round(keyCount / 20))
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, { add, empty }] of ways) {
      await empty()
      await server.sql('checkpoint')
      await timed(name, round, some.length, async () => {
        for (const key of some) await add(key)
      })
    }
  }
  for (const [, { end }] of ways) await end()
}
if (workload === 'processing') {
  const ways = []
  for (const make of processors) ways.push(...Object.entries(await make(server)))
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, { prepare }] of ways) {
      if (only !== undefined && !name.includes(only)) continue
      const work = await prepare(keysNamed(keyCount))
      await server.sql('checkpoint')
      await timed(name, round, keyCount, work)
    }
  }
  for (const [, { end }] of ways) await end?.()
}
if (workload === 'working') Object.assign(all, await working(server, keyCount, rounds))
if (workload === 'depth') {
  const depths = [1_000, 100_000, 1_000_000].filter((depth) => depth <= keyCount)
  const stores = []
  for (const depth of depths) {
    stores.push({
      depth,
      store: await DeepStore.open(server, depth, variant as keyof typeof backlogs),
    })
  }
  // The first round pays for what is not in memory yet.
  for (let round = 0; round <= rounds * 3; round += 1) {
    for (const { depth, store } of stores) {
      const claim = await store.sample()
      if (round > 0) record(all, String(depth), { claim })
    }
  }
  for (const { store } of stores) await store.close()
}
if (workload === 'latency') {
  for (const [side, found] of Object.entries(await latencies(server, rounds * 20))) {
    for (const ms of found) record(all, side, { ms })
  }
}
if (workload === 'idle') {
  for (const [text, calls] of Object.entries(await idleStatements(server, keyCount))) {
    record(all, text, { calls })
  }
}
if (workload === 'fairness') Object.assign(all, await fairness(server))
if (workload === 'verbs') Object.assign(all, await verbs(server, keysNamed(keyCount), rounds))
if (workload === 'pinned') Object.assign(all, await pinned(server, rounds, keyCount))
await server.stop()
process.stdout.write(`${JSON.stringify(all)}\n`)
process.exit(0)
