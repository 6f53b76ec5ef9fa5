/** Making the schema, finding one that is too new, and three roles. */
import type { Driver } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import {
  doctor,
  migrate,
  migrationSql,
  type PostgresOptions,
  postgresDriver,
  rolesSql,
  schemaVersion,
} from '../../src/index.ts'
import { ask, askOptions as options } from '../support/asks.ts'
import { databaseOf, sql } from '../support/server.ts'
import { sharedServer } from '../support/shared-server.ts'

const one = ask('a')

const server = sharedServer()

function driverOn(schema: string, more: PostgresOptions = { pool: server.pool }): Driver {
  return postgresDriver({ schema, onWarning() {}, ...more })
}

test('eight processes that open at once make the schema once', async () => {
  for (let round = 0; round < 5; round += 1) {
    const drivers = Array.from({ length: 8 }, () => driverOn(`eight_${round}`))
    await Promise.all(drivers.map(async (driver) => await driver.open({})))
    await Promise.all(drivers.map(async (driver) => await driver.add('q', [one], options)))
    const { rows } = await server.pool.query(`select version from eight_${round}.migrations`)
    expect(rows).toHaveLength(schemaVersion)
    await Promise.all(drivers.map(async (driver) => await driver.close()))
  }
})

test('migrate: verify refuses a schema that does not exist, or is older', async () => {
  const driver = driverOn('unmade', { pool: server.pool, migrate: 'verify' })
  await expect(driver.open({})).rejects.toMatchObject({ code: 'ERR_SCHEMA_OLDER' })
  const { rows } = await server.pool.query("select from pg_namespace where nspname = 'unmade'")
  expect(rows).toHaveLength(0)
  await sql(server.url, migrationSql({ schema: 'unmade' }))
  await driver.open({})
  await driver.add('q', [one], options)
  await driver.close()
})

test('a schema that was renamed gets functions that use it, and not those of its old name', async () => {
  const before = driverOn('name_before')
  await before.open({})
  await before.add('q', [one], options)
  await before.close()
  await sql(server.url, 'alter schema name_before rename to name_after')
  // Without it the functions would work, on the keys of this one.
  const other = driverOn('name_before')
  await other.open({})
  const verifying = expect(
    driverOn('name_after', { pool: server.pool, migrate: 'verify' }).open({}),
  ).rejects
  await verifying.toMatchObject({
    code: 'ERR_SCHEMA_OLDER',
    message: expect.stringContaining('was renamed'),
  })
  const finding = { check: 'schema', level: 'failure' }
  expect(await doctor({ pool: server.pool, schema: 'name_after' })).toMatchObject([finding])
  const after = driverOn('name_after')
  await after.open({})
  await after.add('q', [{ ...one, key: 'b' }], options)
  await sql(server.url, "select name_after.add('q', 'c')")
  expect((await after.counts('q', { cap: 10 })).ready).toBe(3)
  expect((await other.counts('q', { cap: 10 })).ready).toBe(0)
  await expect(
    migrate({ pool: server.pool, schema: 'name_after', migrate: 'verify' }),
  ).resolves.toBeDefined()
  await after.close()
  await other.close()
})

