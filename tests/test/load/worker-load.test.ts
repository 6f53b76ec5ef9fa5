import { once } from 'node:events'
// real time: the handlers must be under way at the same time as real renewals.
import { setTimeout as sleep } from 'node:timers/promises'
import { memoryDriver } from '@sluice/memory'
import { sqliteDriver } from '@sluice/sqlite'
import { createRateLimitingQueue, createWorker, exponential, type HandlerContext } from 'sluice'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { emptyFile } from '../../support/stores/empty-file.ts'
import { type PostgresServer, startPostgres } from '../../support/stores/postgres-server.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.stop())

const keys = 120
/** How many runs of each key misbehave before one does what it should. */
const badRuns = 3

/** Runs that were given up, and have not come to their end yet. */
const comingLate: Promise<never>[] = []

async function rejectLate(signal: AbortSignal): Promise<never> {
  await once(signal, 'abort')
  // real time: how long a handler goes on after it was told to stop is its own affair
  await sleep(250)
  throw new Error('rejects late')
}

/** The ways in which a handler can misbehave, each by what it does to one run. */
const misdeeds: readonly ((context: HandlerContext) => unknown)[] = [
  () => {
    throw new Error('throws at once')
  },
  async () => {
    await sleep(1)
    throw new TypeError('throws later')
  },
  // Hangs until it is told to stop, and stops.
  ({ signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
    }),
  // Does not listen, and rejects long after it was given up.
  ({ signal }) => {
    const late = rejectLate(signal)
    comingLate.push(late)
    return late
  },
  // Computes.
  () => {
    const end = performance.now() + 30
    while (performance.now() < end);
    throw new Error('blocked')
  },
  // Leaves a rejection behind that belongs to it, and fails besides.
  async () => {
    const left = Promise.reject(new Error('left behind'))
    left.catch(() => undefined)
    await left
  },
  () => ({ requeueAfterMs: Number.NaN }),
  () => ({ requeue: true }),
]

// real time: handlers hang, compute and come late by the clock of the machine.
test.each([
  ['in memory', Infinity, () => memoryDriver()],
  ['in memory, under leases', 2_000, () => memoryDriver()],
  ['on SQLite', 2_000, () => sqliteDriver({ file: emptyFile(), durability: 'process' })],
  ['on Postgres', 2_000, () => server.driver()],
] as const)('a worker under load with bad handlers, %s', async (_name, leaseMs, makeDriver) => {
  const unhandled: unknown[] = []
  const onUnhandled = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', onUnhandled)
  onTestFinished(() => {
    process.off('unhandledRejection', onUnhandled)
  })

  const reported: unknown[] = []
  const queue = createRateLimitingQueue<string>({
    name: 'load',
    driver: makeDriver(),
    leaseMs,
    maxCrashes: 100,
    limiter: exponential({ baseMs: 1, maxMs: 20 }),
    onError: (error) => reported.push(error),
  })
  const running = new Map<string, number>()
  const tokens = new Map<string, number>()
  const toldToStop = new Set<number>()
  const good = new Set<string>()
  const overlaps: string[] = []
  const runs = new Map<string, number>()
  const allGood = Promise.withResolvers<void>()

  const worker = createWorker<string>({
    queue,
    concurrency: 16,
    timeoutMs: 50,
    abandonMs: 100,
    blockedMs: 1_000,
    onError: (error) => reported.push(error),
    handler: async (key, context) => {
      // One that outlives its lease after it was told to stop is the only thing that may overlap.
      if (running.has(key) && !toldToStop.has(running.get(key) ?? 0)) overlaps.push(key)
      context.signal.addEventListener('abort', () => toldToStop.add(context.token))
      if ((tokens.get(key) ?? 0) >= context.token) overlaps.push(`${key}: token`)
      tokens.set(key, context.token)
      running.set(key, context.token)
      const run = (runs.get(key) ?? 0) + 1
      runs.set(key, run)
      try {
        if (run <= badRuns) {
          const misdeed = misdeeds[(Number(key.slice(4)) + run * 3) % misdeeds.length]
          return (await misdeed?.(context)) as undefined
        }
        await sleep(1)
        good.add(key)
        if (good.size === keys) allGood.resolve()
        return undefined
      } finally {
        // One that was given up may come to its end after the next run of its key has begun.
        if (running.get(key) === context.token) running.delete(key)
      }
    },
  })
  const all = Array.from({ length: keys }, (_, index) => `key/${index}`)
  await queue.addMany(all)
  for (const key of all) {
    await queue.add(key)
    if (key.endsWith('0')) await new Promise(setImmediate)
  }
  await allGood.promise
  // Of a process that was held up, no timer may have run yet.
  await expect.poll(() => worker.health().live).toBe(true)
  await worker.stop({ graceMs: 500 })
  expect(await worker.stopped).toBeUndefined()

  expect(good.size).toBe(keys)
  expect(overlaps).toEqual([])
  expect(reported.some((error) => /rejects late/.test(String(error)))).toBe(true)
  await queue.close()
  await Promise.allSettled(comingLate)
  await new Promise(setImmediate)
  expect(unhandled).toEqual([])
})
