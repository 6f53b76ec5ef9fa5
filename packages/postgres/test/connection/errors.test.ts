/** What an error of the server, or of a pooler in front of it, means for a queue. */

import { type AddressInfo, createServer } from 'node:net'
import { runInNewContext } from 'node:vm'
import type { ErrorCode } from '@sluice/core'
import { expect, onTestFinished, test } from 'vitest'
import {
  breaksConnection,
  connectError,
  type Progress,
  storeError,
} from '../../src/connection/errors.ts'
import { postgresDriver } from '../../src/index.ts'
import { poolOf, sql } from '../support/server.ts'
import { sharedServer } from '../support/shared-server.ts'

const server = sharedServer()

function serverError(code: string, severity = 'ERROR', message = 'm'): Error {
  return Object.assign(new Error(message), { code, severity })
}

interface Row {
  readonly what: string
  readonly error: Error
  readonly progress: Progress
  readonly code: ErrorCode
  readonly retryable: boolean
  readonly breaks: boolean
}

function row(
  what: string,
  error: Error,
  progress: Progress,
  code: ErrorCode,
  retryable: boolean,
  breaks: boolean,
): Row {
  return { what, error, progress, code, retryable, breaks }
}

const store = 'ERR_STORE'
const unknown = 'ERR_UNKNOWN_OUTCOME'
const damaged = 'ERR_STORE_DAMAGED'
const unsent = 'Client has encountered a connection error and is not queryable'

test.each([
  row('damaged data', serverError('XX001'), 'sent', damaged, false, true),
  row('a damaged index', serverError('XX002'), 'sent', damaged, false, true),
  row('tuple concurrently updated', serverError('XX000'), 'sent', store, true, true),
  row('a pooler that is full', serverError('XX000', 'FATAL'), 'unsent', store, true, true),
  row('a pooler that lost its server', serverError('XX000', 'FATAL'), 'sent', unknown, false, true),
  row('a pool that is down', serverError('58000', 'FATAL'), 'sent', unknown, false, true),
  row('an error of the disk', serverError('58030'), 'sent', store, true, true),
  row('pgbouncer waits too long', serverError('08P01', 'FATAL'), 'sent', unknown, false, true),
  row('pgbouncer has no room', serverError('08P01'), 'unsent', store, true, true),
  row('an idle connection that ended', serverError('57P05', 'FATAL'), 'sent', store, true, true),
  row('a client whose connection has ended', new Error(unsent), 'sent', store, true, true),
  row('a server that stops', serverError('57P01', 'FATAL'), 'sent', unknown, false, true),
  row('a server that starts', serverError('57P03', 'FATAL'), 'unsent', store, true, true),
  row('a result in doubt', serverError('40003'), 'sent', unknown, false, false),
  row('too many connections', serverError('53300', 'FATAL'), 'unsent', store, true, false),
  row('a full disk', serverError('53100'), 'sent', 'ERR_STORE_FULL', true, false),
  row('a password that was changed', serverError('28P01', 'FATAL'), 'unsent', store, true, false),
  row('a role that may not log in', serverError('28000', 'FATAL'), 'unsent', store, true, false),
  row('a database that is not there', serverError('3D000', 'FATAL'), 'unsent', store, false, false),
  row('a right that is missing', serverError('42501'), 'sent', store, false, false),
  row('a schema that is missing', serverError('3F000'), 'sent', store, false, false),
  row('a table that is missing', serverError('42P01'), 'sent', store, false, false),
  row('a function that is missing', serverError('42883'), 'sent', store, false, false),
  row('a standby', serverError('25006'), 'sent', store, true, true),
  row('a plan that no longer fits', serverError('0A000'), 'sent', store, true, true),
  row('a statement that was cancelled', serverError('57014'), 'sent', store, true, false),
  row('a transaction that took too long', serverError('25P04', 'FATAL'), 'sent', store, true, true),
  row('a locked row', serverError('55P03'), 'sent', 'ERR_STORE_BUSY', true, false),
  row('no more tokens', serverError('2200H'), 'sent', store, false, false),
  row('an encoding that does not fit', serverError('22021'), 'sent', store, false, false),
  row(
    'a broken pipe',
    Object.assign(new Error('m'), { code: 'EPIPE' }),
    'sent',
    unknown,
    false,
    true,
  ),
])('$what ($progress) is $code, retryable: $retryable', (given) => {
  const { error, progress, code, retryable, breaks } = given
  expect(storeError(error, progress)).toMatchObject({ code, retryable, cause: error })
  expect(breaksConnection(error)).toBe(breaks)
})

