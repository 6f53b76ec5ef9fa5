// Redis against BullMQ on the same server, the sides taking turns; see ../../README.md.
import { loadavg } from 'node:os'
import { onDisk, startRedis, startReplicated } from '../../../tools/test-redis/src/index.ts'
import { bullmq, type Contestant, sluice } from './contestants.ts'
import { printDepth } from './depth.ts'
import { printIdle } from './idle.ts'
import { measured, printSides, type Sample } from './measured.ts'
import { printMemory } from './memory.ts'
import { printPartitions } from './partitions.ts'
import { printScripts } from './scripts.ts'

const { env } = process
const keyCount = Number(env['SLUICE_BENCH_KEYS'] ?? '20000')
const depth = Number(env['SLUICE_BENCH_DEPTH'] ?? '1000000')
const rounds = Number(env['SLUICE_BENCH_ROUNDS'] ?? '5')
const parts = env['SLUICE_BENCH_PARTS']?.split(',')
const isWanted = (part: string): boolean => parts === undefined || parts.includes(part)

/** How many calls are made at the same time, and how many keys are in a batch. */
const atOnce = 1_000
const hotCount = 1_000
const concurrency = 100

const load = (): string =>
  `load average ${loadavg()
    .map((one) => one.toFixed(1))
    .join(' ')}`

function keysNamed(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `namespace/object-${at}`)
}

async function inGroups(
  keys: readonly string[],
  add: (some: readonly string[]) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < keys.length; at += atOnce) await add(keys.slice(at, at + atOnce))
}

interface Workload {
  readonly title: string
  readonly run: (side: Contestant) => Promise<void>
  readonly before?: (side: Contestant) => Promise<void>
}

const keys = keysNamed(keyCount)
const hot = keysNamed(hotCount)
const workloads: Readonly<Record<string, Workload>> = {
  singles: {
    title: `adding, ${atOnce} calls at once`,
    run: (side) => inGroups(keys, (some) => side.addEach(some)),
  },
  hot: {
    title: `adding ${hotCount} pending keys again, ${atOnce} calls at once`,
    before: async (side) => {
      await side.addAgain(hot)
    },
    async run(side) {
      for (let done = 0; done < keyCount; done += hotCount) await side.addAgain(hot)
    },
  },
  batches: {
    title: `adding in batches of ${atOnce}`,
    run: (side) => inGroups(keys, (some) => side.addBatch(some)),
  },
  worker: {
    title: `a worker with a handler that does nothing, ${concurrency} at once`,
    before: (side) => inGroups(keys, (some) => side.addBatch(some)),
    run: (side) => side.work(keyCount, concurrency),
  },
}

interface Servers {
  readonly title: string
  readonly replicas: number
  start(): ReturnType<typeof startReplicated>
}

const configurations: Readonly<Record<string, Servers>> = {
  plain: {
    title: 'nothing on the disk',
    replicas: 0,
    start: () => startReplicated({ replicas: 0 }),
  },
  disk: {
    title: 'appendfsync always',
    replicas: 0,
    start: () => startReplicated({ replicas: 0, settings: onDisk }),
  },
  replica: {
    title: 'one replica confirms, of Sluice only: BullMQ cannot wait for it',
    replicas: 1,
    start: () => startReplicated({ replicas: 1 }),
  },
}

console.log(`Redis: ${keyCount} keys, ${rounds} rounds, Node ${process.version}, ${load()}`)
for (const [part, { title, replicas, start }] of Object.entries(configurations)) {
  if (!isWanted(part)) continue
  console.log(`\n## ${title}`)
  const servers = await start()
  const { primary, url } = servers
  const sides = [await sluice({ url, replicas }), await bullmq({ url })]
  for (const workload of Object.values(workloads)) {
    const samples = new Map<string, Sample[]>(sides.map(({ name }) => [name, []]))
    for (let round = 0; round <= rounds; round += 1) {
      for (const side of sides) {
        await primary.command('FLUSHALL')
        await workload.before?.(side)
        const sample = await measured(primary, keyCount, () => workload.run(side))
        // The first round pays for what is not compiled yet.
        if (round > 0) samples.get(side.name)?.push(sample)
      }
    }
    console.log(`\n${workload.title}\n`)
    printSides(samples)
  }
  for (const side of sides) await side.close()
  await servers.dispose()
}
const server = await startRedis()
try {
  if (isWanted('depth')) await printDepth(server, depth, rounds)
  if (isWanted('memory')) await printMemory(server, Math.min(depth, 200_000))
  if (isWanted('scripts')) await printScripts(server)
  if (isWanted('idle')) await printIdle(server, Number(env['SLUICE_BENCH_IDLE_MS'] ?? '60000'))
} finally {
  await server.dispose()
}
if (isWanted('partitions')) await printPartitions(3 * keyCount, rounds)
console.log(`\nat the end: ${load()}`)
