// Waits for keys at the address that it is given, and tells its parent when it begins with one:
// `latency-worker.ts URL bare|queue`.
import { createRequire } from 'node:module'
import type pgModule from 'pg'
import { postgresDriver } from '../../../packages/postgres/src/index.ts'
import { createQueue, createWorker } from '../../../packages/queue/src/index.ts'
import { rawClaim } from './raw-table.ts'

const requireThere = createRequire(
  new URL('../../../packages/postgres/package.json', import.meta.url),
)
const pg = requireThere('pg') as typeof pgModule
const [connectionString = '', way = ''] = process.argv.slice(2)

function begins(): void {
  process.send?.(Number(process.hrtime.bigint()) / 1e6)
}

if (way === 'bare') {
  const pool = new pg.Pool({ connectionString, max: 1 })
  await rawClaim(pool, 1)
  const client = new pg.Client({ connectionString })
  await client.connect()
  client.on('notification', () => {
    void rawClaim(pool, 1).then((claimed) => {
      if (claimed.length > 0) begins()
    })
  })
  await client.query('listen bare')
} else {
  const driver = postgresDriver({ connectionString })
  const queue = createQueue<string>({ name: 'latency', driver })
  await queue.len()
  // So that it is certain that hints come. Waiting for that keeps no process alive; its parent does.
  process.on('message', () => {})
  await driver.watch?.(() => {})
  createWorker({ queue, concurrency: 1, handler: async () => begins() })
}
process.send?.(0)
