import { setTimeout } from 'node:timers/promises'
import { postgresDriver } from '../../../packages/postgres/src/index.ts'
import { createQueue, createWorker } from '../../../packages/queue/src/index.ts'
import type { Server } from './server.ts'

/** What a queue with one waiting worker and nothing to do sends in so many milliseconds, by text. */
export async function idleStatements(
  server: Server,
  ms: number,
): Promise<Readonly<Record<string, number>>> {
  await server.sql('create extension if not exists pg_stat_statements')
  const driver = postgresDriver({ connectionString: server.url })
  const queue = createQueue<string>({ name: 'idle', driver })
  await queue.len()
  await driver.watch?.(() => {})
  const worker = createWorker({ queue, handler: async () => {} })
  // Until everything that is done once has been done.
  await setTimeout(5_000)
  await server.sql('select pg_stat_statements_reset()')
  await setTimeout(ms)
  const { rows } = await server.sql(
    `select left(regexp_replace(query, '\\s+', ' ', 'g'), 60) as text, calls::int as calls
    from pg_stat_statements where toplevel and query not like '%pg_stat_statements%' order by 2 desc`,
  )
  await worker.stop()
  await queue.close()
  return Object.fromEntries(rows.map(({ text, calls }) => [text as string, calls as number]))
}
