// Failovers under load, BullMQ and Sluice in turn: `node src/redis/failovers.ts [failovers]`.
import { failoverRun, type Rival } from '../../../tests/support/failovers/failover-run.ts'
import { clusterOf, prefix, Queue } from './bullmq-connection.ts'

const failovers = Number(process.argv[2] ?? '10')

const bullmq: Rival = {
  program: new URL('./bullmq-process.ts', import.meta.url).pathname,
  key: `${prefix}:orders:wait`,
  async left(url) {
    const connection = clusterOf(url, false)
    await new Promise((resolve) => connection.once('ready', resolve))
    const queue = new Queue('orders', { connection, prefix })
    try {
      const counts = await queue.getJobCounts('wait', 'active', 'delayed', 'prioritized', 'paused')
      return Object.values(counts).reduce((sum, count) => sum + count, 0)
    } finally {
      await queue.close()
      connection.disconnect()
    }
  },
}

const table: Record<string, object> = {}
for (const [name, rival] of Object.entries({ Sluice: undefined, BullMQ: bullmq })) {
  table[name] = await failoverRun({
    kind: 'cluster',
    failovers,
    stoppedMs: 700,
    timeoutMs: 1_000,
    replicas: 0,
    ...(rival && { rival }),
    onProgress: (text) => console.error(`${name}: ${text}`),
  })
}
console.log(`${failovers} failovers of a cluster; the replica stands still for 0.7 s before each`)
console.table(table)
