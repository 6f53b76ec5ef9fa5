import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { postgresDriver } from '../../../packages/postgres/src/index.ts'
import { createQueue } from '../../../packages/queue/src/index.ts'
import { rawTable } from './raw-table.ts'
import type { Server } from './server.ts'

interface Way {
  readonly child: ChildProcess
  readonly found: number[]
  add(key: string): Promise<unknown>
}

function next(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once('message', (at) => resolve(at as number))
  })
}

async function waiting(server: Server, way: string): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, 'latency-worker.ts'), [server.url, way], {
    execArgv: ['--conditions=sluice-source', '--no-warnings'],
  })
  const ended = new Promise<never>((_, reject) => {
    child.once('exit', (code) => reject(new Error(`the process that waits ${way} ended: ${code}`)))
  })
  ended.catch(() => {})
  await Promise.race([next(child), ended])
  return child
}

/**
 * How long it takes from before an add in this process until a waiter in another one
 * begins with the key, in milliseconds: by hand, with one statement that inserts and notifies and
 * one that claims; and through the queue. The two take turns.
 */
export async function latencies(
  server: Server,
  count: number,
): Promise<Readonly<Record<string, readonly number[]>>> {
  await server.sql(rawTable)
  const queue = createQueue<string>({
    name: 'latency',
    driver: postgresDriver({ connectionString: server.url }),
  })
  await queue.len()
  const client = await server.client()
  const insert = {
    name: 'insert-and-notify',
    text: `with i as (insert into raw.jobs (queue, key) values ('q', $1))
      select pg_notify('bare', '')`,
  }
  const ways: Record<string, Way> = {
    'by hand': {
      child: await waiting(server, 'bare'),
      found: [],
      add: (key) => client.query({ ...insert, values: [key] }),
    },
    queue: { child: await waiting(server, 'queue'), found: [], add: (key) => queue.add(key) },
  }
  for (let nth = -5; nth < count; nth += 1) {
    for (const { child, found, add } of Object.values(ways)) {
      await setTimeout(20 + ((nth * 7) % 13))
      const begins = next(child)
      const askedAt = Number(process.hrtime.bigint()) / 1e6
      await add(`key-${nth}`)
      const ms = (await begins) - askedAt
      if (nth >= 0) found.push(ms)
    }
  }
  for (const { child } of Object.values(ways)) child.kill()
  await queue.close()
  return Object.fromEntries(Object.entries(ways).map(([name, { found }]) => [name, found]))
}
