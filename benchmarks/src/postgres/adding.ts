import { postgresDriver } from '../../../packages/postgres/src/index.ts'
import { createQueue, type Queue } from '../../../packages/queue/src/index.ts'
import { rawAddMany, rawAddOne, rawTable } from './raw-table.ts'
import { emptyBoss, emptyGraphile, startBoss, startGraphile } from './rivals.ts'
import type { Server } from './server.ts'
import { batchesOf } from './turns.ts'

/** One way of adding keys to a store that has been set up. */
export interface Adder {
  /** Which share of the keys it can be asked to add while others add all. */
  readonly share?: number
  add(keys: readonly string[]): Promise<void>
}

/** A store, the ways into it, and how it is emptied. */
interface Adders {
  readonly ways: Readonly<Record<string, Adder>>
  empty(): Promise<unknown>
  close(): Promise<unknown>
}

const batch = 1_000

/** All of them at once, in groups; each group is awaited. */
async function concurrently(
  keys: readonly string[],
  size: number,
  one: (key: string) => Promise<unknown>,
): Promise<void> {
  for (const some of batchesOf(keys, size)) await Promise.all(some.map(one))
}

async function inBatches(
  keys: readonly string[],
  add: (keys: string[]) => Promise<unknown>,
): Promise<void> {
  for (const some of batchesOf(keys, batch)) await add(some)
}

async function raw(server: Server): Promise<Adders> {
  await server.sql(rawTable)
  const pool = server.pool(8)
  return {
    ways: {
      'raw, unnest of 1,000': { add: (keys) => inBatches(keys, (some) => rawAddMany(pool, some)) },
      'raw, one at a time on 8 connections': {
        share: 0.1,
        add: (keys) => concurrently(keys, batch, (key) => rawAddOne(pool, key)),
      },
      'raw, each awaited': {
        share: 0.02,
        add: (keys) => concurrently(keys, 1, (key) => rawAddOne(pool, key)),
      },
    },
    empty: () => server.sql('truncate raw.jobs'),
    async close() {},
  }
}

async function sluice(server: Server): Promise<Adders> {
  const queue: Queue<string> = createQueue<string>({
    name: 'q',
    driver: postgresDriver({ connectionString: server.url }),
  })
  await queue.len()
  return {
    ways: {
      'queue.add, 1,000 at once': {
        add: (keys) => concurrently(keys, batch, (key) => queue.add(key)),
      },
      'queue.addMany of 1,000': { add: (keys) => inBatches(keys, (some) => queue.addMany(some)) },
      'queue.add, each awaited': {
        share: 0.02,
        add: (keys) => concurrently(keys, 1, (key) => queue.add(key)),
      },
    },
    empty: () => server.sql('truncate sluice.keys'),
    close: () => queue.close(),
  }
}

async function boss(server: Server): Promise<Adders> {
  const jobs = await startBoss(server)
  return {
    ways: {
      'pg-boss send, 1,000 at once': {
        share: 0.04,
        add: (keys) => concurrently(keys, batch, (key) => jobs.send('q', { key })),
      },
      'pg-boss insert of 1,000': {
        add: (keys) =>
          inBatches(keys, (some) =>
            jobs.insert(
              'q',
              some.map((key) => ({ data: { key } })),
            ),
          ),
      },
      'pg-boss send, each awaited': {
        share: 0.01,
        add: (keys) => concurrently(keys, 1, (key) => jobs.send('q', { key })),
      },
    },
    empty: () => emptyBoss(server),
    close: () => jobs.stop(),
  }
}

async function graphile(server: Server): Promise<Adders> {
  const jobs = await startGraphile(server)
  return {
    ways: {
      'graphile addJob, 1,000 at once': {
        share: 0.02,
        add: (keys) => concurrently(keys, batch, (key) => jobs.addJob('job', { key })),
      },
      'graphile addJobs of 1,000': {
        add: (keys) =>
          inBatches(keys, (some) =>
            jobs.addJobs(some.map((key) => ({ identifier: 'job', payload: { key } }))),
          ),
      },
      'graphile addJob, each awaited': {
        share: 0.01,
        add: (keys) => concurrently(keys, 1, (key) => jobs.addJob('job', { key })),
      },
    },
    empty: () => emptyGraphile(server),
    close: async () => jobs.release(),
  }
}

/** What is measured: a raw insert, Sluice and its rivals. */
export const adders: readonly ((server: Server) => Promise<Adders>)[] = [
  raw,
  sluice,
  boss,
  graphile,
]
