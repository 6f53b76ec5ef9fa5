import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { doctor, type Finding, postgresDriver, rolesSql } from '../../src/index.ts'
import { indexes, sequences, tables } from '../../src/schema/relations.ts'
import { installed } from '../support/installed.ts'
import { sql } from '../support/server.ts'
import { sharedServer } from '../support/shared-server.ts'

const server = sharedServer()

async function examined(schema: string, user?: string): Promise<Record<string, Finding>> {
  const url = new URL(server.url)
  if (user !== undefined) url.username = user
  const findings = await doctor({ connectionString: url.href, schema, onWarning() {} })
  return Object.fromEntries(findings.map((finding) => [finding.check, finding]))
}

test('a store that is well is said to be', async () => {
  const driver = postgresDriver({ connectionString: server.url, schema: 'well' })
  await driver.open({})
  const findings = await examined('well')
  expect(Object.values(findings).filter(({ level }) => level !== 'ok')).toEqual([])
  expect(Object.keys(findings)).toEqual([
    ...['schema', 'horizon', 'row-security', 'table', 'hot', 'autovacuum', 'listen', 'clock'],
    ...['leases', 'workers'],
  ])
  expect(findings['listen']?.facts).toEqual({ works: true })
  await driver.close()
})

test.each([
  ['drop table keys cascade', /: table keys, index keys_pkey, .*restore a backup/],
  ['drop table workers', /: table workers, index workers_pkey; restore a backup/],
  ['alter table keys drop column crashes', /: column keys.crashes; restore/],
  ['alter table keys drop constraint keys_pkey', /: index keys_pkey; restore/],
  ['drop index keys_waiting', /: index keys_waiting; restore/],
  ['drop sequence latest', /: sequence latest; restore/],
])('what the schema lacks is a failure that names it: %s', async (change, named) => {
  const schema = change.replaceAll(' ', '_')
  const driver = postgresDriver({ connectionString: server.url, schema })
  await driver.open({})
  await driver.close()
  await sql(server.url, `set search_path to ${schema}; ${change}`)
  expect(await examined(schema)).toEqual({
    schema: expect.objectContaining({
      level: 'failure',
      summary: expect.stringMatching(named),
    }),
  })
})

test('all tables, indexes and sequences are known to be there', async () => {
  const schema = 'complete'
  const driver = postgresDriver({ connectionString: server.url, schema })
  await driver.open({})
  await driver.close()
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  const { rows } = await client.query(`select c.relname, c.relkind, (select string_agg(attname, ' '
    order by attname) from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped) as columns
    from pg_class c where relnamespace = 'complete'::regnamespace order by c.relname collate "C"`)
  await client.end()
  const names = (kind: string) =>
    rows.filter((row) => row.relkind === kind).map((row) => row.relname)
  const found = rows.filter((row) => row.relkind === 'r')
  expect(Object.fromEntries(found.map((row) => [row.relname, row.columns]))).toEqual(tables)
  expect(names('i')).toEqual([...indexes].sort())
  expect(names('S').filter((name) => name !== 'failed_runs_id_seq')).toEqual(sequences)
})

test('a schema that is not there is a failure', async () => {
  expect(await examined('nowhere')).toMatchObject({ schema: { level: 'failure' } })
})

test('a role that reads few digits of numbers, and a name that needs quotes, are no trouble', async () => {
  const schema = 'Ein "Name"'
  const driver = postgresDriver({ connectionString: server.url, schema })
  await driver.open({})
  await sql(
    server.url,
    "create role coarse superuser login password 'secret'",
    'alter role coarse set extra_float_digits = -15',
  )
  const { clock, ...others } = await examined(schema, 'coarse')
  expect(Object.values(others).filter(({ level }) => level !== 'ok')).toEqual([])
  // With one digit, an instant is years off.
  expect(Math.abs(Number(clock?.facts['apartMs']))).toBeLessThan(86_400_000)
  await driver.close()
})

