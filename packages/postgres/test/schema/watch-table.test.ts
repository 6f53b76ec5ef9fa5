/** Triggers that add the keys of changed rows, on a real table, by plain SQL. */
import type { Driver } from '@sluice/core'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import {
  migrationSql,
  postgresDriver,
  rolesSql,
  type TableWatch,
  watchTable,
  watchTableSql,
} from '../../src/index.ts'
import { installed } from '../support/installed.ts'
import { lockWaits, sql } from '../support/server.ts'
import { sharedServer } from '../support/shared-server.ts'

const server = sharedServer()
let driver: Driver

beforeEach(async () => {
  driver = postgresDriver({ pool: server.pool, onWarning() {} })
  await driver.open({})
  await server.pool.query(`create schema shop;
    create table shop."Orders" (id bigint primary key, customer text, state text, keys text)`)
  return async () => {
    await driver.close()
    await server.pool.query('drop schema shop cascade; drop schema sluice cascade')
  }
})

const orders: Omit<TableWatch, 'schema'> = {
  table: 'shop."Orders"',
  queue: 'customers',
  key: "'customer/' || customer",
}

async function taken(queue = 'customers'): Promise<(readonly [string, unknown])[]> {
  const request = { limit: 100, holder: 'h', claimId: crypto.randomUUID(), leaseMs: 60_000 }
  const { claims } = await driver.claim(queue, request)
  const lease = claims.map(({ key, token }) => ({ as: 'done', key, token, forget: true }) as const)
  await driver.finish(queue, lease, { dedupe: 'client-go', failuresExpireMs: 1 })
  return claims.map(({ key, item }) => [key, item === undefined ? undefined : JSON.parse(item)])
}

async function takenKeys(): Promise<string[]> {
  return (await taken()).map(([key]) => key).sort()
}

test('inserts, updates and deletes add the keys of their rows, old and new', async () => {
  await watchTable({ pool: server.pool }, orders)
  await server.pool.query(
    `insert into shop."Orders" values (1, 'a', 'new'), (2, 'a', 'new'), (3, 'b', 'new')`,
  )
  expect(await takenKeys()).toEqual(['customer/a', 'customer/b'])
  await server.pool.query(`update shop."Orders" set customer = 'c' where id = 3`)
  expect(await takenKeys()).toEqual(['customer/b', 'customer/c'])
  await server.pool.query(`delete from shop."Orders" where id = 1`)
  expect(await takenKeys()).toEqual(['customer/a'])
  await server.pool.query(`update shop."Orders" set customer = 'c' where false`)
  await server.pool.query(`insert into shop."Orders" values (9, null, 'new')`)
  expect(await takenKeys()).toEqual([])
  await server.pool.query(`insert into shop."Orders" values (3, 'c', 'new'), (4, 'd', 'new')
    on conflict (id) do update set customer = excluded.customer || '2'`)
  expect(await takenKeys()).toEqual(['customer/c', 'customer/c2', 'customer/d'])
})

test('keys go with the transaction that changes the rows', async () => {
  await watchTable({ pool: server.pool }, orders)
  const client = await server.pool.connect()
  await client.query(`begin; insert into shop."Orders" values (1, 'undone', 'new'); rollback`)
  await client.query(`begin; insert into shop."Orders" values (1, 'kept', 'new');
    savepoint s; insert into shop."Orders" values (2, 'undone', 'new'); rollback to s`)
  expect(await takenKeys()).toEqual([])
  await client.query('commit')
  client.release()
  expect(await takenKeys()).toEqual(['customer/kept'])
})

test('10,000 rows in one statement add their distinct keys in one go', async () => {
  await watchTable({ pool: server.pool }, orders)
  const client = await server.pool.connect()
  await client.query(`set track_functions = 'all'`)
  await client.query(`insert into shop."Orders"
    select n, 'c' || n % 3000, 'new' from generate_series(1, 10000) n`)
  await client.query('select pg_stat_force_next_flush()')
  client.release(true)
  expect((await driver.counts('customers', { cap: 10_000 })).ready).toBe(3_000)
  const { rows } = await server.pool.query(`select funcname as name, calls::int
    from pg_stat_user_functions where funcname = 'add_many' or funcname like 'add\\_waiting%' order by 1`)
  // In steps of 1,000 keys.
  expect(rows).toEqual([
    { name: 'add_many', calls: 1 },
    { name: installed('add_waiting'), calls: 3 },
  ])
})

