import pg from 'pg'
import { expect, test } from 'vitest'
import { doctor, migrate, migrationSql, postgresDriver, rolesSql } from '../src/index.ts'
import { channelOf, inSchema, quoteIdentifier } from '../src/schema/schema-name.ts'

const connectionString = 'postgres://nobody:hush@127.0.0.1:1/none'

test.each<[string, object, string]>([
  ['no way to a database', {}, 'options'],
  ['two ways', { connectionString, pool: { connect() {} } }, 'options'],
  ['an option that is not one', { connectionString, shema: 'x' }, 'shema'],
  ['a pool that is none', { pool: {} }, 'pool'],
  ['null in place of a pool', { pool: null }, 'pool'],
  ['a client of pg in place of a pool', { pool: new pg.Client() }, 'pool'],
  ['null in place of PGlite', { client: null }, 'client'],
  ['a text in place of a switch', { connectionString, notify: 'no' }, 'notify'],
  ['a text to call with warnings', { connectionString, onWarning: 'console' }, 'onWarning'],
  ['a client of pg in place of PGlite', { client: { query() {} } }, 'client'],
  ['an empty schema', { connectionString, schema: '' }, 'schema'],
  ['a schema that is cut off', { connectionString, schema: 'x'.repeat(64) }, 'schema'],
  ['a schema of Postgres', { connectionString, schema: 'pg_toast' }, 'schema'],
  ['a schema with a quote', { connectionString, schema: "it's" }, 'schema'],
  ['a schema with a dollar', { connectionString, schema: '$body$' }, 'schema'],
  ['a schema that is no text', { connectionString, schema: '\ud800' }, 'schema'],
  ['another way to migrate', { connectionString, migrate: 'maybe' }, 'migrate'],
  ['no connection at all', { connectionString, poolSize: 0 }, 'poolSize'],
  ['polling all the time', { connectionString, pollMs: 0 }, 'pollMs'],
  ['no time for anything', { connectionString, timeoutMs: 1 }, 'timeoutMs'],
])('%s is refused', (_, options, parameter) => {
  const refusal = expect.objectContaining({ code: 'ERR_INVALID_INPUT', parameter })
  expect(() => postgresDriver(options)).toThrow(refusal)
})

test.each([
  'not an address',
  'localhost',
  'host=localhost dbname=shop password=hush',
  'mysql://nobody:hush@127.0.0.1/none',
  'postgres://nobody:hush/1@127.0.0.1/none',
  'postgres://nobody:hush#1@127.0.0.1/none',
  'postgres://nobody:hush@127.0.0.1:99999/none',
])('%s is no address', (address) => {
  const make = () => postgresDriver({ connectionString: address })
  expect(make).toThrow(/postgres:\/\/user:password@host\/database/)
  expect(make).not.toThrow(/hush/)
})

test.each([
  'postgres://nobody:hush@one:5432,two:5432/shop?target_session_attrs=read-write',
  'postgres://nobody:hush@one,two/shop',
  'postgresql://one,two:5433',
  'postgres:///shop?user=nobody&host=one,two',
  'postgres:///shop?host=one%2Ctwo',
])('%s is refused: pg would connect to none of the hosts', (address) => {
  const make = () => postgresDriver({ connectionString: address })
  expect(make).toThrow(/must name one host/)
  expect(make).not.toThrow(/hush/)
})

test.each([
  '',
  '/var/run/postgresql shop',
  'socket:/var/run/postgresql?db=shop',
  'postgres://%2Fvar%2Frun%2Fpostgresql/shop',
  'postgresql:///shop?host=/var/run/postgresql',
  'postgres://nobody:hush@/shop?host=/var/run/postgresql',
  'postgres://nobody:50%off and more@db:5432/shop',
  'postgres://nobody:hush@[::1]:5432/shop',
  'postgres://nobody:more,@db/a,b?application_name=a,b',
])('%s is an address', (address) => {
  expect(postgresDriver({ connectionString: address }).name).toBe('postgres')
})

test('schemas are quoted wherever they are named', () => {
  expect(quoteIdentifier('we"ird')).toBe('"we""ird"')
  expect(inSchema("select nextval('sluice.token') from sluice.keys", 'a"b')).toBe(
    `select nextval('"a""b".token') from "a""b".keys`,
  )
  expect(channelOf('a')).toMatch(/^sluice_[0-9a-f]{24}$/)
  expect(channelOf('a')).not.toBe(channelOf('b'))
  expect(migrationSql({ schema: 'mine' })).not.toMatch(/\bsluice\./)
  expect(() => migrationSql({ schema: "it's" })).toThrow(/schema/)
  const roles = { owner: 'o"', runtime: 'r', readOnly: '' }
  expect(() => rolesSql(roles)).toThrow(/readOnly/)
})

test('a server that is not there is a retryable failure, and no password is told', async () => {
  const driver = postgresDriver({ connectionString, onWarning() {} })
  await expect(driver.open({})).rejects.toMatchObject({ code: 'ERR_STORE', retryable: true })
  await expect(driver.open({})).rejects.not.toThrow(/hush/)
  await expect(doctor({ connectionString })).resolves.toMatchObject([{ level: 'failure' }])
  // Nothing was opened, so nothing is left to close.
  await driver.close()
  await expect(driver.tick('q', { holder: 'h', limit: 1, failuresExpireMs: 1 })).rejects.toThrow(
    /not open/,
  )
})

test('options of migrate that are not known are refused', async () => {
  const wrong = { code: 'ERR_INVALID_INPUT' }
  const unknown = migrate({ connectionString }, { prunes: true } as never)
  await expect(unknown).rejects.toMatchObject(wrong)
  await expect(migrate({ connectionString }, { prune: true })).rejects.toMatchObject({
    code: 'ERR_STORE',
    retryable: true,
  })
})

test.each([undefined, null, 5, 'text', [], { schemas: 'mine' }])(
  'SQL is not made for %o',
  (options) => {
    const wrong = { code: 'ERR_INVALID_INPUT' }
    expect(() => rolesSql(options as never)).toThrow(expect.objectContaining(wrong))
    if (options === undefined) return
    expect(() => migrationSql(options as never)).toThrow(expect.objectContaining(wrong))
  },
)
