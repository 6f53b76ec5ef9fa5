/**
 * A process that adds keys at a rate, and works on them unless it only adds. It writes down what it
 * does in a file of its own. Takes options as JSON.
 */
// real time: the load of a run is so many keys a second.

import { openSync, writeSync } from 'node:fs'
import { setTimeout as passes } from 'node:timers/promises' // real time: keys a second
import type { Driver, FinishReply } from '@sluice/core'
import { createQueue, createWorker } from 'sluice'
import type { FailoverProcessOptions } from '../failovers/failover-processes.ts'
import { driverAt } from '../stores/driver-at.ts'
import type { Line } from '../witness/record.ts'

const options = JSON.parse(process.argv[2] ?? '{}') as FailoverProcessOptions
const { url, path, name, isWorking, keysPerSecond, leaseMs, replicas } = options
const file = openSync(path, 'a')

/** The machine's monotonic clock, which all processes read alike. */
const now = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000

type Unstamped = Line extends infer L ? (L extends Line ? Omit<L, 'at'> : never) : never

/** What was written outlives the process, though not the machine. */
function write(...lines: readonly Unstamped[]): void {
  const at = now()
  writeSync(file, lines.map((line) => `${JSON.stringify({ ...line, at })}\n`).join(''))
}

/** Writes down which finishes were acknowledged. */
function witnessed(driver: Driver): Driver {
  const finish: Driver['finish'] = async (queue, finishes, more) => {
    const replies = await driver.finish(queue, finishes, more)
    const settled = finishes.filter((_, at) => (replies[at] as FinishReply).outcome !== 'lost')
    write(...settled.map(({ key, token }) => ({ what: 'finished', key, token }) as const))
    return replies
  }
  return new Proxy(driver, {
    get(_, member) {
      if (member === 'finish') return finish
      const value: unknown = Reflect.get(driver, member, driver)
      return typeof value === 'function' ? value.bind(driver) : value
    },
  })
}

interface Order {
  readonly key: string
  readonly text: string
}

/** Long, so that what a replica misses does not fit into the buffers of the system. */
const text = 'x'.repeat(3_000)

write({ what: 'process', process: name })
const queue = createQueue<Order>({
  name: 'orders',
  keyOf: ({ key }) => key,
  driver: witnessed(driverAt(url, { replicas })),
  leaseMs,
  timeoutMs: 5_000,
  maxCrashes: 1_000_000,
  onError() {},
})

if (isWorking) {
  const worker = createWorker({
    queue,
    concurrency: 100,
    async handler({ key }, { token, signal, crashes }) {
      write({ what: 'began', key, token, crashes })
      await passes(5)
      write({ what: 'ended', key, token, isAborted: signal.aborted })
    },
    onError() {},
  })
  worker.stopped.catch((error: unknown) => {
    console.error(`${name}: the worker ended without being stopped`, error)
    process.exit(1)
  })
  process.on('SIGTERM', () => {
    void worker
      .stop({ graceMs: 1_000 })
      .then(() => queue.close())
      .catch((error: unknown) => console.error(`${name}: ${String(error)}`))
      .then(() => process.exit(0))
  })
} else {
  process.on('SIGTERM', () => {
    void queue.close().finally(() => process.exit(0))
  })
}

let isAdding = true
process.stdin.once('data', () => {
  isAdding = false
})

const batch = 20
let adds = 0

async function addBatch(): Promise<void> {
  const first = adds + 1
  adds += batch
  const keys = Array.from({ length: batch }, (_, at) => `${name} ${first + at}`)
  write(...keys.map((key, at) => ({ what: 'sent', add: first + at, key }) as const))
  try {
    await queue.addMany(keys.map((key) => ({ key, text })))
    write(...keys.map((_, at) => ({ what: 'acknowledged', add: first + at }) as const))
  } catch {
    // Refused, or the outcome is unknown: nothing was promised.
  }
}

/** How many batches may be in flight; a store that is away gets no more. */
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
