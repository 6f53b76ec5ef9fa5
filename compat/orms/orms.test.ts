/** `queue.within` with the transactions of real libraries, on a real server. */
import { execFileSync } from 'node:child_process'
import { postgresDriver } from '@sluice/postgres'
import { type PostgresServer, testPostgres } from '@sluice/test-postgres'
import pg from 'pg'
import { createRateLimitingQueue, exponential, type RateLimitingQueue } from 'sluice'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { untilAlone } from '../pages/servers.ts'
import { openAdapter } from './adapter.ts'
import { openDrizzle, openDrizzlePostgresJs } from './drizzle.ts'
import { openKnex } from './knex.ts'
import { openKysely, openKyselyWithPlugins } from './kysely.ts'
import { openMikroOrm } from './mikro-orm.ts'
import type { OpenOrm, Orm } from './orm.ts'
import { openPostgresJs, openPostgresJsInCamelCase } from './postgres-js.ts'
import { orderIds, testTransactions } from './transactions.ts'
import { openTypeormManager, openTypeormRunner } from './typeorm.ts'

const libraries: Readonly<Record<string, OpenOrm>> = {
  'Drizzle on pg': openDrizzle,
  'Drizzle on postgres.js': openDrizzlePostgresJs,
  Kysely: openKysely,
  'Kysely with plugins': openKyselyWithPlugins,
  Knex: openKnex,
  'TypeORM, query runner': openTypeormRunner,
  'TypeORM, entity manager': openTypeormManager,
  MikroORM: openMikroOrm,
  'postgres.js': openPostgresJs,
  'postgres.js in camel case': openPostgresJsInCamelCase,
  Prisma: async (url, queue) => (await import('./prisma.ts')).openPrisma(url, queue),
  'an adapter': openAdapter,
}

let server: PostgresServer
let pool: pg.Pool

beforeAll(async () => {
  // The client that Prisma writes from its schema. It migrates nothing, so it needs no engine for that.
  const bin = `${import.meta.dirname}/../node_modules/.bin/prisma`
  execFileSync(bin, ['generate', '--schema', `${import.meta.dirname}/schema.prisma`], {
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' },
    stdio: 'pipe',
  })
  server = await testPostgres()
  pool = new pg.Pool({ connectionString: server.url })
})

afterAll(async () => {
  await pool.end()
  await untilAlone(server.url)
  await server.dispose()
})

describe.each(Object.entries(libraries))('%s', (_, open) => {
  let queue: RateLimitingQueue<string>
  let orm: Orm

  beforeEach(async () => {
    await pool.query('create table orders (id int primary key)')
    queue = createRateLimitingQueue<string>({
      name: 'orders',
      driver: postgresDriver({ pool, schema: 'orm' }),
      limiter: exponential({ baseMs: 60_000, maxMs: 60_000 }),
    })
    await queue.len()
    orm = await open(server.url, queue)
    return async () => {
      await orm.close()
      await queue.close()
      await pool.query('drop table orders; drop schema orm cascade')
    }
  })

  const query = async (text: string) => (await pool.query(text)).rows

  testTransactions(() => ({ queue, library: orm, query, isOneConnection: false }))

  test('a locked key rejects, and the transaction can go on where the library lets it', async () => {
    await queue.add('order/1')
    const locker = await pool.connect()
    try {
      await locker.query('begin; select from orm.keys for update')
      const going = orm.transaction(async ({ within, insert }) => {
        await expect(within.add('order/1')).rejects.toMatchObject({
          code: 'ERR_STORE_BUSY',
          retryable: true,
        })
        await within.add('order/2')
        await insert(1)
      })
      const ends = orm.endsAfterErrors === true
      if (ends) await expect(going).rejects.toThrow()
      else await going
      expect(await orderIds({ query })).toEqual(ends ? [] : [1])
      expect((await queue.inspect.get('order/2'))?.state).toBe(ends ? undefined : 'ready')
    } finally {
      await locker.query('rollback')
      locker.release()
    }
  })
})