test('items, conditions, events, delays and priorities', async () => {
  await watchTable(
    { pool: server.pool },
    {
      ...orders,
      key: 'customer',
      item: "jsonb_build_object('id', id, 'state', state)",
      when: "state <> 'draft'",
      on: ['insert', 'update'],
      priority: 7,
    },
  )
  await server.pool.query(`insert into shop."Orders" values (1, 'a', 'draft'), (2, 'b', 'new')`)
  expect(await taken()).toEqual([['b', { id: 2, state: 'new' }]])
  await server.pool.query(`update shop."Orders" set state = 'paid' where id = 2`)
  expect(await taken()).toEqual([['b', { id: 2, state: 'paid' }]])
  await server.pool.query('delete from shop."Orders"')
  expect(await taken()).toEqual([])
  // Again, with other settings.
  await watchTable(
    { pool: server.pool },
    { ...orders, on: ['delete'], delayMs: 3_600_000, priority: 3 },
  )
  await server.pool.query(`insert into shop."Orders" values (1, 'a', 'draft')`)
  expect((await driver.counts('customers', { cap: 10 })).delayed).toBe(0)
  await server.pool.query('delete from shop."Orders"')
  expect((await driver.list('customers', { limit: 10 })).rows).toMatchObject([
    { key: 'customer/a', state: 'delayed', priority: 3 },
  ])
  expect(await watchTable({ pool: server.pool }, { ...orders, drop: true })).toMatchObject({
    existed: true,
  })
  expect(await watchTable({ pool: server.pool }, { ...orders, drop: true })).toMatchObject({
    existed: false,
  })
  await server.pool.query(
    `insert into shop."Orders" values (1, 'b', 'new'); delete from shop."Orders"`,
  )
  expect((await driver.counts('customers', { cap: 10 })).delayed).toBe(1)
  const left = await server.pool.query(`select from pg_proc where proname like 'sluice%'`)
  expect(left.rowCount).toBe(0)
})

test.each([
  ["json_build_object('id', id)", { id: 1 }],
  ['state::json', { is: 'new' }],
  ["'{}'", {}],
  ['null', undefined],
])('an item may be %s', async (item, value) => {
  await watchTable({ pool: server.pool }, { ...orders, item })
  await server.pool.query(`insert into shop."Orders" values (1, 'a', '{"is":"new"}')`)
  expect(await taken()).toEqual([['customer/a', value]])
})

test('several queues watch one table', async () => {
  await watchTable({ pool: server.pool }, orders)
  await watchTable({ pool: server.pool }, { ...orders, queue: 'states', key: 'state -- by name' })
  await server.pool.query(`insert into shop."Orders" values (1, 'a', 'new')`)
  expect(await takenKeys()).toEqual(['customer/a'])
  expect(await taken('states')).toEqual([['new', undefined]])
})

test('two tables whose names begin with the same letters keep their own triggers', async () => {
  const names = ['2025', '2026'].map(
    (year) => `shop.subscription_billing_events_of_customers_${year}`,
  )
  for (const [index, table] of names.entries()) {
    await server.pool.query(`create table ${table} (id int, c${index} text)`)
    await watchTable(
      { pool: server.pool },
      { table, queue: 'customers', key: `'${index}/' || c${index}` },
    )
  }
  for (const table of names) await server.pool.query(`insert into ${table} values (1, 'x')`)
  expect(await takenKeys()).toEqual(['0/x', '1/x'])
})

test('printed SQL and the function make the same triggers', async () => {
  await sql(server.url, watchTableSql(orders))
  await watchTable({ pool: server.pool }, { ...orders, key: 'customer' })
  await server.pool.query(`insert into shop."Orders" values (1, 'a', 'new')`)
  expect(await takenKeys()).toEqual(['a'])
  await watchTable({ pool: server.pool }, { ...orders, drop: true })
  await server.pool.query(`insert into shop."Orders" values (2, 'a', 'new')`)
  expect(await takenKeys()).toEqual([])
})

