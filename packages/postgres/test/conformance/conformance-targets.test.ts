/** The same examination in places that are harder, all of which have to make no difference. */
import type { CreateSubject } from '@sluice/conformance'
import { examine } from '@sluice/conformance/vitest'
import type pg from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { migrationSql, rolesSql } from '../../src/index.ts'
import { poolOf, sql, startServer, type TestServer } from '../support/server.ts'
import { subjectsOn } from '../support/subjects.ts'

/** Fewer random histories than the plain examination has: here, the place is what is examined. */
const options = { timeoutMs: 180_000, chance: { modelRuns: 10, histories: 2 } }

let server: TestServer
const pools: pg.Pool[] = []
let asRuntime: CreateSubject
let amongEnemies: CreateSubject

/** The address of the server for another role. */
function urlFor(user: string): string {
  const url = new URL(server.socketUrl)
  url.username = user
  url.password = 'secret'
  return url.href
}

beforeAll(async () => {
  server = await startServer()
  const { socketUrl: url } = server
  await sql(
    url,
    `create role app_owner; create role app_look;
    create role app_run login password 'secret';
    alter role app_run set default_transaction_isolation = 'serializable';
    create role enemy superuser login password 'secret';
    alter role enemy set default_transaction_isolation = 'repeatable read';
    alter role enemy set search_path = '"$user", nowhere';
    alter role enemy set datestyle = 'German, DMY';
    alter role enemy set timezone = 'Pacific/Chatham';
    alter role enemy set intervalstyle = 'sql_standard';
    alter role enemy set extra_float_digits = 0;
    alter role enemy set array_nulls = off;
    alter role enemy set bytea_output = 'escape';
    alter role enemy set lock_timeout = '10ms';
    alter role enemy set enable_indexscan = off;
    alter role enemy set plan_cache_mode = force_custom_plan;
    alter role enemy set standard_conforming_strings = off;
    alter role enemy set default_transaction_deferrable = on`,
  )
  const runtime = poolOf(urlFor('app_run'), 2)
  const enemy = poolOf(urlFor('enemy'), 2)
  pools.push(runtime, enemy)
  asRuntime = subjectsOn({
    url,
    driver: { pool: runtime, migrate: 'verify' },
    schema: (number) => `runtime_${number}`,
    prepare: async (schema) => {
      const roles = { schema, owner: 'app_owner', runtime: 'app_run', readOnly: 'app_look' }
      await sql(url, migrationSql({ schema }), rolesSql(roles))
    },
  })
  amongEnemies = subjectsOn({
    url,
    driver: { pool: enemy },
    schema: (number) => `we"ird; drop table keys${number} --`,
  })
})

afterAll(async () => {
  for (const pool of pools) await pool.end()
  await server.stop()
})

examine('as the runtime role, serializable by default, pool of 2', () => asRuntime(), options)
examine(
  'with hostile settings, in a schema that needs quotes, pool of 2',
  () => amongEnemies(),
  options,
)
