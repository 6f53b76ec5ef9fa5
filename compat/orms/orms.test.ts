/** `queue.within` with the transactions of real libraries, on a real server. */
import { execFileSync } from 'node:child_process'
import { postgresDriver } from '@sluice/postgres'
import { type PostgresServer, testPostgres } from '@sluice/test-postgres'
import pg from 'pg'
import { createRateLimitingQueue, exponential, type RateLimitingQueue } from 'sluice'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openAdapter } from './adapter.ts'
import { openDrizzle, openDrizzlePostgresJs } from './drizzle.ts'
import { openKnex } from './knex.ts'
import { openKysely } from './kysely.ts'
import { openMikroOrm } from './mikro-orm.ts'
import { oddKeys } from './odd-keys.ts'
import type { OpenOrm, Orm } from './orm.ts'
import { openPostgresJs } from './postgres-js.ts'
import { openTypeormManager, openTypeormRunner } from './typeorm.ts'

const libraries: Readonly<Record<string, OpenOrm>> = {
  'Drizzle on pg': openDrizzle,
  'Drizzle on postgres.js': openDrizzlePostgresJs,
  Kysely: openKysely,
  Knex: openKnex,
  'TypeORM, query runner': openTypeormRunner,
  'TypeORM, entity manager': openTypeormManager,
  MikroORM: openMikroOrm,
  'postgres.js': openPostgresJs,
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

/** Waits for connections that a library has given up, and the server has not closed yet. */
async function untilAlone(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const others =
    "select 1 from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()"
  while ((await client.query(others)).rows.length > 0);
  await client.end()
}

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

  const rows = async (): Promise<number[]> =>
    (await pool.query('select id from orders order by id')).rows.map(({ id }) => id)

  test('a row and its keys are there together, after the commit', async () => {
    const waiting = queue.get()
    await orm.transaction(async ({ within, insert }) => {
      await insert(1)
      expect(await within.add('order/1')).toBe('added')
      expect(await within.add('order/1', { priority: 5 })).toBe('moved')
      expect(await within.addMany(['order/2', 'order/1'])).toEqual(['added', 'unchanged'])
      expect(await within.addAfter('order/3', 60_000)).toBe('added')
      await insert(2)
      expect(await queue.len()).toBe(0)
    })
    expect(await rows()).toEqual([1, 2])
    const held = await waiting
    expect(held?.item).toBe('order/1')
    expect(await queue.inspect.counts()).toMatchObject({ ready: 1, delayed: 1, processing: 1 })
    await held?.done()
  })

  test('a rollback leaves neither', async () => {
    const rollsBack = orm.transaction(async ({ within, insert }) => {
      await insert(1)
      await within.addMany(['order/1', 'order/2'])
      throw new Error('rolled back')
    })
    await expect(rollsBack).rejects.toThrow('rolled back')
    expect(await rows()).toEqual([])
    expect(await queue.inspect.counts()).toMatchObject({ ready: 0, delayed: 0 })
  })

  test('keys come back as they were, whatever they contain', async () => {
    await orm.transaction(async ({ within }) => {
      expect(await within.addMany(oddKeys)).toEqual(oddKeys.map(() => 'added'))
      expect(await within.addMany(oddKeys)).toEqual(oddKeys.map(() => 'unchanged'))
    })
    const held = await queue.getMany(10)
    expect(held.map(({ item }) => item)).toEqual(oddKeys)
    await queue.doneMany(held)
  })

  test('a run ends with what it wrote', async () => {
    await queue.addMany(['order/1', 'order/2'])
    const [first, second] = await queue.getMany(2)
    if (first === undefined || second === undefined) throw new Error('there are two keys')
    await orm.transaction(async ({ within, insert }) => {
      await insert(1)
      expect(await within.done(first, { forget: true })).toBe('idle')
      expect(await within.retry(second, new Error("it's ? broken"))).toBe('delayed')
    })
    expect(await queue.inspect.counts()).toMatchObject({ processing: 0, backoff: 1 })
    const { rows: errors } = await pool.query('select last_error from orm.keys')
    expect(errors[0].last_error).toContain("it's ? broken")
  })

  /** Does `work`, which catches an error of a verb, and then writes a row and the key order/2. */
  async function goesOn(
    work: Parameters<Orm['transaction']>[0],
    isServerError: boolean,
  ): Promise<void> {
    const going = orm.transaction(work)
    const ends = isServerError && orm.endsAfterErrors === true
    if (ends) await expect(going).rejects.toThrow()
    else await going
    const left = ends ? 0 : 1
    expect(await rows()).toHaveLength(left)
    expect((await queue.inspect.get('order/2'))?.state).toBe(left === 1 ? 'ready' : undefined)
  }

  test('a lost lease rejects, and the transaction can go on', async () => {
    await queue.add('order/1')
    const held = await queue.get()
    if (held === undefined) throw new Error('there is a key')
    await pool.query('update orm.keys set token = token + 1')
    await goesOn(async ({ within, insert }) => {
      await within.add('order/2')
      await expect(within.done(held)).rejects.toMatchObject({ code: 'ERR_LEASE_LOST' })
      await insert(1)
    }, false)
  })

  test('a locked key rejects, and the transaction can go on', async () => {
    await queue.add('order/1')
    const locker = await pool.connect()
    try {
      await locker.query('begin; select from orm.keys for update')
      await goesOn(async ({ within, insert }) => {
        await expect(within.add('order/1')).rejects.toMatchObject({
          code: 'ERR_STORE_BUSY',
          retryable: true,
        })
        await within.add('order/2')
        await insert(1)
      }, true)
    } finally {
      await locker.query('rollback')
      locker.release()
    }
  })

  test('where no transaction is open, nothing is added', async () => {
    await expect(orm.outside().add('order/1')).rejects.toMatchObject({
      code: 'ERR_INVALID_INPUT',
      parameter: 'transaction',
    })
    expect(await queue.len()).toBe(0)
  })
})
