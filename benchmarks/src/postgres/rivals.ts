import { Logger, makeWorkerUtils, type Runner, run, type WorkerUtils } from 'graphile-worker'
import type pg from 'pg'
import { PgBoss } from 'pg-boss'
import type { Connections } from './server.ts'

const quiet = new Logger(() => () => {})

/** How many connections a rival gets; more were not faster on 2 cores. */
const connections = 10

/** A pool that stays open between the turns. */
export function graphilePool(server: Connections): pg.Pool {
  const pool = server.pool(connections)
  // Without it the library says so, for every connection.
  pool.on('connect', (client) => client.on('error', () => {}))
  return pool
}

/** pg-boss with one queue, without its own housekeeping, which would only cost it time here. */
export async function startBoss(server: Connections): Promise<PgBoss> {
  const boss = new PgBoss({
    connectionString: server.url,
    max: connections,
    supervise: false,
    schedule: false,
  })
  boss.on('error', (error) => console.error(error))
  await boss.start()
  await boss.createQueue('q', { retryLimit: 0 })
  return boss
}

export async function emptyBoss(server: Connections): Promise<void> {
  await server.sql('truncate pgboss.job')
}

/** graphile-worker as a producer uses it. */
export async function startGraphile(server: Connections): Promise<WorkerUtils> {
  const utils = await makeWorkerUtils({
    pgPool: graphilePool(server),
    logger: quiet,
  })
  await utils.migrate()
  return utils
}

export async function emptyGraphile(server: Connections): Promise<void> {
  await server.sql('truncate graphile_worker._private_jobs')
}

/** graphile-worker as a worker: a local queue of jobs, and completions in batches. */
export async function runGraphile(
  pool: pg.Pool,
  handler: () => void | Promise<void>,
  concurrency = 24,
  localQueue = 500,
): Promise<Runner> {
  return await run({
    pgPool: pool,
    noHandleSignals: true,
    logger: quiet,
    taskList: { job: async () => handler() },
    preset: {
      worker: {
        concurrentJobs: concurrency,
        ...(localQueue === 0 ? {} : { localQueue: { size: localQueue } }),
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    },
  })
}
