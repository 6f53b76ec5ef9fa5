/** Fencing tokens after a server without the last of them has taken over: a replica that lagged, or a backup. */
import { PGlite } from '@electric-sql/pglite'
import type { Driver } from '@sluice/core'
import type pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { postgresDriver } from '../../src/index.ts'
import { poolOf, sql } from '../support/server.ts'
import { sharedServer } from '../support/shared-server.ts'

const server = sharedServer()

async function openDriver(schema: string, pool?: pg.Pool): Promise<Driver> {
  const target = pool === undefined ? { connectionString: server.url } : { pool }
  const driver = postgresDriver({ ...target, schema, onWarning() {} })
  await driver.open({})
  onTestFinished(async () => {
    await driver.close()
    await pool?.end()
  })
  return driver
}

/** Adds and claims a key, again after an error. */
async function tokenOf(driver: Driver, key: string): Promise<number> {
  const options = { dedupe: 'client-go', failuresExpireMs: 60_000 } as const
  const ask = { key, item: undefined, priority: 0, delayMs: 0 }
  const added = async (): Promise<number> => (await driver.add('q', [ask], options)).length
  await expect.poll(() => added().catch(() => 0)).toBe(1)
  const request = { limit: 1, holder: 'holder', claimId: key, leaseMs: 60_000 }
  const { claims } = await driver.claim('q', request)
  return claims[0]?.token ?? Number.NaN
}

/** The rows and the counter are as they were at `token`, and all connections have ended. */
async function failOver(schema: string, token: string): Promise<void> {
  await sql(
    server.url,
    `delete from ${schema}.keys; select setval('${schema}.token', ${token})`,
    `select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()
      and datname = current_database()`,
  )
}

/** The last token that the store has given out. */
async function lastOf(schema: string): Promise<string> {
  const [result] = await sql(server.url, `select last_value from ${schema}.token`)
  return String(result?.rows[0].last_value)
}

test.each([
  ['the process that had them', false, false],
  ['a process that starts', true, false],
  ['a process that sends everything in transactions', false, true],
])('no token is given out twice by %s', async (_, isNew, usesTransactions) => {
  const schema = `failover_${Number(isNew)}_${Number(usesTransactions)}`
  const pool = poolOf(server.url, 1)
  if (usesTransactions) {
    pool.on('connect', (client) => {
      client.query("set default_transaction_isolation = 'serializable'").catch(() => {})
    })
  }
  const first = await openDriver(schema, pool)
  const before = await lastOf(schema)
  const tokens = [await tokenOf(first, 'a'), await tokenOf(first, 'b')]
  await failOver(schema, before)
  const next = isNew ? await openDriver(schema) : first
  expect(await tokenOf(next, 'c')).toBeGreaterThan(Math.max(...tokens))
})

test('a counter that is beyond the present is not set back', async () => {
  const schema = 'beyond'
  const driver = await openDriver(schema)
  await sql(server.url, `select setval('${schema}.token', 9007199254740000)`)
  expect(await tokenOf(driver, 'a')).toBe(9007199254740001)
})

test('claims that draw tokens while another connection raises them get each token once', async () => {
  const schema = 'racing'
  const driver = await openDriver(schema)
  const token = await tokenOf(driver, 'a')
  const [, found] = await sql(
    server.url,
    // Beyond the clock, so that the test decides where tokens are raised to: just beyond the last one.
    `select setval('${schema}.token', ${token + 1e9})`,
    `select p.oid::regproc::text as name from pg_proc p
      where p.pronamespace = '${schema}'::regnamespace and p.proname like 'raise_tokens_%'`,
  )
  const raising = sql(
    server.url,
    `do $$ begin
      for i in 1 .. 20000 loop
        perform ${found?.rows[0].name}(
          (pg_sequence_last_value('${schema}.token') + 60 * random()) / 1000.0);
      end loop;
    end $$`,
  )
  const drawing = sql(
    server.url,
    `do $$ declare before bigint := 0; drawn bigint; begin
      for i in 1 .. 1000000 loop
        drawn := nextval('${schema}.token');
        if drawn <= before then raise exception 'token % came after %', drawn, before; end if;
        before := drawn;
      end loop;
    end $$`,
  )
  await Promise.all([raising, drawing])
})

test('a copy without the values of sequences gives out no token before it is migrated', async () => {
  const schema = 'unnumbered'
  const driver = await openDriver(schema)
  const before = await tokenOf(driver, 'a')
  await sql(
    server.url,
    `alter sequence ${schema}.token restart`,
    `select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()
      and datname = current_database()`,
  )
  await expect(tokenOf(driver, 'b')).rejects.toMatchObject({
    code: 'ERR_STORE',
    retryable: true,
    message: expect.stringMatching(/no values, as after logical replication; run sluice migrate/),
  })
  await openDriver(schema)
  expect(await tokenOf(driver, 'b')).toBeGreaterThan(before)
})

test('a PGlite that was set back gives out greater tokens to a driver that opens it', async () => {
  const client = await PGlite.create()
  const open = async (): Promise<Driver> => {
    const driver = postgresDriver({ client, onWarning() {} })
    await driver.open({})
    onTestFinished(() => driver.close())
    return driver
  }
  onTestFinished(() => client.close())
  const first = await open()
  const token = await tokenOf(first, 'a')
  await client.exec(`delete from sluice.keys; select setval('sluice.token', ${token - 1})`)
  expect(await tokenOf(await open(), 'b')).toBeGreaterThan(token)
})