describe('a schema that was copied', () => {
  /** A schema as logical replication makes it from `from`: all rows, and no sequence has a value. */
  async function replicate(from: string, to: string): Promise<void> {
    await migrate({ pool: server.pool, schema: to })
    const { rows } = await server.pool.query(`select relname as name, relkind as kind from pg_class
      where relnamespace = '${to}'::regnamespace and relkind in ('r', 'S')`)
    for (const { name, kind } of rows) {
      if (kind === 'S') await server.pool.query(`alter sequence ${to}.${name} restart`)
      else {
        await server.pool.query(`truncate ${to}.${name}`)
        await server.pool.query(`insert into ${to}.${name} overriding system value
          select * from ${from}.${name}`)
      }
    }
  }

  test('without the values of its sequences gives out greater tokens, and records failed runs', async () => {
    const first = driverOn('copied_from')
    await first.open({})
    const request = { holder: 'h', claimId: 'c', leaseMs: 60_000 }
    await first.add('q', [one, { ...one, key: 'b' }], options)
    const claimed = await first.claim('q', { ...request, limit: 1 })
    await server.pool.query(`insert into copied_from.failed_runs (queue_id, at, key, code, holder, failures, last_error)
      select queue_id, 1, 'a', 'Error', 'h', 1, '{}' from copied_from.keys`)
    await first.close()
    await replicate('copied_from', 'copied_to')

    expect(await doctor({ pool: server.pool, schema: 'copied_to' })).toMatchObject([
      { level: 'failure' },
    ])
    const verifying = expect(
      driverOn('copied_to', { pool: server.pool, migrate: 'verify' }).open({}),
    ).rejects
    await verifying.toMatchObject({
      code: 'ERR_SCHEMA_OLDER',
      message: expect.stringContaining('sequences without values'),
    })
    const second = driverOn('copied_to')
    await second.open({})
    const next = await second.claim('q', { ...request, limit: 1 })
    expect(next.claims[0]!.token).toBeGreaterThan(claimed.claims[0]!.token)
    const ids =
      await server.pool.query(`insert into copied_to.failed_runs (queue_id, at, key, code, holder, failures, last_error)
      select queue_id, 1, 'a', 'Error', 'h', 1, '{}' from copied_to.keys returning id`)
    expect(ids.rows).toHaveLength(2)
    expect(await doctor({ pool: server.pool, schema: 'copied_to' })).toContainEqual(
      expect.objectContaining({ check: 'schema', level: 'ok' }),
    )
    await second.close()
  })

  test('into a schema that was made before records failed runs, though its sequence is behind', async () => {
    const driver = driverOn('copied_rows')
    await driver.open({})
    await driver.add('q', [one], options)
    const at = Date.now()
    await server.pool.query(`insert into copied_rows.failed_runs
      (queue_id, id, at, key, code, holder, failures, last_error) overriding system value
      select queue_id, n, ${at}, 'copied', 'Error', 'h', 1, '{}' from copied_rows.keys, generate_series(1, 3) n`)
    const failed = (key: string) => ({ at, key, code: 'Error', holder: 'h', failures: 1 })
    const work = { started: 2, done: 0, failed: 2, added: 0, merged: 0, expired: 0, codes: [] }
    for (const keys of [['b', 'c'], ['d']]) {
      const failedRuns = keys.map((key) => ({ ...failed(key), lastError: '{}' }))
      const { recorded } = await driver.tick('q', {
        holder: 'h',
        worker: { holder: 'h', host: 'here', pid: 1, concurrency: 1, settings: {} },
        record: { ...work, failedRuns },
        limit: 1,
        failuresExpireMs: 1,
      })
      expect(recorded).toBe(true)
    }
    const keys = (await driver.failedRuns!('q')).map(({ key }) => key)
    expect(keys).toEqual(['d', 'c', 'b', 'copied', 'copied', 'copied'])
    await driver.close()
  })

  test('without rows is not called foreign', async () => {
    await migrate({ pool: server.pool, schema: 'hollow' })
    await server.pool.query('truncate hollow.migrations')
    for (const mode of ['apply', 'verify'] as const) {
      const opening = expect(
        driverOn('hollow', { pool: server.pool, migrate: mode }).open({}),
      ).rejects
      await opening.toMatchObject({
        code: 'ERR_SCHEMA_OLDER',
        message: expect.stringContaining('a dump without data'),
      })
    }
    expect(await doctor({ pool: server.pool, schema: 'hollow' })).toMatchObject([
      { level: 'failure', summary: expect.stringContaining('a dump without data') },
    ])
  })
})

test('a rename is noticed also where the old name, quoted, ends like the new one', async () => {
  const before = driverOn('my"shop')
  await before.open({})
  await before.close()
  await sql(server.url, 'alter schema "my""shop" rename to "shop"')
  await expect(
    driverOn('shop', { pool: server.pool, migrate: 'verify' }).open({}),
  ).rejects.toMatchObject({
    code: 'ERR_SCHEMA_OLDER',
    message: expect.stringContaining('was renamed'),
  })
  const after = driverOn('shop')
  await after.open({})
  await after.add('q', [one], options)
  await sql(server.url, "select shop.add('q', 'b')")
  expect((await after.counts('q', { cap: 10 })).ready).toBe(2)
  await after.close()
})

test('the error of a schema that was renamed names the SQL that helps', async () => {
  const before = driverOn('sql_before')
  await before.open({})
  await before.close()
  await sql(server.url, 'alter schema sql_before rename to sql_after')
  const driver = driverOn('sql_after', { pool: server.pool, migrate: 'verify' })
  await expect(driver.open({})).rejects.toThrow(
    `migrationSql({ schema: "sql_after", from: ${schemaVersion} })`,
  )
  await sql(server.url, migrationSql({ schema: 'sql_after', from: schemaVersion }))
  await driver.open({})
  await driver.close()
})

