/**
 * A roll-out: two versions of this package that call different functions share a schema, whichever
 * came first, as a role that may not create anything.
 */
import { embed, readSql } from '@sluice/embed-sql'
import pg from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { ask, askOptions as options } from '../support/asks.ts'
import { databaseOf, poolOf, sql, startServer, type TestServer } from '../support/server.ts'
import {
  breath,
  lostOf,
  mayFail,
  prepareWitness,
  runWorkload,
  seeded,
  type WorkloadReport,
} from '../support/workload.ts'

type Version = typeof import('../../src/index.ts')

const one = ask('a')

let server: TestServer
let pool: pg.Pool
let current: Version
let other: Version

/** A version of this package all of whose functions have another text, which does the same. */
async function otherVersion(): Promise<Version> {
  const sources = readSql(`${import.meta.dirname}/../..`)
  const functions = new Map(
    [...sources.functions].map(([stem, text]) => [
      stem,
      text.replace(/language (plpgsql|sql)/, 'language $1 parallel unsafe'),
    ]),
  )
  vi.resetModules()
  vi.doMock('../../src/statements.generated.ts', () => embed({ ...sources, functions }))
  const version = await import('../../src/index.ts')
  vi.doUnmock('../../src/statements.generated.ts')
  return version
}

beforeAll(async () => {
  current = await import('../../src/index.ts')
  other = await otherVersion()
  server = await startServer()
  pool = poolOf(server.url)
  await prepareWitness(pool)
  await sql(
    server.url,
    "create role roll_owner login password 'secret'",
    "create role roll_runtime login password 'secret'",
    "create role roll_look login password 'secret'",
    `grant create on database ${databaseOf(server.url)} to roll_owner`,
  )
})

// Files of this package share a process, and the next one gets the modules as they are.
afterAll(() => vi.resetModules())

afterAll(async () => {
  await pool.end()
  await server.stop()
})

function as(user: string): string {
  const url = new URL(server.url)
  url.username = user
  return url.href
}