test('a table is not watched before the functions are there', async () => {
  await server.pool.query('alter schema sluice rename to elsewhere')
  await expect(watchTable({ pool: server.pool }, orders)).rejects.toThrow(/run `sluice migrate`/)
  await server.pool.query(`insert into shop."Orders" values (1, 'a', 'new')`)
  await server.pool.query('alter schema elsewhere rename to sluice')
})

test('a table that does not exist is named', async () => {
  const error: unknown = await watchTable(
    { pool: server.pool },
    { ...orders, table: 'shop.nowhere' },
  ).catch((thrown) => thrown)
  expect(error).toMatchObject({ code: 'ERR_STORE', retryable: false })
  expect(String(error)).toMatch(/"shop.nowhere" does not exist; name it with its schema/)
  expect(String(error)).not.toMatch(/migrate/)
})

test.each([
  ['key', { key: 'no_such(id)' }, /Orders" cannot be watched: function no_such\(\w+\) does not/],
  ['when', { when: "id like '1%'" }, /cannot be watched: operator does not exist: bigint/],
  ['when', { when: 'customer', item: 'to_jsonb(id)' }, /cannot be watched: argument of WHERE must/],
  ['item', { when: 'id > 1', item: 'nosuch' }, /cannot be watched: column "nosuch" does not exist/],
  ['key', { key: 'id +', item: 'to_jsonb(id)' }, /cannot be watched: syntax error at or near "\)"/],
  ['item: it must be jsonb, as to_jsonb(…) is', { item: 'state' }, /types text and json cannot be/],
  ['item: it must be jsonb, as to_jsonb(…) is', { item: 'id' }, /types bigint and json cannot be/],
  ['item: it must be jsonb, as to_jsonb(…) is', { item: 'null::uuid' }, /could not convert type/],
])('SQL that the server refuses is named: %s of %j', async (name, sqlOf, words) => {
  const error: unknown = await watchTable({ pool: server.pool }, { ...orders, ...sqlOf }).catch(
    (thrown) => thrown,
  )
  expect(error).toMatchObject({ code: 'ERR_STORE', retryable: false })
  expect(String(error)).toMatch(words)
  expect(String(error)).toMatch(/\(SQLSTATE 42\d{3}\); /)
  expect(String(error)).toContain(`; check the SQL of ${name} [`)
  expect(String(error)).not.toMatch(/migrate/)
})

test('a role that does not own the table is told who does that', async () => {
  await server.pool.query(`create role stranger; grant usage on schema shop to stranger;
    grant select, trigger on shop."Orders" to stranger; grant usage on schema sluice to stranger`)
  onTestFinished(async () => {
    await server.pool.query('drop owned by stranger; drop role stranger')
  })
  const connectionString = `${server.url}?options=-c%20role%3Dstranger`
  const error: unknown = await watchTable({ connectionString }, orders).catch((thrown) => thrown)
  expect(error).toMatchObject({ code: 'ERR_STORE', retryable: false })
  expect(String(error)).toMatch(
    /cannot be watched: permission denied for schema shop \(SQLSTATE 42501\); this takes the owner of the table/,
  )
})

test('a table that a long transaction has changed is left alone, and its writers do not wait', async () => {
  const client = await server.pool.connect()
  await client.query(`begin; insert into shop."Orders" values (1, 'a', 'new')`)
  const error: unknown = await watchTable(
    { connectionString: server.url, timeoutMs: 800 },
    orders,
  ).catch((thrown) => thrown)
  const waiting = await server.pool.query(lockWaits)
  await client.query('commit')
  client.release()
  expect(error).toMatchObject({ code: 'ERR_STORE_BUSY', retryable: true })
  expect(String(error)).toMatch(/another transaction .* the table shop."Orders"; repeat it/)
  expect(waiting.rowCount).toBe(0)
  expect(await watchTable({ pool: server.pool }, orders)).toMatchObject({ existed: false })
})

test('names and texts that need quotes; columns named like the variables of the trigger', async () => {
  await sql(server.url, migrationSql({ schema: 'it"s' }))
  const queue = `it's \\ "quoted"`
  await server.pool.query(`create table "shop"."a ""b""" (counted text, rows text)`)
  const text = watchTableSql({
    ...{ table: 'shop."a ""b"""', schema: 'it"s', queue },
    ...{ key: `counted || ' sluice.add \\ ' || rows`, item: 'to_jsonb(counted)' },
  })
  await sql(server.url, text, text)
  await server.pool.query(`set standard_conforming_strings = off; insert into shop."a ""b""" values ('x', 'y');
    reset standard_conforming_strings`)
  const { rows } = await server.pool.query('select queue, key, item from "it""s".keys')
  expect(rows).toEqual([{ queue, key: 'x sluice.add \\ y', item: '"x"' }])
  await server.pool.query('drop schema "it""s" cascade')
})

test('expressions name the columns by the table, too, and its whole row', async () => {
  await watchTable(
    { pool: server.pool },
    { ...orders, key: '"Orders".customer', item: 'to_jsonb("Orders")', when: '"Orders".id > 1' },
  )
  await server.pool.query(`insert into shop."Orders" values (1, 'a', 'new'), (2, 'b', 'new')`)
  const item = { id: 2, customer: 'b', state: 'new', keys: null }
  expect(await taken()).toEqual([['b', item]])
  await server.pool.query(`update shop."Orders" set customer = 'c' where id = 2`)
  expect(await takenKeys()).toEqual(['b', 'c'])
  await server.pool.query(`delete from shop."Orders"`)
  expect(await takenKeys()).toEqual(['c'])
})

test('a role that writes to the table needs only the rights of a producer', async () => {
  await server.pool.query(`create role writer login password 'secret'; create role others;
    grant usage on schema shop to writer; grant insert on shop."Orders" to writer;
    grant select on shop."Orders" to others`)
  expect(await watchTable({ pool: server.pool }, orders)).toMatchObject({
    rolesWithoutRights: ['writer'],
  })
  const removals = { ...orders, queue: 'removals', on: ['delete'] } as const
  expect(await watchTable({ pool: server.pool }, removals)).toMatchObject({
    rolesWithoutRights: [],
  })
  await watchTable({ pool: server.pool }, { ...removals, drop: true })
  const url = new URL(server.url)
  url.username = 'writer'
  const insert = `insert into shop."Orders" values (1, 'a', 'new')`
  await expect(sql(url.href, insert)).rejects.toThrow(/permission denied for schema sluice/)
  const roles = { owner: 'others', runtime: 'others', readOnly: 'others', producer: 'writer' }
  await server.pool.query(rolesSql(roles))
  expect(await watchTable({ pool: server.pool }, orders)).toMatchObject({ rolesWithoutRights: [] })
  await sql(url.href, insert)
  expect(await takenKeys()).toEqual(['customer/a'])
})

test('a text in the place of what to watch is refused as such', async () => {
  const watching = watchTable({ pool: server.pool }, 'orders' as never)
  await expect(watching).rejects.toThrow("watch must be an object; got 'orders'")
})

test('an expression with a mistake is refused, and the table stays as it was', async () => {
  await watchTable({ pool: server.pool }, orders)
  const inNoTrigger = [{ key: 'shop."Orders".customer' }, { key: 'ctid' }]
  const wrongs = [{ key: 'nothing' }, { when: 'customer' }, { item: 'id::json ->' }]
  for (const wrong of [...wrongs, ...inNoTrigger]) {
    await expect(watchTable({ pool: server.pool }, { ...orders, ...wrong })).rejects.toMatchObject({
      code: 'ERR_STORE',
      retryable: false,
    })
  }
  await server.pool.query(`insert into shop."Orders" values (1, 'a', 'new')`)
  expect(await takenKeys()).toEqual(['customer/a'])
})

test.each([
  [{ table: 'orders; drop table x' }, /table/],
  [{ table: 'a.b.c' }, /table/],
  [{ queue: '' }, /queue/],
  [{ key: ' ' }, /key/],
  [{ key: 'a $sluice_watch$ b' }, /key/],
  [{ on: [] }, /on/],
  [{ on: ['truncate'] }, /on/],
  [{ priority: 1.5 }, /priority/],
  [{ delayMs: NaN }, /delayMs/],
  [{ schema: 'a$b' }, /schema/],
] as const)('%o is refused', (wrong, message) => {
  expect(() => watchTableSql({ ...orders, ...wrong } as TableWatch)).toThrow(message)
})