test.each([
  ['57P01', 'the connection to Postgres broke while an answer was awaited: m (SQLSTATE 57P01)'],
  ['55P03', 'a row is locked by another transaction: m (SQLSTATE 55P03)'],
  ['53100', 'Postgres failed: m (SQLSTATE 53100)'],
])('the message of %s says what has failed', (state, beginning) => {
  const { message } = storeError(serverError(state), 'sent')
  expect(message.startsWith(beginning), message).toBe(true)
})

test('an error that needs an administrator says what to do', () => {
  const denied = storeError(serverError('42501', 'ERROR', 'permission denied for schema s'), 'sent')
  expect(denied.message).toContain('permission denied for schema s (SQLSTATE 42501)')
  expect(denied.message).toContain('rolesSql()')
  expect(storeError(serverError('42883'), 'sent').message).toContain('migrationSql()')
  // No migration brings back a table, a column or an index of a version that has been applied.
  for (const state of ['42P01', '42703', '42P10']) {
    expect(storeError(serverError(state), 'sent').message).toContain('`sluice doctor` names it')
  }
  expect(storeError(serverError('25006'), 'sent').message).toContain('to the primary')
})

test.each([
  ['ECONNREFUSED', {}, 'unsent', 'ERR_STORE', true],
  ['ECONNRESET', {}, 'sent', 'ERR_UNKNOWN_OUTCOME', false],
  ['EPIPE', {}, 'sent', 'ERR_UNKNOWN_OUTCOME', false],
  [undefined, {}, 'sent', 'ERR_UNKNOWN_OUTCOME', false],
  ['57P01', { severity: 'FATAL' }, 'sent', 'ERR_UNKNOWN_OUTCOME', false],
  ['57P01', { severity: 'FATAL' }, 'unsent', 'ERR_STORE', true],
  ['08006', { severity: 'FATAL' }, 'sent', 'ERR_UNKNOWN_OUTCOME', false],
  ['55P03', { severity: 'ERROR' }, 'sent', 'ERR_STORE_BUSY', true],
  ['40001', { severity: 'ERROR' }, 'sent', 'ERR_STORE', true],
  ['53100', { severity: 'ERROR' }, 'sent', 'ERR_STORE_FULL', true],
  ['25006', { severity: 'ERROR' }, 'sent', 'ERR_STORE', true],
  ['42501', { severity: 'ERROR' }, 'sent', 'ERR_STORE', false],
  ['XX001', { severity: 'ERROR' }, 'sent', 'ERR_STORE_DAMAGED', false],
] as const)('%s %o, %s, is %s', (code, more, progress, expected, retryable) => {
  const error = Object.assign(new Error('why'), { ...(code !== undefined && { code }), ...more })
  expect(storeError(error, progress)).toMatchObject({ code: expected, retryable, cause: error })
})

test.each(['away', null, undefined, 5])(
  '%j, which a pool of the caller may throw, is an error',
  (thrown) => {
    const error = storeError(thrown, 'unsent')
    expect(error).toMatchObject({ code: 'ERR_STORE', retryable: true, cause: thrown })
    expect(error.message).toContain(String(thrown))
  },
)

test.each(['hush', 'hu@sh'])('the password %s does not get into messages', (password) => {
  const error = new Error(`cannot connect to postgres://me:${password}@host/db`)
  expect(storeError(error, 'unsent').message).toContain('postgres://me:***@host')
})

