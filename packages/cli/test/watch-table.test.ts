/** `sluice watch`: triggers on a table of a real server. */
import pg from 'pg'
import { expect, test } from 'vitest'
import { cli, json, output } from './cli.ts'
import { newFile, postgresForFile } from './stores.ts'

const postgres = postgresForFile()

async function sql(...texts: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: postgres.url() })
  await client.connect()
  for (const text of texts) await client.query(text)
  await client.end()
}

async function keysIn(store: string, queue: string): Promise<string[]> {
  return (await output(['ls', queue, '-o', 'name'], { store })).split('\n').filter(Boolean)
}

test('a watched table adds keys until the triggers are dropped', async () => {
  const store = await postgres.fresh()
  await sql('create table orders (id int primary key, state text)')
  const argv = ['watch', 'orders', '--key', "'order/' || id", '--when', "state <> 'draft'"]
  expect(await output(argv, { store })).toBe('changes of orders add keys to orders\n')
  await sql(`insert into orders values (1, 'new'), (2, 'draft')`)
  expect(await keysIn(store, 'orders')).toEqual(['order/1'])
  expect(await json(['watch', 'orders', '--queue', 'orders', '--drop'], { store })).toMatchObject({
    table: 'orders',
    queue: 'orders',
    watched: false,
  })
  await sql(`insert into orders values (3, 'new')`)
  expect(await keysIn(store, 'orders')).toEqual(['order/1'])
  await sql('drop table orders')
})

test('dropping triggers that are not there is no success', async () => {
  const store = await postgres.fresh()
  await sql('create table lines (id int primary key)')
  await output(['watch', 'lines', '--queue', 'orders', '--key', 'id'], { store })
  const missed = ['watch', 'lines', '--drop']
  expect(await cli(missed, { store })).toEqual({
    code: 4,
    out: '',
    err: expect.stringMatching(/no triggers of lines .* queue lines.*--queue/),
  })
  await sql('insert into lines values (1)')
  expect(await keysIn(store, 'orders')).toEqual(['1'])
  const dropped = ['watch', 'lines', '--queue', 'orders', '--drop']
  expect(await output(dropped, { store })).toBe('lines no longer adds keys to orders\n')
  expect(await cli(dropped, { store })).toMatchObject({ code: 4 })
  await sql('drop table lines')
})

test('the SQL that is printed does the same; events, delays, priorities and items', async () => {
  const store = await postgres.fresh()
  await sql('create table parts (id int primary key)')
  const argv = ['watch', 'parts', '--key', 'id', '--item', 'to_jsonb(id)', '--on', 'insert, delete']
  const text = await output(
    [...argv, '--queue', 'q', '--after', '1h', '--priority', '5', '--print-sql'],
    { store },
  )
  await sql(text, 'insert into parts values (1), (2)', 'update parts set id = 3 where id = 2')
  const { keys } = await json<{ keys: object[] }>(['ls', 'q'], { store })
  expect(keys).toMatchObject([
    { key: '1', item: 1, state: 'delayed', priority: 5 },
    { key: '2', item: 2, state: 'delayed', priority: 5 },
  ])
  await sql('drop table parts')
})

test('roles whose changes fail from now on are named', async () => {
  const store = await postgres.fresh()
  await sql(
    'create table wares (id int primary key)',
    'create role seller; grant update (id) on wares to seller',
  )
  const argv = ['watch', 'wares', '--key', 'id']
  const { code, out, err } = await cli(argv, { store })
  expect([code, out]).toEqual([0, 'changes of wares add keys to wares\n'])
  expect(err).toMatch(/changes of wares by seller fail from now on/)
  expect(await json(argv, { store })).toEqual({
    ...{ store: expect.stringContaining('postgres:'), table: 'wares', queue: 'wares' },
    ...{ watched: true, rolesWithoutRights: ['seller'] },
  })
  const dropped = await json(['watch', 'wares', '--drop'], { store })
  expect(Object.keys(dropped)).toEqual(['store', 'table', 'queue', 'watched'])
  await sql('drop table wares; drop role seller')
})

test('what is refused', async () => {
  const store = postgres.bare()
  const wrong = async (argv: readonly string[], where = store): Promise<string> => {
    const { code, err } = await cli(['watch', ...argv], { store: where })
    expect(code, argv.join(' ')).toBe(2)
    return err
  }
  expect(await wrong(['orders'])).toMatch(/--key/)
  expect(await wrong(['orders', '--key', 'id', '--on', 'truncate'])).toMatch(/--on must be some of/)
  expect(await wrong(['orders', '--key', 'id', '--priority', '2000'])).toMatch(/--priority/)
  expect(await wrong(['a b', '--key', 'id'])).toMatch(/^sluice: TABLE must be .*\[ERR_USAGE\]\n$/)
  expect(await wrong(['orders', '--key', 'id', '--after', '11000000h'])).toMatch(/--after must be/)
  expect(await wrong(['orders', '--key', 'id'], newFile())).toMatch(/only Postgres has triggers/)
  const missing = await cli(['watch', 'nowhere', '--key', 'id'], { store: await postgres.fresh() })
  expect(missing).toMatchObject({ code: 1, err: expect.stringContaining('"nowhere"') })
  const empty = await cli(['watch', 'pg_class', '--key', 'relname'], { store: postgres.bare() })
  expect(empty).toMatchObject({ code: 1, err: expect.stringContaining('sluice migrate') })
})
