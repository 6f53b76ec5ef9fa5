import { postgresDriver } from '../../../packages/postgres/src/index.ts'
import { createQueue, createWorker } from '../../../packages/queue/src/index.ts'
import { rawWorker } from './raw-worker.ts'
import {
  emptyBoss,
  emptyGraphile,
  graphilePool,
  runGraphile,
  startBoss,
  startGraphile,
} from './rivals.ts'
import type { Connections } from './server.ts'
import { batchesOf } from './turns.ts'

/** What a handler does: nothing, or wait for so many milliseconds. */
export type HandlerMs = 0 | 1 | 5 | 20

/** A worker with some handlers at a time, on keys that are there before it starts. */
export interface WorkerSide {
  fill(keys: readonly string[]): Promise<void>
  /** Starts, calls `handler` for each key, and ends when `all` has resolved and everything is done. */
  work(concurrency: number, handler: () => Promise<void>, all: Promise<void>): Promise<void>
  end(): Promise<unknown>
}

/** Waits, or does not: the work of a handler. */
export async function work(ms: HandlerMs): Promise<void> {
  // Not rounded: a timer that fires early or late does so for all sides.
  if (ms > 0) await new Promise<void>((resolve) => setTimeout(resolve, ms))
}

/** The same handlers in loops, without a queue. */
async function bareLoop(): Promise<WorkerSide> {
  let left = 0
  return {
    async fill(keys) {
      left = keys.length
    },
    async work(concurrency, handler) {
      const loop = async (): Promise<void> => {
        while (left > 0) {
          left -= 1
          await handler()
        }
      }
      await Promise.all(Array.from({ length: concurrency }, loop))
    },
    end: async () => undefined,
  }
}

/** The queue with its defaults. */
async function sluice(server: Connections): Promise<WorkerSide> {
  const queue = createQueue<string>({
    name: 'working',
    driver: postgresDriver({ connectionString: server.url }),
  })
  await queue.len()
  return {
    async fill(keys) {
      await server.sql('truncate sluice.keys')
      for (const some of batchesOf(keys, 1_000)) await queue.addMany(some)
    },
    async work(concurrency, handler, all) {
      const worker = createWorker({ queue, concurrency, handler })
      await all
      // When it has stopped, the store has acknowledged everything.
      await worker.stop()
    },
    end: () => queue.close(),
  }
}

/** graphile-worker with a local queue of a size. */
const graphile =
  (size: number) =>
  async (server: Connections): Promise<WorkerSide> => {
    const jobs = await startGraphile(server)
    const pool = graphilePool(server)
    return {
      async fill(keys) {
        await emptyGraphile(server)
        for (const some of batchesOf(keys, 1_000)) {
          await jobs.addJobs(some.map((key) => ({ identifier: 'job', payload: { key } })))
        }
      },
      async work(concurrency, handler, all) {
        const runner = await runGraphile(pool, handler, concurrency, size)
        await all
        await runner.stop()
      },
      end: async () => jobs.release(),
    }
  }

/**
 * pg-boss: one worker that fetches batches of a size without a pause while they are full, and runs as
 * many handlers of a batch at a time as the others do.
 */
const boss =
  (batchSize: number) =>
  async (server: Connections): Promise<WorkerSide> => {
    const jobs = await startBoss(server)
    return {
      async fill(keys) {
        await emptyBoss(server)
        for (const some of batchesOf(keys, 1_000)) {
          await jobs.insert(
            'q',
            some.map((key) => ({ data: { key } })),
          )
        }
      },
      async work(concurrency, handler, all) {
        const size = batchSize === 0 ? concurrency : batchSize
        const options = { batchSize: size, pollingIntervalSeconds: 0.5, burstWhenBatchFull: true }
        const id = await jobs.work('q', options, async (batch) => {
          let next = 0
          const loop = async (): Promise<void> => {
            while (next < batch.length) {
              next += 1
              await handler()
            }
          }
          await Promise.all(Array.from({ length: concurrency }, loop))
        })
        await all
        await jobs.offWork('q', { id, wait: true })
      },
      end: () => jobs.stop(),
    }
  }

/** The sides, each with its settings. Of a rival, the best of its settings counts. */
export const workerSides: Readonly<Record<string, (server: Connections) => Promise<WorkerSide>>> = {
  'bare loop': bareLoop,
  'raw statements': rawWorker,
  'sluice, defaults': sluice,
  'graphile-worker, local queue 0': graphile(0),
  'graphile-worker, local queue 100': graphile(100),
  'graphile-worker, local queue 500': graphile(500),
  'pg-boss, batches as large as the concurrency': boss(0),
  'pg-boss, batches of 100': boss(100),
  'pg-boss, batches of 500': boss(500),
}
