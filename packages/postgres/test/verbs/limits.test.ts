/** What is at its limit: tokens, priorities, sizes of batches and of items. */
import {
  batchKeysMax,
  type Driver,
  itemBytesMax,
  type KeyStateWord,
  type ListRequest,
  type WorkRecord,
} from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { postgresDriver } from '../../src/index.ts'
import { addManySql, ask, askOptions as options } from '../support/asks.ts'
import { poolOf } from '../support/server.ts'
import { sharedServer } from '../support/shared-server.ts'

const server = sharedServer()
let driver: Driver
let schema: string
let made = 0

function make(): Driver {
  return postgresDriver({ connectionString: server.url, schema, notify: false, onWarning() {} })
}

function claimOf(limit: number) {
  return driver.claim('q', { limit, holder: 'h', claimId: 'c', leaseMs: 60_000 })
}

beforeEach(async () => {
  made += 1
  schema = `limits_${made}`
  driver = make()
  await driver.open({})
})

afterEach(async () => {
  await driver.close()
})

test('the keys of a rare state are on one page, whatever else is in the queue', async () => {
  const pool = poolOf(server.url, 1)
  await pool.query(addManySql(schema, 'k', 30_000))
  const rare = ['a', 'p2', 'p1', 'z'].map((key, at) => ask(key, at))
  const failed = rare.map((one) => ({ ...one, key: `i${one.key}`, failed: true }))
  const later = rare.map((one) => ({ ...one, key: `d${one.key}`, delayMs: 1_000_000 }))
  const plan = { kind: 'exponential', baseMs: 1_000_000, maxMs: 1_000_000 } as const
  const backoff = rare.map((one) => ({ ...one, key: `b${one.key}`, failed: true, plan }))
  await driver.add('q', [...failed, ...later, ...backoff], options)
  await driver.cancel(
    'q',
    failed.map(({ key }) => key),
  )
  const page = async (state: KeyStateWord, more: Partial<ListRequest> = {}) => {
    const { rows, cursor } = await driver.list('q', { state, limit: 100, ...more })
    return [...rows.map(({ key }) => key), ...(cursor === undefined ? [] : ['more'])]
  }
  expect(await page('idle')).toEqual(['ia', 'ip1', 'ip2', 'iz'])
  expect(await page('idle', { prefix: 'ip' })).toEqual(['ip1', 'ip2'])
  expect(await page('idle', { cursor: 'ip1' })).toEqual(['ip2', 'iz'])
  expect(await page('idle', { limit: 3 })).toEqual(['ia', 'ip1', 'ip2', 'more'])
  expect(await page('backoff')).toEqual(['ba', 'bp1', 'bp2', 'bz'])
  expect(await page('delayed')).toEqual(['da', 'dp1', 'dp2', 'dz'])
  expect(await page('idle', { keys: ['iz', 'da', 'ia'] })).toEqual(['iz', 'ia'])
  // The other way round: few keys are ready.
  await pool.query(`update ${schema}.keys set due_at = 1e15, ready_at = 1e15 where key like 'k%'`)
  await driver.add('q', rare, options)
  expect(await page('ready')).toEqual(['a', 'p1', 'p2', 'z'])
  await pool.end()
})

test('a claim fails rather than give out a token twice', async () => {
  await driver.add('q', [ask('a'), ask('b')], options)
  await driver.transfer?.raiseTokens(Number.MAX_SAFE_INTEGER - 1)
  expect((await claimOf(1)).claims).toMatchObject([{ token: Number.MAX_SAFE_INTEGER }])
  await expect(claimOf(1)).rejects.toMatchObject({ code: 'ERR_STORE', retryable: false })
  expect((await driver.counts('q', { cap: 10 })).ready).toBe(1)
})

test('keys come by priority beyond any number of priorities, delayed ones in between', async () => {
  const priorities = Array.from({ length: 200 }, (_, at) => at * 10 - 1_000)
  await driver.add(
    'q',
    priorities.map((priority, at) => ({
      ...ask(`p${priority}`, priority),
      delayMs: at % 4 === 0 ? 60_000 : 0,
    })),
    options,
  )
  const ready = priorities.filter((_, at) => at % 4 !== 0).reverse()
  expect((await claimOf(1_000)).claims.map(({ priority }) => priority)).toEqual(ready)
  expect(await driver.counts('q', { cap: 1_000 })).toMatchObject({ delayed: 50, processing: 150 })
})

