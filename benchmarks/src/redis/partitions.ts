import { createQueue, createWorker, type Queue } from '../../../packages/queue/src/index.ts'
import { redisDriver } from '../../../packages/redis/src/index.ts'
import { type RedisCluster, startCluster } from '../../../tools/test-redis/src/index.ts'
import { spreadOf, written } from '../stats.ts'

const partitionCounts = [1, 3, 12]
const concurrency = 120
const atOnce = 1_000

interface Sample {
  readonly perMs: number
  /** CPU time of all primaries, of the busiest one, and of the client, in microseconds a key. */
  readonly serversUs: number
  readonly busiestUs: number
  readonly clientUs: number
}

/** Which of `count` partitions a key belongs to. */
function partitionOf(key: string, count: number): number {
  let hash = 2_166_136_261
  for (let at = 0; at < key.length; at += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(at), 16_777_619)
  }
  return (hash >>> 0) % count
}

/** Adds keys to the queues of their partitions and works on them, until all are finished. */
async function fillAndWork(queues: readonly Queue<string>[], keys: readonly string[]) {
  for (let at = 0; at < keys.length; at += atOnce) {
    const parts = queues.map((): string[] => [])
    for (const key of keys.slice(at, at + atOnce)) {
      parts[partitionOf(key, queues.length)]?.push(key)
    }
    await Promise.all(parts.map((part, nth) => queues[nth]?.addMany(part)))
  }
  let left = keys.length
  const { promise, resolve } = Promise.withResolvers<void>()
  const workers = queues.map((queue) =>
    createWorker({
      queue,
      concurrency: concurrency / queues.length,
      handler: async () => {
        left -= 1
        if (left === 0) resolve()
      },
    }),
  )
  await promise
  await Promise.all(workers.map((worker) => worker.stop()))
}

async function measuredOn(cluster: RedisCluster, count: number, keys: readonly string[]) {
  const url = `redis-cluster://${cluster.urls.map((one) => new URL(one).host).join(',')}`
  const driver = redisDriver({ url })
  const queues = Array.from({ length: count }, (_, nth) =>
    createQueue<string>({ name: `${count}: part ${nth}`, driver }),
  )
  await Promise.all(queues.map((queue) => queue.len()))
  const cpu = () => Promise.all(cluster.nodes.map(({ process: server }) => server.cpuMs()))
  const before = await cpu()
  const clientBefore = process.cpuUsage()
  const startedAt = performance.now()
  await fillAndWork(queues, keys)
  const ms = performance.now() - startedAt
  const { user, system } = process.cpuUsage(clientBefore)
  const spent = (await cpu()).map((after, nth) => after - (before[nth] ?? 0))
  await Promise.all(queues.map((queue) => queue.close()))
  const us = (figure: number): number => (1_000 * figure) / keys.length
  return {
    perMs: keys.length / ms,
    serversUs: us(spent.reduce((sum, one) => sum + one, 0)),
    busiestUs: us(Math.max(...spent)),
    clientUs: (user + system) / keys.length,
  }
}

/** What a queue costs that is partitioned by the hash of its keys, on a cluster of three primaries. */
export async function printPartitions(keyCount: number, rounds: number): Promise<void> {
  const cluster = await startCluster({ primaries: 3, replicas: 0 })
  try {
    const samples = new Map<number, Sample[]>(partitionCounts.map((count) => [count, []]))
    for (let round = 0; round <= rounds; round += 1) {
      const keys = Array.from({ length: keyCount }, (_, nth) => `namespace/object-${round}-${nth}`)
      for (const count of partitionCounts) {
        const sample = await measuredOn(cluster, count, keys)
        // The first round pays for what is not compiled yet.
        if (round > 0) samples.get(count)?.push(sample)
      }
    }
    console.log(`\n${keyCount} keys added in batches and worked on, three primaries\n`)
    console.log(
      '| partitions | thousand keys a second | CPU us a key: all servers | the busiest one | client |',
    )
    console.log('| --- | --- | --- | --- | --- |')
    for (const [count, own] of samples) {
      const members = ['perMs', 'serversUs', 'busiestUs', 'clientUs'] as const
      const cells = members.map((member) => written(spreadOf(own.map((one) => one[member])), 1))
      console.log(`| ${count} | ${cells.join(' | ')} |`)
    }
  } finally {
    await cluster.dispose()
  }
}
