/**
 * The same process as tests/support/programs/failover-process.ts, with BullMQ: it adds jobs at a rate,
 * works on them unless it only adds, and writes down what it does. Takes options as JSON.
 */
import { openSync, writeSync } from 'node:fs'
import type { FailoverProcessOptions } from '../../../tests/support/failovers/failover-processes.ts'
import { clusterOf, prefix, Queue, Worker } from './bullmq-connection.ts'

const options = JSON.parse(process.argv[2] ?? '{}') as FailoverProcessOptions
const { url, path, name, isWorking, keysPerSecond, leaseMs } = options
const file = openSync(path, 'a')
const now = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000

function write(...lines: readonly object[]): void {
  const at = now()
  writeSync(file, lines.map((line) => `${JSON.stringify({ ...line, at })}\n`).join(''))
}

async function passes(ms: number): Promise<void> {
  // real time: the load of a run is so many keys a second.
  await new Promise((resolve) => setTimeout(resolve, ms))
}

write({ what: 'process', process: name })
const queue = new Queue('orders', {
  connection: clusterOf(url, false),
  prefix,
  defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
})
queue.on('error', () => {})
let token = 0

if (isWorking) {
  const worker = new Worker<{ key: string }>(
    'orders',
    async ({ data: { key }, stalledCounter }) => {
      token += 1
      const own = token
      write({ what: 'began', key, token: own, crashes: stalledCounter })
      await passes(5)
      write({ what: 'ended', key, token: own, isAborted: false })
      return own
    },
    {
      connection: clusterOf(url, true),
      prefix,
      concurrency: 100,
      lockDuration: leaseMs,
      stalledInterval: leaseMs,
      maxStalledCount: 1_000_000,
    },
  )
  worker.on('error', () => {})
  worker.on('completed', ({ data: { key } }, own) =>
    write({ what: 'finished', key, token: Number(own) }),
  )
}
process.on('SIGTERM', () => process.exit(0))

let isAdding = true
process.stdin.once('data', () => {
  isAdding = false
})
const text = 'x'.repeat(3_000)
const batch = 20
let adds = 0

async function addBatch(): Promise<void> {
  const first = adds + 1
  adds += batch
  const keys = Array.from({ length: batch }, (_, at) => `${name} ${first + at}`)
  write(...keys.map((key, at) => ({ what: 'sent', add: first + at, key })))
  try {
    await queue.addBulk(keys.map((key) => ({ name: 'job', data: { key, text } })))
    write(...keys.map((_, at) => ({ what: 'acknowledged', add: first + at })))
  } catch {
    // Nothing was promised.
  }
}

const inFlightMax = 20
let inFlight = 0
while (isAdding) {
  await passes((1_000 * batch) / keysPerSecond)
  if (inFlight >= inFlightMax) continue
  inFlight += 1
  void addBatch().finally(() => {
    inFlight -= 1
  })
}
while (inFlight > 0) await passes(10)
write({ what: 'added all' })