test('batches of the most keys go all the way', async () => {
  const keys = Array.from({ length: batchKeysMax }, (_, at) => `k${at}`)
  const replies = await driver.add(
    'q',
    keys.map((key) => ask(key)),
    options,
  )
  expect(replies.every(({ outcome }) => outcome === 'added')).toBe(true)
  // A second queue in the same turn.
  const others = driver.add(
    'other',
    keys.map((key) => ask(key)),
    options,
  )
  const { claims } = await claimOf(batchKeysMax)
  expect(claims.map(({ key }) => key)).toEqual(keys)
  expect(new Set(claims.map(({ token }) => token)).size).toBe(batchKeysMax)
  await others
  const leases = claims.map(({ key, token }) => ({ key, token }))
  const renewed = await driver.renew('q', leases, 120_000)
  expect(renewed.every(({ outcome }) => outcome === 'renewed')).toBe(true)
  const dirty = keys.filter((_, at) => at % 3 === 0)
  await driver.add(
    'q',
    dirty.map((key) => ask(key)),
    options,
  )
  const finished = await driver.finish(
    'q',
    leases.map(({ key, token }) => ({ as: 'done', key, token, forget: true })),
    options,
  )
  expect(finished.filter(({ outcome }) => outcome === 'ready')).toHaveLength(dirty.length)
  expect(finished.filter(({ outcome }) => outcome === 'idle')).toHaveLength(1_000 - dirty.length)
  expect((await claimOf(batchKeysMax)).claims.map(({ key }) => key)).toEqual(dirty)
  expect((await driver.counts('other', { cap: 5_000 })).ready).toBe(batchKeysMax)
})

test('items at the limit come back as they were, in batches beyond one statement', async () => {
  // As long as items may be, and together longer than one statement takes along.
  const text = '\u{1F680}x'.repeat(itemBytesMax / 8)
  const asks = Array.from({ length: 100 }, (_, at) => ({
    ...ask(`k${at}`),
    item: JSON.stringify(`${at} ${text}`),
  }))
  const replies = await driver.add('q', asks, options)
  expect(replies.map(({ outcome }) => outcome)).toEqual(asks.map(() => 'added'))
  const { claims } = await claimOf(1_000)
  expect(claims.map(({ key }) => key)).toEqual(asks.map(({ key }) => key))
  expect(claims.every(({ item }, at) => item === asks[at]?.item)).toBe(true)
})

test('failed runs are deleted when they are older than a day, also if no run fails any more', async () => {
  const clock = fakeClock()
  schema = 'failed_runs'
  const recording = make()
  await recording.open({ clock })
  const pool = poolOf(server.url, 1)
  const record = async (what: Pick<WorkRecord, 'codes' | 'failedRuns'>) => {
    const counts = { started: 0, done: 0, failed: 0, added: 0, merged: 0, expired: 0 }
    const worker = { holder: 'w', host: 'h', pid: 1, concurrency: 1, settings: {} }
    const request = { holder: 'w', worker, limit: 100, failuresExpireMs: 86_400_000 }
    await recording.tick('q', { ...request, record: { ...counts, ...what } })
  }
  const stored = async () => (await pool.query(`select key from ${schema}.failed_runs`)).rows.length
  const failed = { key: 'a', code: 'E', holder: 'w', failures: 0, lastError: '{}' }
  await record({ codes: [['E', 1]], failedRuns: [{ ...failed, at: clock.now() }] })
  await clock.step(86_300_000)
  await record({ codes: [], failedRuns: [] })
  expect(await stored()).toBe(1)
  await clock.step(100_000)
  await record({ codes: [], failedRuns: [] })
  expect(await stored()).toBe(0)
  await pool.end()
  await recording.close()
})

test('no statement of a transaction is so long that the server gives up waiting for it', async () => {
  const pool = poolOf(server.url, 1)
  const lengths: number[] = []
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (config: { values?: unknown[] }) => unknown
    Object.assign(client, {
      query(config: { values?: unknown[] }) {
        const { values = [] } = config
        lengths.push(values.reduce((sum: number, value) => sum + String(value).length, 0))
        return query(config)
      },
    })
  })
  const pooled = postgresDriver({ pool, schema, notify: false, onWarning() {} })
  await pooled.open({})
  const item = JSON.stringify('x'.repeat(itemBytesMax / 8))
  await pooled.add(
    'q',
    Array.from({ length: 64 }, (_, at) => ({ ...ask(`k${at}`), item })),
    options,
  )
  expect(Math.max(...lengths)).toBeLessThan(1.5 * 1024 * 1024)
  expect(lengths.reduce((sum, length) => sum + length)).toBeGreaterThan(64 * item.length)
  await pooled.close()
  await pool.end()
})