async function namesIn(schema: string): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select proname as name from pg_proc where pronamespace = $1::regnamespace order by proname`,
    [schema],
  )
  return rows.map(({ name }) => name)
}

/** The functions of one version, of those that it has installed: the public ones are of both. */
function ofVersion(names: readonly string[]): string[] {
  return names.filter((name) => /_[0-9a-f]{8}$/.test(name)).sort()
}

/** The codes of errors of which a roll-out would be the cause. */
function errorsOf(reports: readonly WorkloadReport[]): string[] {
  const codes = reports.flatMap(({ errors }) => Object.keys(errors))
  return codes.filter((code) => !mayFail.has(code))
}

test.each(['a newer', 'an older'])('%s version starts beside the one that runs', async (which) => {
  const [running, starting] = which === 'a newer' ? [other, current] : [current, other]
  const schema = which === 'a newer' ? 'roll_forward' : 'roll_back'
  const owner = { connectionString: as('roll_owner'), schema }
  const runtime = { connectionString: as('roll_runtime'), schema, onWarning() {} }
  const roles = { schema, owner: 'roll_owner', runtime: 'roll_runtime', readOnly: 'roll_look' }
  const { installed } = await running.migrate(owner)
  expect(installed).toEqual(await namesIn(schema).then((names) => expect.arrayContaining(names)))
  await sql(owner.connectionString, running.rolesSql(roles))

  let isOver = false
  const load = { witness: pool, queue: 'q', producers: 1, workers: 2, keys: 200, leaseMs: 2_000 }
  const first = running.postgresDriver(runtime)
  await first.open({})
  const random = seeded(1)
  const running1 = runWorkload({
    ...load,
    driver: first,
    name: `${schema} running`,
    adds: 1_000_000,
    random,
    isOver: () => isOver,
  })

  // The role of programs cannot install functions, and says so.
  const second = starting.postgresDriver(runtime)
  await expect(second.open({})).rejects.toMatchObject({
    code: 'ERR_SCHEMA_OLDER',
    message: expect.stringContaining('sluice migrate'),
  })
  const report = await starting.migrate(owner)
  expect(report.installed).toHaveLength(installed.length)
  expect(report.pruned).toEqual([])
  await second.open({})
  // A later version adds to the tables while both go on.
  const running2 = runWorkload({
    ...load,
    driver: second,
    name: `${schema} starting`,
    adds: 5_000,
    random: seeded(2),
  })
  await breath(200)
  await sql(
    owner.connectionString,
    `alter table ${schema}.keys add column note text not null default ''`,
    `create index keys_note on ${schema}.keys (queue_id, key) where note <> ''`,
    `create table ${schema}.more (name text primary key)`,
  )
  await breath(500)
  isOver = true
  const reports = await Promise.all([running1, running2])
  expect(errorsOf(reports)).toEqual([])
  expect(lostOf(reports)).toEqual([])
  expect(reports.flatMap(({ overlaps }) => overlaps)).toEqual([])
  for (const { claims } of reports) expect(claims).toBeGreaterThan(0)

  // Plain names with other arguments are not Sluice's.
  await sql(owner.connectionString, `create function ${schema}.add(key text) returns int return 1`)
  const { pruned } = await starting.migrate(owner, { prune: true })
  expect([...pruned]).toEqual(ofVersion(installed))
  expect(await namesIn(schema)).toEqual(['add', ...report.installed].sort())
  await sql(owner.connectionString, `select ${schema}.add('other', 'from SQL')`)
  await second.add('q', [one], options)
  await expect(Promise.resolve(first.add('q', [one], options))).rejects.toMatchObject({
    code: 'ERR_STORE',
    retryable: false,
  })
  // Back to the version before: its functions are installed again.
  await expect(running.postgresDriver(runtime).open({})).rejects.toMatchObject({
    code: 'ERR_SCHEMA_OLDER',
  })
  await running.migrate(owner)
  await first.add('q', [one], options)
  await Promise.all([first.close(), second.close()])
})

test('opening installs functions that are missing, also by many processes at once, and drops none', async () => {
  const schema = 'roll_open'
  const before = other.postgresDriver({ pool, schema, onWarning() {} })
  await before.open({})
  await before.close()
  const drivers = Array.from({ length: 6 }, () =>
    current.postgresDriver({ pool, schema, onWarning() {} }),
  )
  await Promise.all(drivers.map(async (driver) => await driver.open({})))
  const names = ofVersion(await namesIn(schema))
  expect(names).toHaveLength(2 * new Set(names.map((name) => name.slice(0, -9))).size)
  await Promise.all(drivers.map(async (driver) => await driver.close()))
  const [schemaFinding] = await current.doctor({ pool, schema })
  expect(schemaFinding).toMatchObject({ level: 'ok', facts: { unused: names.length / 2 } })
  await current.migrate({ pool, schema }, { prune: true })
  expect(ofVersion(await namesIn(schema))).toHaveLength(names.length / 2)
})

test('the doctor and migrate: verify say which functions are missing', async () => {
  const schema = 'roll_verify'
  await other.migrate({ pool, schema })
  const [finding] = await current.doctor({ pool, schema })
  expect(finding).toMatchObject({
    check: 'schema',
    level: 'failure',
    summary: expect.stringContaining('sluice migrate'),
  })
  const opening = expect(current.migrate({ pool, schema, migrate: 'verify' })).rejects
  await opening.toMatchObject({
    code: 'ERR_SCHEMA_OLDER',
    message: expect.stringMatching(/lacks functions .*\bclaim_[0-9a-f]{8}\b/),
  })
})

test('a program that waits in vain for another one that migrates says so', async () => {
  const schema = 'roll_waits'
  const migrating = new pg.Client({ connectionString: server.url })
  await migrating.connect()
  // What is not committed yet, of a script that is applied by hand, holds others up like the lock itself.
  await migrating.query(`begin; create schema ${schema}`)
  // real time: the deadline of a statement.
  const options = { connectionString: server.url, schema, timeoutMs: 300 }
  const refusal = async (): Promise<unknown> =>
    await current.migrate(options).catch((error: unknown) => error)
  // A busy machine may hold up the statements before it for longer.
  await expect.poll(refusal, { timeout: 30_000 }).toMatchObject({
    code: 'ERR_STORE',
    retryable: true,
    message: expect.stringMatching(
      /the schema "roll_waits" was not brought up to date: .*another session may hold its lock/,
    ),
  })
  await migrating.query('rollback')
  await migrating.end()
  expect(await current.migrate({ pool, schema })).toMatchObject({ version: current.schemaVersion })
})
