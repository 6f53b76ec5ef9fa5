/**
 * A process that adds keys and works on them, and writes down what it does in a file of its own,
 * which outlives a kill. Takes the address of the store, the path of the record, its name and a seed.
 */
// real time: the work of a handler, and the pauses of a program that adds.

import { openSync, writeSync } from 'node:fs'
import { setTimeout as passes } from 'node:timers/promises' // real time: the work of a handler
import { Chance } from '@sluice/conformance'
import { monotonicNow as now, processorWaitMs, watchHoldUps } from '@sluice/needs/hold-ups'
import { createRateLimitingQueue, createWorker, exponential } from 'sluice'
import { driverAt } from '../stores/driver-at.ts'
import type { Line } from '../witness/record.ts'

const [address = '', path = '', name = '', seed = '0'] = process.argv.slice(2)
const file = openSync(path, 'a')
const chance = new Chance(Number(seed))

type Unstamped = Line extends infer L ? (L extends Line ? Omit<L, 'at'> : never) : never

function write(line: Unstamped, at = now()): void {
  writeSync(file, `${JSON.stringify({ ...line, at })}\n`)
}

/** Writes down how long a call was pending. */
async function timed<T>(call: string, promise: Promise<T>): Promise<T> {
  const from = now()
  const waitedBefore = processorWaitMs()
  try {
    return await promise
  } finally {
    const ms = now() - from
    const unservedMs = processorWaitMs() - waitedBefore
    if (ms > 1_000) write({ what: 'pending', ms, unservedMs, call })
  }
}

write({ what: 'process', process: name })
watchHoldUps(({ from, until }) => write({ what: 'held up', ms: until - from }, until))
const queue = createRateLimitingQueue<string>({
  name: 'orders',
  driver: driverAt(address),
  leaseMs: 2_000,
  timeoutMs: 5_000,
  limiter: exponential({ baseMs: 5, maxMs: 500 }),
  maxCrashes: 1_000_000,
  onError() {},
})

const worker = createWorker({
  queue,
  concurrency: 4,
  async handler(key, { token, signal }) {
    write({ what: 'began', key, token })
    let hasEnded = false
    const end = (): void => {
      if (!hasEnded) write({ what: 'ended', key, token })
      hasEnded = true
    }
    signal.addEventListener('abort', end)
    await passes(chance.pick([0, 0, 10, 100, 300, 1_500]))
    end()
    if (chance.happens(0.1)) throw new Error('a run that fails')
  },
  onError() {},
})
worker.stopped.catch((error: unknown) => {
  console.error(`${name}: the worker ended without being stopped`, error)
  process.exit(1)
})

let isAdding = true
// The first line says that nothing more is to be added.
process.stdin.once('data', () => {
  isAdding = false
})
let adds = 0

async function adder(): Promise<void> {
  while (isAdding) {
    adds += 1
    const add = adds
    const key = `key ${chance.below(150)}`
    write({ what: 'sent', add, key })
    try {
      const adding = chance.happens(0.3) ? queue.addAfter(key, chance.below(500)) : queue.add(key)
      await timed('add', adding)
      write({ what: 'acknowledged', add })
    } catch {
      // Refused, or the outcome is unknown: nothing was promised.
    }
    await passes(20)
  }
}

await Promise.all([adder(), adder()])
// Works on until it is ended, for what others have added.
process.on('SIGTERM', () => {
  void timed('stop', worker.stop({ graceMs: 1_000 }))
    .then(() => timed('close', queue.close()))
    // What was given up is named in the error; that it took no longer is what matters here.
    .catch((error: unknown) => console.error(`${name}: ${String(error)}`))
    .then(() => process.exit(0))
})
const isAnswered = (): Promise<boolean> =>
  queue.len().then(
    () => true,
    () => false,
  )
// No fault comes any more, but this process may not have reached the store since the last one.
while (!(await isAnswered())) await passes(20)
write({ what: 'added all' })
