/** How long the driver keeps connections of its own pool that have no work. */
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { postgresDriver } from '../../src/index.ts'
import { poolOf, startServer, type TestServer } from '../support/server.ts'

let server: TestServer
let pool: pg.Pool

beforeAll(async () => {
  server = await startServer()
  pool = poolOf(server.url, 1)
})

afterEach(() => {
  vi.useRealTimers()
})

afterAll(async () => {
  await pool.end()
  await server.stop()
})

/** The processes of the server that serve the driver. */
async function connections(): Promise<number[]> {
  const { rows } = await pool.query(
    `select pid from pg_stat_activity
    where application_name = 'sluice' and datname = current_database() order by pid`,
  )
  return rows.map(({ pid }) => pid)
}

test('a connection is kept for minutes without work, so that the next keys need no new one', async () => {
  const driver = postgresDriver({ connectionString: server.url, notify: false, onWarning() {} })
  // real time: none passes; pg takes no clock, so its timers are stepped.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  await driver.open({})
  await driver.counts('q', { cap: 1 })
  const kept = await connections()
  expect(kept).not.toEqual([])
  vi.advanceTimersByTime(290_000)
  await driver.counts('q', { cap: 1 })
  expect(await connections()).toEqual(kept)
  vi.advanceTimersByTime(300_001)
  await expect.poll(connections).toEqual([])
  vi.useRealTimers()
  await driver.close()
})

test('a call that is made just before the driver closes is answered over an idle connection', async () => {
  const driver = postgresDriver({ connectionString: server.url, notify: false })
  await driver.open({})
  // A promise continues before the pool hands out a connection.
  await driver.counts('q', { cap: 1 })
  const [counts] = await Promise.all([driver.counts('q', { cap: 1 }), driver.close()])
  expect(counts.ready).toBe(0)
})

test('many calls at a time have no more connections than poolSize', async () => {
  const driver = postgresDriver({ connectionString: server.url, notify: false, poolSize: 3 })
  await driver.open({})
  await Promise.all(Array.from({ length: 20 }, () => driver.counts('q', { cap: 1 })))
  expect((await connections()).length).toBeLessThanOrEqual(3)
  await driver.close()
  await expect.poll(connections).toEqual([])
})

test('an attempt to open that fails leaves no connection', async () => {
  const driver = postgresDriver({
    connectionString: server.url,
    schema: 'not_there',
    migrate: 'verify',
    notify: false,
  })
  await expect(driver.open({})).rejects.toMatchObject({ code: 'ERR_SCHEMA_OLDER' })
  await expect.poll(connections).toEqual([])
})

test('calls that wait for a connection when the driver closes are rejected at once', async () => {
  const driver = postgresDriver({
    connectionString: server.url,
    notify: false,
    poolSize: 1,
  })
  await driver.open({})
  const calls = Array.from({ length: 4 }, () => driver.counts('q', { cap: 1 }))
  const closing = driver.close()
  const answers = await Promise.allSettled(calls)
  await closing
  const refused = { status: 'rejected', reason: { code: 'ERR_STORE' } }
  expect(answers).toMatchObject([{ status: 'fulfilled' }, refused, refused, refused])
})
