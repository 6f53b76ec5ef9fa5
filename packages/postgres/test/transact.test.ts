/** add and finish inside a transaction of the caller's. */
import type { AskOptions } from '@sluice/core'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { postgresDriver } from '../src/index.ts'
import { startServer, type TestServer } from './server.ts'

const options: AskOptions = { dedupe: 'client-go', failuresExpireMs: 86_400_000 }
const one = { key: 'a', item: undefined, priority: 0, delayMs: 0 }
const request = { limit: 1, holder: 'h', claimId: 'c', leaseMs: 60_000 }

// A server on a busy machine takes its time.
vi.setConfig({ testTimeout: 30_000 })

let server: TestServer
let driver: ReturnType<typeof postgresDriver>
let client: pg.Client
let made = 0

beforeAll(async () => {
  server = await startServer()
}, 60_000)

afterAll(async () => {
  await server.stop()
})

beforeEach(async () => {
  made += 1
  const schema = `transact_${made}`
  driver = postgresDriver({ connectionString: server.url, schema, onWarning() {} })
  await driver.open({})
  client = new pg.Client({ connectionString: server.url })
  await client.connect()
  return async () => {
    await client.end()
    await driver.close()
  }
})

test('a lost lease fails the caller, and leaves the transaction as it was', async () => {
  await client.query('create table if not exists effects (n int)')
  await client.query('begin; insert into effects values (1)')
  const transaction = driver.transact!(client)
  await transaction.add('q', [one], options)
  const stale = { as: 'done', key: 'a', token: 17, forget: false } as const
  await expect(transaction.finish('q', [stale], options)).rejects.toMatchObject({
    code: 'ERR_LEASE_LOST',
  })
  // Whoever catches the error can still commit the rest.
  await client.query('commit')
  expect((await client.query('select from effects')).rowCount).toBe(1)
  expect((await driver.claim('q', request)).claims).toHaveLength(1)
})

test('others are told by the commit, and not before', async () => {
  const other = new pg.Client({ connectionString: server.url })
  await other.connect()
  const { channelOf } = await import('../src/schema-name.ts')
  const payloads: (string | undefined)[] = []
  let heard = (): void => {}
  const once = new Promise<void>((resolve) => {
    heard = resolve
  })
  other.on('notification', ({ payload }) => {
    payloads.push(payload)
    heard()
  })
  await other.query(`listen ${channelOf(`transact_${made}`)}`)
  await client.query('begin')
  await driver.transact!(client).add('q', [one], options)
  await other.query('select 1')
  expect(payloads).toEqual([])
  await client.query('commit')
  await once
  expect(payloads).toEqual(['qq'])
  await other.end()
})

test('a key that is locked is busy, and the transaction goes on', async () => {
  await driver.add('q', [one], options)
  const other = new pg.Client({ connectionString: server.url })
  await other.connect()
  await other.query('begin')
  await other.query(`select from transact_${made}.keys for update`)
  await client.query('begin')
  await expect(driver.transact!(client).add('q', [one], options)).rejects.toMatchObject({
    code: 'ERR_STORE_BUSY',
    retryable: true,
  })
  await driver.transact!(client).add('q', [{ ...one, key: 'b' }], options)
  await client.query('commit')
  await other.query('rollback')
  await other.end()
  expect((await driver.counts('q', { cap: 10 })).ready).toBe(2)
})

test('what is no open transaction is refused', async () => {
  await expect(driver.transact!(client).add('q', [one], options)).rejects.toMatchObject({
    code: 'ERR_INVALID_INPUT',
    parameter: 'transaction',
  })
  expect(() => driver.transact!({})).toThrow(/transaction/)
})
