/** Statements with their values as text, for the transactions of other libraries. */
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { postgresDriver } from '../../src/index.ts'
import { statementTexts } from '../../src/statements.generated.ts'
import { literalOf, sendTextOf, withValues } from '../../src/transact/foreign-transaction.ts'
import { sharedServer } from '../support/shared-server.ts'

const server = sharedServer()
let client: pg.Client

beforeAll(async () => {
  client = new pg.Client({ connectionString: server.url })
  await client.connect()
})

afterAll(async () => {
  await client.end()
})

const odd = [
  '',
  "'",
  "''; drop table x; --",
  '\\',
  "\\'",
  '\\x27',
  '$1 $$ $body$',
  '? ?? \\? :name ::text @p0',
  'zwölf 🎉',
  '\n\t\u0001\u2028',
  '{"a","b\\""}',
]

test.each(['on', 'off'])('a text arrives as it is, standard_conforming_strings %s', async (how) => {
  await client.query(`set standard_conforming_strings = ${how}`)
  for (const text of odd) {
    const { rows } = await client.query(`select ${literalOf(text)}::text as text`)
    expect(rows).toEqual([{ text }])
    expect(literalOf(text)).not.toMatch(/[?:$]|'.*'.*'/)
  }
})

test('other values arrive by the type that the statement names', async () => {
  const text = 'select $1::float8 a, $2::int b, $3::boolean c, $4::text d, $5::text[] e, $1::text f'
  const { rows } = await client.query(withValues(text, [Infinity, -5, true, null, '{"x","?"}']))
  expect(rows).toEqual([{ a: Infinity, b: -5, c: true, d: null, e: ['x', '?'], f: 'Infinity' }])
  const precise = 1_763_830_800_123.4568
  const answer = await client.query(withValues('select $1::float8 as n', [precise]))
  expect(answer.rows).toEqual([{ n: precise }])
})

test('every parameter of every statement has a type', () => {
  for (const [name, text] of Object.entries(statementTexts)) {
    for (const [found] of text.matchAll(/\$\d+(?!\d)(::)?/g)) expect(found, name).toMatch(/::$/)
  }
})

test('libraries are recognized by their methods, and pg is not one of them', () => {
  const method = async (): Promise<void> => {}
  for (const name of ['executeQuery', '$queryRawUnsafe', 'unsafe', 'raw', 'execute', 'query']) {
    expect(sendTextOf({ [name]: method }), name).toBeDefined()
    expect(sendTextOf(Object.assign(() => {}, { [name]: method })), name).toBeDefined()
  }
  expect(sendTextOf(client)).toBeUndefined()
  expect(sendTextOf({})).toBeUndefined()
  expect(sendTextOf({ query: {} })).toBeUndefined()
})

test('an object with query is enough', async () => {
  const driver = postgresDriver({ connectionString: server.url, onWarning() {} })
  await driver.open({})
  const transaction = {
    async query(text: string) {
      return (await client.query(text)).rows
    },
  }
  const options = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const
  const asks = odd
    .filter((key) => key !== '')
    .map((key) => ({ key, item: JSON.stringify(key), priority: 0, delayMs: 0 }))
  await client.query('begin')
  const replies = await driver.transact!(transaction).add('q', asks, options)
  expect(replies.map(({ outcome }) => outcome)).toEqual(asks.map(() => 'added'))
  await client.query('commit')
  const request = { limit: 100, holder: 'h', claimId: 'c', leaseMs: 60_000 }
  const { claims } = await driver.claim('q', request)
  expect(claims.map(({ key, item }) => [key, item])).toEqual(
    asks.map(({ key, item }) => [key, item]),
  )
  await expect(driver.transact!(transaction).add('q', asks, options)).rejects.toMatchObject({
    code: 'ERR_INVALID_INPUT',
    parameter: 'transaction',
  })
  await driver.close()
})

/** What a library makes of the name of a column, and what it makes of a value. */
const renamings: Readonly<Record<string, (row: Record<string, unknown>) => unknown>> = {
  'names in camel case': (row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
        value,
      ]),
    ),
  'names in capitals': (row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name.toUpperCase(), value])),
  'parsed JSON': (row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        /^[[{]/.test(String(value)) ? JSON.parse(String(value)) : value,
      ]),
    ),
  'arrays instead of objects': Object.values,
}

