/** Roles that bring the schema up to date, and have other settings or fewer rights than its owner. */
import type { Driver } from '@sluice/core'
import { expect, onTestFinished, test } from 'vitest'
import { type PostgresOptions, postgresDriver } from '../../src/index.ts'
import { sql } from '../support/server.ts'
import { sharedServer } from '../support/shared-server.ts'

const server = sharedServer()

function driverOn(schema: string, more: PostgresOptions = { pool: server.pool }): Driver {
  return postgresDriver({ schema, onWarning() {}, ...more })
}

/** The driver as another role. */
function driverAs(role: string, schema: string): Driver {
  const url = new URL(server.url)
  url.username = role
  return driverOn(schema, { connectionString: url.href })
}

/** Creates a schema as its owner. */
async function make(schema: string): Promise<void> {
  const driver = driverOn(schema)
  await driver.open({})
  await driver.close()
}

test('no time limit of the role ends a migration', async () => {
  await sql(server.url, "create role limited superuser login password 'secret'")
  const { rows } = await server.pool.query(`select name from pg_settings
    where name in ('statement_timeout', 'lock_timeout', 'transaction_timeout')`)
  const limits = rows.map(({ name }) => `alter role limited set ${name} = '10min'`)
  const checks = rows.map(({ name }) => `current_setting('${name}') <> '0'`)
  await sql(
    server.url,
    ...limits,
    `create function public.unlimited() returns event_trigger language plpgsql as $$ begin
      if ${checks.join(' or ')} then raise exception 'a migration may be ended'; end if; end $$`,
    `create event trigger unlimited on ddl_command_start when tag in ('CREATE SCHEMA')
      execute function public.unlimited()`,
  )
  onTestFinished(async () => void (await server.pool.query('drop event trigger unlimited')))
  const driver = driverAs('limited', 'unlimited')
  await driver.open({})
  await driver.close()
})

test('a role that may create, but owns nothing, is told that the owner has to migrate', async () => {
  await sql(server.url, "create role creator login password 'secret'")
  await make('owned_before')
  const grant = 'grant all on schema owned_after to creator'
  const tables = 'grant all on all tables in schema owned_after to creator'
  await sql(server.url, 'alter schema owned_before rename to owned_after', grant, tables)
  const opening = expect(driverAs('creator', 'owned_after').open({})).rejects
  await opening.toMatchObject({
    code: 'ERR_SCHEMA_OLDER',
    message: expect.stringMatching(/was renamed.*owner.*has to run.*must be owner of function/),
  })
})

test('functions for SQL that another role owns are named if they cannot be replaced', async () => {
  await sql(server.url, "create role replacer login password 'secret'")
  await make('restored')
  // As restored from a dump without comments.
  await sql(
    server.url,
    `do $$ declare one record; begin
      for one in select oid::regprocedure as f from pg_proc where pronamespace = 'restored'::regnamespace
      loop execute format('comment on function %s is null', one.f); end loop; end $$`,
    'grant all on schema restored to replacer',
    'grant all on all tables in schema restored to replacer',
    'grant all on all sequences in schema restored to replacer',
  )
  const opening = expect(driverAs('replacer', 'restored').open({})).rejects
  await opening.toMatchObject({
    code: 'ERR_SCHEMA_OLDER',
    message: expect.stringMatching(
      /lacks functions that are called from SQL.*the owner.*must be owner of function/,
    ),
  })
})

test('a schema is not called empty because row level security hides its migrations', async () => {
  await sql(server.url, "create role hidden_from login password 'secret'")
  await make('hides')
  await sql(
    server.url,
    'grant usage on schema hides to hidden_from',
    'grant select on all tables in schema hides to hidden_from',
    'alter table hides.migrations enable row level security',
  )
  const opening = expect(driverAs('hidden_from', 'hides').open({})).rejects
  await opening.toMatchObject({
    code: 'ERR_STORE',
    retryable: false,
    message: expect.stringMatching(/row level security hides .*"migrations".*; disable it/),
  })
})