/** What a driver says of an address to which it cannot connect, and the part of it that tells where that is. */
async function refusalAt(change: (url: URL) => void, isPool = false): Promise<[string, string]> {
  const url = new URL(server.url)
  change(url)
  const pool = poolOf(url.href)
  onTestFinished(() => pool.end())
  const driver = postgresDriver(isPool ? { pool } : { connectionString: url.href })
  onTestFinished(() => driver.close())
  const error: unknown = await Promise.resolve(driver.open({})).catch((caught: unknown) => caught)
  const { message } = error as Error
  const at = `${url.hostname}:${url.port}`
  const isAnswered = message.includes('SQLSTATE')
  const where = isAnswered ? `at ${url.username}@${at}${url.pathname}: ` : `at ${at}: `
  expect(message).toMatch(/^no connection to Postgres at .* \[ERR_STORE\]$/)
  expect(message).not.toContain(url.password)
  return [message, where]
}

/** The port of a server that ends each connection at once. */
async function endingPort(): Promise<number> {
  const ending = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve) => {
    ending.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(() => void ending.close())
  return (ending.address() as AddressInfo).port
}

test('an error of connecting says where to, why not, and what to do', async () => {
  await sql(
    server.url,
    `create role uninvited login password 'hushed'`,
    'create database closed',
    'revoke connect on database closed from public',
  )
  const port = await endingPort()
  for (const [change, why, advice] of [
    [(url) => (url.password = 'wronged'), '28P01', 'correct the role or its password'],
    [(url) => (url.pathname = '/missing'), '3D000', 'create it'],
    [
      (url) => {
        url.username = 'uninvited'
        url.password = 'hushed'
        url.pathname = '/closed'
      },
      '42501',
      'grant it to this role',
    ],
    [(url) => url.searchParams.set('sslmode', 'verify-full'), 'does not support SSL', 'sslmode'],
    [(url) => (url.port = String(port)), 'terminated unexpectedly', 'check the address'],
    [(url) => (url.port = '1'), 'ECONNREFUSED', 'check the address'],
  ] as readonly [(url: URL) => void, string, string][]) {
    const [message, where] = await refusalAt(change)
    for (const part of [where, why, advice]) expect(message).toContain(part)
  }
})

test('an error of connecting says why not also in a realm of its own, as in a test of Jest', () => {
  const refused =
    "Object.assign(new Error('connect ECONNREFUSED ::1:5432'), { code: 'ECONNREFUSED' })"
  for (const thrown of [refused, `new AggregateError([${refused}])`]) {
    expect(connectError(runInNewContext(thrown)).message).toMatch(
      /^no connection to Postgres: connect ECONNREFUSED ::1:5432; check/,
    )
  }
})

test('an error of connecting shows no password that was taken for a database', async () => {
  const driver = postgresDriver({ connectionString: 'postgres://127.0.0.1:1/hushed@host/db' })
  onTestFinished(() => driver.close())
  const error: unknown = await Promise.resolve(driver.open({})).catch((caught: unknown) => caught)
  expect(String(error)).toContain('no connection to Postgres at 127.0.0.1:1: ')
  expect(String(error)).not.toContain('hushed')
})

test('an error of connecting by a pool of the caller says where to', async () => {
  const [message, where] = await refusalAt((url) => {
    url.password = 'hushed'
  }, true)
  expect(message).toContain(where)
})

test('a pool that was ended before its queues are closed says that, and not to look at the server', async () => {
  const pool = poolOf(server.url)
  const driver = postgresDriver({ pool, schema: 'ended' })
  await driver.open({})
  await pool.end()
  const counting = Promise.resolve(driver.counts('q', { cap: 1 }))
  await expect(counting).rejects.toMatchObject({
    code: 'ERR_STORE',
    message: expect.stringMatching(/end on the pool; close the queues before their pool ends/),
  })
  await driver.close()
})