test.each(Object.entries(renamings))('a library that answers with %s', async (name, renamed) => {
  const driver = postgresDriver({ connectionString: server.url, onWarning() {} })
  await driver.open({})
  const transaction = {
    query: async (text: string) => ({ rows: (await client.query(text)).rows.map(renamed) }),
  }
  const options = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const
  const ask = { key: 'a', item: '{"id":1}', priority: 5, delayMs: 0 }
  await driver.add(name, [ask], options)
  const request = { limit: 1, holder: 'h', claimId: 'c', leaseMs: 60_000 }
  const [claim] = (await driver.claim(name, request)).claims
  await driver.add(name, [ask, { ...ask, key: 'b', delayMs: 60_000 }], options)
  await client.query('begin')
  const { add, finish } = driver.transact!(transaction)
  const done = { as: 'done', key: 'a', token: claim?.token ?? 0, forget: false } as const
  expect(await finish(name, [done], options)).toMatchObject([{ outcome: 'ready' }])
  const later = { ...ask, key: 'b', priority: 0, delayMs: 90_000 }
  expect(await add(name, [{ ...ask, priority: 0 }, later], options)).toMatchObject([
    { outcome: 'unchanged' },
    { outcome: 'unchanged' },
  ])
  await client.query('commit')
  expect((await driver.claim(name, { ...request, claimId: 'd' })).claims).toMatchObject([
    { key: 'a', item: '{"id":1}', priority: 5 },
  ])
  await driver.close()
})

const wrongAnswers: Readonly<Record<string, (answer: pg.QueryResult) => unknown>> = {
  'two values': ({ rows }) => [rows, {}],
  nothing: () => undefined,
  null: () => null,
  'no rows': () => [],
  'other rows': () => [{}],
  results: (answer) => [answer],
}

test.each(Object.entries(wrongAnswers))('an object whose query returns %s', async (_, wrong) => {
  const driver = postgresDriver({ connectionString: server.url, onWarning() {} })
  await driver.open({})
  const transaction = { query: async (text: string) => wrong(await client.query(text)) }
  const options = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const
  const ask = { key: 'wrong', item: '"wrong"', priority: 0, delayMs: 0 }
  await client.query('begin')
  await expect(driver.transact!(transaction).add('wrong', [ask], options)).rejects.toMatchObject({
    code: 'ERR_INVALID_INPUT',
    parameter: 'transaction',
    message: expect.stringContaining('resolves to the rows of the statement'),
  })
  await client.query('commit')
  expect((await driver.list('wrong', { limit: 9 })).rows).toEqual([])
  await driver.close()
})

test('the error of the server is found in that of Sequelize', async () => {
  const driver = postgresDriver({ connectionString: server.url, timeoutMs: 400, onWarning() {} })
  await driver.open({})
  const transaction = {
    async query(text: string) {
      try {
        return (await client.query(text)).rows
      } catch (error) {
        const { message } = error as Error
        const own = { name: 'SequelizeDatabaseError', parent: error, original: error, sql: text }
        throw Object.assign(new Error(message), own)
      }
    },
  }
  const options = { dedupe: 'client-go', failuresExpireMs: 86_400_000 } as const
  const asks = [{ key: 'locked', item: '"locked"', priority: 0, delayMs: 0 }]
  const add = () => driver.transact!(transaction).add('sequelize', asks, options)
  await expect(add()).rejects.toMatchObject({ code: 'ERR_INVALID_INPUT', parameter: 'transaction' })
  await driver.add('sequelize', asks, options)
  const locker = new pg.Client({ connectionString: server.url })
  await locker.connect()
  await locker.query("begin; select from sluice.keys where key = 'locked' for update")
  await client.query('begin')
  await expect(add()).rejects.toMatchObject({ code: 'ERR_STORE_BUSY', retryable: true })
  await locker.end()
  expect(await add()).toMatchObject([{ outcome: 'unchanged' }])
  await client.query('commit')
  await driver.close()
})
