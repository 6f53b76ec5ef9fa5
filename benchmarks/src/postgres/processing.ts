import { randomUUID } from 'node:crypto'
import type { Driver } from '../../../packages/core/src/index.ts'
import { postgresDriver } from '../../../packages/postgres/src/index.ts'
import { createQueue, createWorker } from '../../../packages/queue/src/index.ts'
import { rawAddMany, rawClaim, rawRemove, rawTable } from './raw-table.ts'
import {
  emptyBoss,
  emptyGraphile,
  graphilePool,
  runGraphile,
  startBoss,
  startGraphile,
} from './rivals.ts'
import type { Server } from './server.ts'
import { batchesOf } from './turns.ts'

/** One way of working off what is there. */
export interface Processor {
  /** Makes it ready, adds keys, and gives what does the work: that is what is timed. */
  prepare(keys: readonly string[]): Promise<() => Promise<unknown>>
  /** After the last turn. */
  end?(): Promise<unknown>
}

type Ways = Readonly<Record<string, Processor>>

const batch = 500
const loops = 4

async function forEver(count: number, step: () => Promise<boolean>): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, async () => {
      while (await step());
    }),
  )
}

/** `all` resolves when `one` has been called so often. */
function countdown(count: number): { one(): void; readonly all: Promise<void> } {
  let left = count
  let finish = (): void => {}
  const all = new Promise<void>((resolve) => {
    finish = resolve
  })
  const one = (): void => {
    left -= 1
    if (left === 0) finish()
  }
  return { one, all }
}

async function raw(server: Server): Promise<Ways> {
  await server.sql(rawTable)
  const pool = server.pool(loops)
  return {
    'raw claim and delete of 500, 4 connections': {
      async prepare(keys) {
        await server.sql('truncate raw.jobs')
        for (const some of batchesOf(keys, 1_000)) await rawAddMany(pool, some)
        return () =>
          forEver(loops, async () => {
            const claimed = await rawClaim(pool, batch)
            if (claimed.length === 0) return false
            await rawRemove(pool, claimed)
            return true
          })
      },
    },
  }
}

const askOptions = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const

async function fill(store: Driver, keys: readonly string[]): Promise<void> {
  for (const some of batchesOf(keys, 1_000)) {
    const asks = some.map((key) => ({ key, item: `"${key}"`, priority: 0, delayMs: 0 }))
    await store.add('q', asks, askOptions)
  }
}

async function sluice(server: Server): Promise<Ways> {
  const open = (): Driver => postgresDriver({ connectionString: server.url })
  const filler = open()
  await filler.open({})
  const prepared = async (keys: readonly string[]): Promise<void> => {
    await server.sql('truncate sluice.keys')
    await fill(filler, keys)
  }
  /**
   * A worker with a handler that does nothing, from its start until the last key is done; on a queue
   * that stays open between the turns, as the connections of the others do.
   */
  const working = (concurrency: number, prefetch: number): Processor => {
    const queue = createQueue<string>({ name: 'q', driver: open(), prefetch })
    return {
      async prepare(keys) {
        await prepared(keys)
        await queue.len()
        return async () => {
          const counted = countdown(keys.length)
          const worker = createWorker({
            queue,
            concurrency,
            handler: async () => counted.one(),
          })
          await counted.all
          // When it has stopped, everything has been finished in the store.
          await worker.stop()
        }
      },
      end: () => queue.close(),
    }
  }
  return {
    'driver, claim and finish of 500, 4 at once': {
      async prepare(keys) {
        await prepared(keys)
        return () =>
          forEver(loops, async () => {
            const request = { limit: batch, holder: 'holder', claimId: randomUUID() }
            const { claims } = await filler.claim('q', { ...request, leaseMs: 30_000 })
            if (claims.length === 0) return false
            const done = claims.map(
              ({ key, token }) => ({ as: 'done', key, token, forget: true }) as const,
            )
            await filler.finish('q', done, askOptions)
            return true
          })
      },
      end: () => filler.close(),
    },
    // As many keys at hand as the raw statements have on their four connections.
    'worker, concurrency 1,000, prefetch 1,000': working(1_000, 1_000),
    'worker, concurrency 500, prefetch 1,000': working(500, 1_000),
    'worker, concurrency 500': working(500, 0),
    'worker, concurrency 24, prefetch 500': working(24, 500),
  }
}

async function boss(server: Server): Promise<Ways> {
  const jobs = await startBoss(server)
  return {
    'pg-boss fetch and complete of 500, 4 at once': {
      async prepare(keys) {
        await emptyBoss(server)
        for (const some of batchesOf(keys, 1_000)) {
          await jobs.insert(
            'q',
            some.map((key) => ({ data: { key } })),
          )
        }
        return () =>
          forEver(loops, async () => {
            const fetched = await jobs.fetch('q', { batchSize: batch })
            if (fetched.length === 0) return false
            await jobs.complete(
              'q',
              fetched.map(({ id }) => id),
            )
            return true
          })
      },
      end: () => jobs.stop(),
    },
  }
}

async function graphile(server: Server): Promise<Ways> {
  const jobs = await startGraphile(server)
  const pool = graphilePool(server)
  return {
    'graphile-worker, local queue of 500': {
      async prepare(keys) {
        await emptyGraphile(server)
        for (const some of batchesOf(keys, 1_000)) {
          await jobs.addJobs(some.map((key) => ({ identifier: 'job', payload: { key } })))
        }
        return async () => {
          const counted = countdown(keys.length)
          const runner = await runGraphile(pool, () => counted.one())
          await counted.all
          // What is completed in batches is not done before it has ended.
          await runner.stop()
        }
      },
      end: async () => jobs.release(),
    },
  }
}

/** What is measured: a raw claim and delete, Sluice and its rivals. */
export const processors: readonly ((server: Server) => Promise<Ways>)[] = [
  raw,
  sluice,
  boss,
  graphile,
]