test('a newer schema is refused if it breaks this program, and only then', async () => {
  const driver = driverOn('newer')
  await driver.open({})
  await driver.close()
  const next = schemaVersion + 1
  await server.pool.query(`insert into newer.migrations values (${next}, 'harmless', false)`)
  await driver.open({})
  await driver.close()
  await server.pool.query(`insert into newer.migrations values (${next + 1}, 'breaking', true)`)
  for (const migrate of ['apply', 'verify'] as const) {
    await expect(driverOn('newer', { pool: server.pool, migrate }).open({})).rejects.toMatchObject({
      code: 'ERR_SCHEMA_NEWER',
      message: expect.stringContaining('upgrade @sluice/postgres'),
    })
  }
})

test('a newer schema that breaks this program is a failure, another one a warning', async () => {
  const driver = driverOn('newer_doctor')
  await driver.open({})
  await driver.close()
  const finding = async () =>
    (await doctor({ pool: server.pool, schema: 'newer_doctor', onWarning() {} }))[0]
  const next = schemaVersion + 1
  await server.pool.query(`insert into newer_doctor.migrations values (${next}, 'harmless', false)`)
  expect(await finding()).toMatchObject({ check: 'schema', level: 'warning' })
  await server.pool.query(
    `insert into newer_doctor.migrations values (${next + 1}, 'breaking', true)`,
  )
  expect(await finding()).toMatchObject({
    level: 'failure',
    summary: expect.stringContaining('upgrade this program'),
  })
})

test.each(['migrations', 'keys'])(
  'a schema in which another program has a table %s is refused, and left as it is',
  async (table) => {
    const schema = `foreign_${table}`
    await sql(server.url, `create schema ${schema}`, `create table ${schema}.${table} (id int)`)
    await expect(driverOn(schema).open({})).rejects.toMatchObject({
      code: 'ERR_STORE_FOREIGN',
      retryable: false,
      message: expect.stringContaining(`relation "${table}" already exists`),
    })
    await expect(
      driverOn(schema, { pool: server.pool, migrate: 'verify' }).open({}),
    ).rejects.toMatchObject({
      code: 'ERR_SCHEMA_OLDER',
    })
    const { rows } = await server.pool.query(
      'select from pg_class where relnamespace = $1::regnamespace',
      [schema],
    )
    expect(rows).toHaveLength(1)
  },
)

test('the printed SQL makes what opening makes', async () => {
  await sql(server.url, migrationSql({ schema: 'printed' }))
  const driver = driverOn('applied')
  await driver.open({})
  await driver.close()
  const columns = async (schema: string): Promise<unknown[]> => {
    const { rows } = await server.pool.query(
      `select table_name, column_name, data_type, column_default is null as bare, is_nullable
      from information_schema.columns where table_schema = $1 order by 1, 2`,
      [schema],
    )
    return rows
  }
  expect(await columns('printed')).toEqual(await columns('applied'))
  // Of a schema that is up to date, nothing changes: a function of the same name has the same text.
  const again = migrationSql({ schema: 'printed', from: schemaVersion })
  expect(again).not.toMatch(/create (table|index|sequence|schema)|insert into "printed".migrations/)
  await sql(server.url, again)
  expect(await columns('printed')).toEqual(await columns('applied'))
})

test('a migration that is cut off midway leaves nothing, and is made good by the next', async () => {
  const half = migrationSql({ schema: 'half' }).replace(
    'commit;',
    () => "do $$ begin raise 'cut'; end $$; commit;",
  )
  await expect(sql(server.url, half)).rejects.toThrow('cut')
  const driver = driverOn('half')
  await driver.open({})
  await driver.add('q', [one], options)
  await driver.close()
})

