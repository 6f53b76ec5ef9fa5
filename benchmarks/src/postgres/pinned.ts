import { randomUUID } from 'node:crypto'
import { postgresDriver } from '../../../packages/postgres/src/index.ts'
import { rawAddMany, rawClaim, rawRemove, rawTable } from './raw-table.ts'
import type { Server } from './server.ts'
import { record, type Samples } from './turns.ts'

const askOptions = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const
const batch = 500

/** Adds, claims and finishes some keys. */
type Step = () => Promise<void>

async function steps(server: Server, url: string): Promise<Readonly<Record<string, Step>>> {
  const driver = postgresDriver({ connectionString: url, poolSize: 2 })
  await driver.open({})
  const pool = server.pool(1, url)
  await pool.query(rawTable)
  let made = 0
  const keys = (): string[] =>
    Array.from({ length: batch }, () => {
      made += 1
      return `key-${made}`
    })
  return {
    async driver() {
      const asks = keys().map((key) => ({ key, item: undefined, priority: 0, delayMs: 0 }))
      await driver.add('q', asks, askOptions)
      const request = { limit: batch, holder: 'holder', claimId: randomUUID(), leaseMs: 30_000 }
      const { claims } = await driver.claim('q', request)
      const done = claims.map(
        ({ key, token }) => ({ as: 'done', key, token, forget: true }) as const,
      )
      await driver.finish('q', done, askOptions)
    },
    async 'by hand'() {
      await rawAddMany(pool, keys())
      await rawRemove(pool, await rawClaim(pool, batch))
    },
  }
}

/**
 * Keys that are added, claimed and finished in batches of 500, in windows of so many milliseconds
 * one after another: in a database in which an idle transaction keeps all that is dead from being
 * cleaned up, and in one where nothing does.
 */
export async function pinned(server: Server, windows: number, windowMs: number): Promise<Samples> {
  const samples: Samples = {}
  await server.sql('create database pinned')
  const other = new URL(server.url)
  other.pathname = '/pinned'
  const places = {
    free: await steps(server, server.url),
    pinned: await steps(server, other.href),
  }
  for (const step of Object.values(places)) for (const run of Object.values(step)) await run()
  const holder = server.pool(1, other.href)
  const client = await holder.connect()
  await client.query('begin isolation level repeatable read')
  await client.query('select 1')
  for (let window = 0; window < windows; window += 1) {
    for (const [place, ways] of Object.entries(places)) {
      for (const [name, step] of Object.entries(ways)) {
        const startedAt = performance.now()
        let count = 0
        while (performance.now() - startedAt < windowMs) {
          await step()
          count += batch
        }
        record(samples, `${name}, ${place}`, { perMs: count / (performance.now() - startedAt) })
      }
    }
  }
  await client.query('rollback')
  client.release()
  return samples
}
