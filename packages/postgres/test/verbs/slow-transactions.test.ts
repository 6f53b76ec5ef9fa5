import type { Driver } from '@sluice/core'
import { transferRow } from '@sluice/core/driver'
import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { postgresDriver } from '../../src/index.ts'
import { ask, askOptions as options } from '../support/asks.ts'
import { poolOf } from '../support/server.ts'
import { sharedServer } from '../support/shared-server.ts'

const server = sharedServer()
const item = JSON.stringify('x'.repeat(60_000))
const long = JSON.stringify({ name: 'Error', message: 'y'.repeat(4_000) })
const keys = Array.from({ length: 20 }, (_, at) => `key ${String(at).padStart(2, '0')}`)

let pool: pg.Pool
let driver: Driver
let made = 0

beforeAll(() => {
  pool = poolOf(server.url, 1)
})

afterAll(() => pool.end())

beforeEach(async () => {
  made += 1
  driver = postgresDriver({ pool, schema: `slow_${made}`, notify: false, onWarning() {} })
  await driver.open({})
  await driver.add(
    'q',
    keys.map((key) => ({ ...ask(key), item })),
    options,
  )
  return () => driver.close()
})

/** How many bytes pass the only connection during a call. */
async function traffic(call: () => unknown): Promise<number> {
  const passed = async (): Promise<number> => {
    const client = await pool.connect()
    const { stream } = (client as unknown as { connection: { stream: import('node:net').Socket } })
      .connection
    client.release()
    return stream.bytesRead + stream.bytesWritten
  }
  const before = await passed()
  await call()
  return (await passed()) - before
}

async function stored(): Promise<unknown[]> {
  const { rows } = await driver.list('q', { limit: 100 })
  return rows.map((row) => [row.key, row.item, row.lastError])
}

async function claimed() {
  const request = { limit: 100, holder: 'h', claimId: 'c', leaseMs: 60_000 }
  return (await driver.claim('q', request)).claims
}

async function fail(error: string | undefined): Promise<number> {
  const claims = await claimed()
  expect(claims.length).toBe(keys.length)
  const finishes = claims.map(({ key, token }) => ({
    key,
    token,
    as: 'retry' as const,
    delayMs: 0,
    error,
  }))
  return await traffic(() => driver.finish('q', finishes as never, options))
}

test('a finish after a failure moves neither items nor earlier errors', async () => {
  expect(await fail(long)).toBeLessThan(keys.length * 5_000)
  expect(await stored()).toEqual(keys.map((key) => [key, item, long]))
  expect(await fail(undefined)).toBeLessThan(keys.length * 1_000)
  expect(await stored()).toEqual(keys.map((key) => [key, item, long]))
  const short = JSON.stringify({ name: 'Error', message: 'short' })
  expect(await fail(short)).toBeLessThan(keys.length * 1_000)
  expect(await stored()).toEqual(keys.map((key) => [key, item, short]))
})

test('an operation moves no items, and keeps them', async () => {
  const moved = await traffic(() => driver.operate?.park('q', keys))
  expect(moved).toBeLessThan(keys.length * 1_000)
  expect(await stored()).toEqual(keys.map((key) => [key, item, undefined]))
})

test('an add by the transitions replaces an item that it has not read', async () => {
  const limited = { ...options, maxPending: 1_000 }
  const items = [item, JSON.stringify('z'.repeat(60_000)), '1', undefined]
  const asks = items.map((one, at) => ({ ...ask(keys[at]!), item: one }))
  await driver.add('q', asks, limited)
  const others = keys.slice(items.length).map((key) => [key, item, undefined])
  const own = items.map((one, at) => [keys[at], one, undefined])
  expect(await stored()).toEqual([...own, ...others])
})

test('rows are dropped in one step, and not those whose items have changed', async () => {
  const { rows } = await driver.list('q', { limit: 100 })
  const listed = rows.map((row) => transferRow(row))
  const changed = { ...ask(keys[3]!), item: JSON.stringify('w'.repeat(60_000)) }
  await driver.add('q', [changed], options)
  const outcomes = await driver.transfer?.dropRows('q', listed)
  expect(outcomes).toEqual(keys.map((_, at) => (at === 3 ? 'changed' : 'dropped')))
  expect(await stored()).toEqual([[keys[3], changed.item, undefined]])
})