test('each of three roles can do its part, and no more', async () => {
  const schema = 'three'
  await sql(
    server.url,
    `create role three_owner login password 'secret'; create role three_run login password 'secret';
    create role three_look login password 'secret'; grant create on database ${databaseOf(server.url)} to three_owner`,
  )
  const as = (user: string): string => {
    const url = new URL(server.url)
    url.username = user
    return url.href
  }
  const owner = driverOn(schema, { connectionString: as('three_owner') })
  await owner.open({})
  await owner.close()
  const roles = { schema, owner: 'three_owner', runtime: 'three_run', readOnly: 'three_look' }
  await sql(as('three_owner'), rolesSql(roles), rolesSql(roles))

  const runtime = driverOn(schema, { connectionString: as('three_run') })
  await runtime.open({})
  await runtime.add('q', [one], options)
  await expect(sql(as('three_run'), 'truncate three.keys')).rejects.toThrow('permission denied')
  await expect(sql(as('three_run'), 'create table three.mine ()')).rejects.toThrow('permission')
  await expect(sql(as('three_run'), 'delete from three.migrations')).rejects.toThrow('permission')

  const look = driverOn(schema, { connectionString: as('three_look') })
  await look.open({})
  expect((await look.counts('q', { cap: 10 })).ready).toBe(1)
  expect((await look.list('q', { limit: 10 })).rows).toHaveLength(1)
  expect(await look.queues?.()).toEqual(['q'])
  expect(await look.workers?.('q', 1_000)).toEqual([])
  expect(await look.buckets?.()).toEqual([])
  const refused = expect.objectContaining({ code: 'ERR_STORE', retryable: false })
  await expect(look.add('q', [one], options)).rejects.toEqual(refused)
  await expect(look.operate?.pause('q')).rejects.toEqual(refused)
  await expect(look.operate?.purge('q')).rejects.toEqual(refused)
  await runtime.close()
  await look.close()
})

test('a role whose transactions are read-only by default is told to write', async () => {
  await sql(server.url, "create role read_mostly superuser login password 'secret'")
  await sql(server.url, 'alter role read_mostly set default_transaction_read_only = on')
  const url = new URL(server.url)
  url.username = 'read_mostly'
  const driver = driverOn('reads', { connectionString: url.href })
  await driver.open({})
  await driver.add('q', [one], options)
  const request = { limit: 1, holder: 'h', claimId: 'c', leaseMs: 60_000 }
  expect((await driver.claim('q', request)).claims).toHaveLength(1)
  await driver.close()
})

test('a database that lacks characters is refused, since the error of a run may contain any', async () => {
  const url = new URL(server.url)
  for (const [name, encoding] of [
    ['latin', 'LATIN1'],
    ['bytes', 'SQL_ASCII'],
  ] as const) {
    const locale = "template template0 lc_collate 'C' lc_ctype 'C'"
    await sql(server.url, `create database ${name} encoding '${encoding}' ${locale}`)
    url.pathname = `/${name}`
    const driver = driverOn('texts', { connectionString: url.href })
    if (encoding === 'LATIN1') {
      const opening = expect(driver.open({})).rejects
      await opening.toMatchObject({ code: 'ERR_STORE', retryable: false })
      await opening.toThrow(/the encoding LATIN1, .* the encoding UTF8/)
      continue
    }
    await driver.open({})
    await driver.add('q', [{ ...one, key: '\u{1f600}' }], options)
    expect((await driver.list('q', { limit: 1 })).rows).toMatchObject([{ key: '\u{1f600}' }])
    await driver.close()
  }
})

test('what an administrator has to do is said when opening fails', async () => {
  await sql(server.url, "create role nobody login password 'secret'")
  const url = new URL(server.url)
  url.username = 'nobody'
  const made = driverOn('there')
  await made.open({})
  for (const [schema, mode, code, message] of [
    ['missing', 'apply', 'ERR_SCHEMA_OLDER', 'as a role that may create it, run `sluice migrate`'],
    ['missing', 'verify', 'ERR_SCHEMA_OLDER', 'migrationSql()'],
    ['there', 'apply', 'ERR_STORE', 'rolesSql()'],
    ['there', 'verify', 'ERR_STORE', 'rolesSql()'],
  ] as const) {
    const driver = driverOn(schema, { connectionString: url.href, migrate: mode })
    const opening = expect(driver.open({})).rejects
    await opening.toMatchObject({ code, message: expect.stringContaining(message) })
  }
  // A schema that goes away under a program that runs.
  await sql(server.url, 'drop schema there cascade')
  const gone = made.add('q', [one], options)
  await expect(gone).rejects.toMatchObject({ code: 'ERR_STORE', retryable: false })
  await expect(gone).rejects.toThrow('migrationSql()')
  await made.close()
})