test('an expired lease and workers that disagree are warnings; the oldest snapshot is named', async () => {
  const schema = 'ill'
  const driver = postgresDriver({ connectionString: server.url, schema })
  await driver.open({})
  for (const [holder, concurrency] of [
    ['one', 1],
    ['two', 2],
  ] as const) {
    const worker = { holder, host: 'h', pid: 1, concurrency, settings: { maxCrashes: concurrency } }
    await driver.tick('q', { holder, worker, limit: 1, failuresExpireMs: 1 })
  }
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await client.query(
    `insert into ill.keys (queue_id, queue, key, token, lease_until)
    values (ill.${installed('queue_number')}('q'), 'q', 'a', 1, 1)`,
  )
  await client.query('begin isolation level repeatable read; select 1')
  const findings = await examined(schema)
  expect(findings['leases']).toMatchObject({
    level: 'warning',
    facts: { count: 1 },
    summary: expect.stringMatching(
      /^1 lease expired, the oldest \d+ ms ago; a worker of the queue reclaims it$/,
    ),
  })
  expect(findings['workers']).toMatchObject({
    level: 'warning',
    facts: { workers: 2, differing: 'q: maxCrashes' },
  })
  expect(findings['horizon']).toMatchObject({ level: 'ok', facts: { kind: 'session' } })
  await client.end()
  await driver.close()
})

test('row level security that hides keys from the role is a warning', async () => {
  const schema = 'hidden'
  const driver = postgresDriver({ connectionString: server.url, schema })
  await driver.open({})
  onTestFinished(() => driver.close())
  const roles = { schema, owner: 'hidden_owner', runtime: 'hidden_app', readOnly: 'hidden_reader' }
  await sql(
    server.url,
    "create role hidden_app login password 'secret'; create role hidden_owner; create role hidden_reader",
    rolesSql(roles),
    'alter table hidden.keys enable row level security',
  )
  expect((await examined(schema))['row-security']?.level).toBe('ok')
  expect((await examined(schema, 'hidden_app'))['row-security']).toMatchObject({
    level: 'warning',
    facts: { tables: 'keys' },
  })
})

test.each([
  ['keys', /: keys that no policy allows are hidden from it, so that workers claim nothing/],
  [
    'queues',
    /: pauses that no policy allows are hidden from it, so that workers claim keys of paused/,
  ],
  ['workers', /: rows that no policy allows are hidden from it, and it cannot write them/],
])('row level security on %s is said to hide what it hides', async (table, says) => {
  const schema = `hides_${table}`
  const role = `${schema}_app`
  const driver = postgresDriver({ connectionString: server.url, schema })
  await driver.open({})
  onTestFinished(() => driver.close())
  await sql(
    server.url,
    `create role ${role} login password 'secret'; create role ${role}_owner; create role ${role}_reader`,
    rolesSql({ schema, owner: `${role}_owner`, runtime: role, readOnly: `${role}_reader` }),
    `alter table ${schema}.${table} enable row level security;
    create table ${schema}.mine (); alter table ${schema}.mine enable row level security`,
  )
  expect((await examined(schema, role))['row-security']).toMatchObject({
    level: 'warning',
    summary: expect.stringMatching(says),
    facts: { tables: table },
  })
})

test('only an index that renewals write to is a warning, however many updates claims make', async () => {
  const schema = 'hot'
  const driver = postgresDriver({ connectionString: server.url, schema })
  await driver.open({})
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  // As many updates as a busy day makes, all of which write to an index.
  await client.query(
    `insert into hot.keys (queue_id, queue, key, due_at, ready_at)
    select 1, 'busy', n, 0, 0 from generate_series(1, 60000) n`,
  )
  for (let round = 0; round < 2; round += 1) {
    await client.query('update hot.keys set seq = seq + 1')
  }
  // Servers before 15 count automatically, a little later.
  await client.query('select pg_stat_force_next_flush()').catch(() => {})
  const busy = (await examined(schema))['hot']
  expect(busy?.facts['updates']).toBeGreaterThan(100_000)
  expect(busy?.facts['share']).toBeLessThan(0.05)
  expect(busy?.level).toBe('ok')
  await client.query('create index mine on hot.keys (queue_id, lease_until)')
  const findings = await examined(schema)
  expect(findings['hot']).toMatchObject({ level: 'warning', facts: { indexes: 'mine' } })
  await client.end()
  await driver.close()
})
