/** What is at its limit: pending keys, tokens, priorities, sizes of batches and of items. */
import {
  type AskOptions,
  batchKeysMax,
  type Driver,
  itemBytesMax,
  type KeyStateWord,
  type ListRequest,
  type WorkRecord,
} from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { statementsFor } from '../../src/connection/statements.ts'
import { postgresDriver } from '../../src/index.ts'
import { channelOf } from '../../src/schema/schema-name.ts'
import { installed } from '../support/installed.ts'
import { poolOf, sql } from '../support/server.ts'
import { sharedServer } from '../support/shared-server.ts'

const options: AskOptions = { dedupe: 'client-go', failuresExpireMs: 86_400_000 }

const server = sharedServer()
let driver: Driver
let schema: string
let made = 0

function ask(key: string, priority = 0) {
  return { key, item: undefined, priority, delayMs: 0 }
}

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

test('a remembered count leaves room for batches whose positions were drawn before it', async () => {
  const before = 1_100
  const batch = 1_024
  const limit = before + 10 * batch - 1
  const batchOf = (name: string) => Array.from({ length: batch }, (_, i) => `${name} ${i}`)
  const pool = poolOf(server.url, 12)
  const limited = poolOf(server.url, 1)
  const other = postgresDriver({ pool: limited, schema, notify: false, onWarning() {} })
  const locker = await pool.connect()
  const adders = await Promise.all(Array.from({ length: 9 }, () => pool.connect()))
  try {
    await other.open({})
    for (const part of [0, 1]) {
      const keys = Array.from({ length: before / 2 }, (_, i) => ask(`few ${part} ${i}`))
      await driver.add('q', keys, options)
    }
    // The number of a transaction also comes with every 32nd position.
    const drawsLeft = `select log_cnt::int as n from ${schema}.arrival`
    while ((await pool.query(drawsLeft)).rows[0].n < adders.length) {
      await pool.query(`select nextval('${schema}.arrival')`)
    }
    // Adds draw their positions, and wait for the table before they get the numbers of their transactions.
    await locker.query('begin')
    await locker.query(`lock table ${schema}.keys in share mode`)
    const adding = adders.map(async (client, index) => {
      await client.query('begin')
      await client.query(
        `select from ${schema}.${installed('add_waiting')}('q', $1, array_fill(null::text, $2),
          array_fill(0, $2), array_fill(0::float8, $2), array_fill(0, $2), true, 1, null, null, null,
          null, array_fill(null::text, $2))`,
        [batchOf(String(index)).sort(), [batch]],
      )
    })
    const waiting = "select from pg_stat_activity where wait_event_type = 'Lock'"
    while ((await pool.query(waiting)).rows.length < adders.length);
    const count = `select ${schema}.${installed('count_pending')}('q', ${limit}, true) as n`
    const counted = [(await limited.query(count)).rows[0].n]
    await locker.query('commit')
    await Promise.all(adding)
    counted.push((await limited.query(count)).rows[0].n)
    expect(counted).toEqual([before, before])
    for (const client of adders) await client.query('commit')
    const maxPending = limit
    await other.add(
      'q',
      batchOf('last').map((key) => ask(key)),
      { ...options, maxPending },
    )
    const { rows } = await pool.query(`select count(*)::int as n from ${schema}.keys`)
    expect(rows[0].n).toBe(limit)
  } finally {
    for (const client of [locker, ...adders]) client.release(true)
    await other.close()
    await Promise.all([limited.end(), pool.end()])
  }
})

test('processes that add together do not go over maxPending', async () => {
  const drivers = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const one = make()
      await one.open({})
      return one
    }),
  )
  const limited = { ...options, maxPending: 100 }
  await Promise.all(
    drivers.map(async (one, process) => {
      for (let at = 0; at < 60; at += 3) {
        const keys = [0, 1, 2].map((more) => ask(`${process}-${at + more}`))
        await one.add('q', keys, limited)
      }
    }),
  )
  expect((await driver.counts('q', { cap: 1_000 })).ready).toBe(100)
  await Promise.all(drivers.map((one) => one.close()))
})

/** Adds keys that are pending, as other transactions do. */
function addMany(prefix: string, count: number): string {
  return `select count(*) from ${schema}.add_many('q',
    array(select '${prefix}' || n from generate_series(1, ${count}) n))`
}

/** Adds a thousand new keys, and returns how many the limit let in. */
async function addLimited(at: number, maxPending: number): Promise<number> {
  const asks = Array.from({ length: batchKeysMax }, (_, n) => ask(`${at}-${n}`))
  const replies = await driver.add('q', asks, { ...options, maxPending })
  return replies.filter(({ outcome }) => outcome === 'added').length
}

test('pending keys are not counted again while maxPending is far away', async () => {
  const pool = poolOf(server.url, 1)
  await driver.close()
  driver = postgresDriver({ pool, schema, notify: false, onWarning() {} })
  await driver.open({})
  await pool.query(addMany('k', 100_000))
  const entries = async (): Promise<number> => {
    await pool.query('select pg_stat_force_next_flush()').catch(() => {})
    const { rows } = await pool.query(
      `select idx_tup_read::int as n from pg_stat_user_indexes
      where schemaname = $1 and indexrelname = 'keys_waiting'`,
      [schema],
    )
    return rows[0].n
  }
  const reads = async (): Promise<number> => {
    const before = await entries()
    await driver.add('q', [ask('again')], { ...options, maxPending: 200_000 })
    return (await entries()) - before
  }
  // A count holds once all transactions that it did not see are over.
  await expect.poll(reads).toBeLessThan(1_000)
  for (let n = 0; n < 10; n += 1) expect(await reads()).toBeLessThan(1_000)
  await driver.close()
  await pool.end()
})

test('of a queue with few keys, no count is remembered: a connection may serve thousands', async () => {
  const pool = poolOf(server.url, 1)
  await driver.close()
  driver = postgresDriver({ pool, schema, notify: false, onWarning() {} })
  await driver.open({})
  const remembered = async () => {
    await driver.add('q', [ask('again')], { ...options, maxPending: 50_000 })
    const { rows } = await pool.query(
      `select current_setting(format('sluice_pending.q%s_%s', $1::regclass::oid,
        to_hex(${schema}.${installed('queue_number')}('q'))), true) is not null as found`,
      [`${schema}.keys`],
    )
    return rows[0].found
  }
  expect(await remembered()).toBe(false)
  await pool.query(addMany('k', 2_000))
  expect(await remembered()).toBe(true)
  await driver.close()
  await pool.end()
})

test('a count that is remembered misses no key of a transaction that commits after it', async () => {
  const pool = poolOf(server.url, 1)
  const other = poolOf(server.url, 1)
  await driver.close()
  driver = postgresDriver({ pool, schema, notify: false, onWarning() {} })
  await driver.open({})
  let added = 0
  // Positions and transactions are remembered from here on.
  for (let at = 0; at < 3; at += 1) added += await addLimited(at, 30_000)
  await other.query('begin')
  await other.query(addMany('mine ', 15_000))
  for (let at = 3; at < 7; at += 1) added += await addLimited(at, 30_000)
  await other.query('commit')
  for (let at = 7; at < 30; at += 1) added += await addLimited(at, 30_000)
  expect(added).toBe(15_000)
  // A count that ended at one limit says nothing about a higher one.
  await other.query(addMany('more ', 28_000))
  for (let at = 30; at < 32; at += 1) expect(await addLimited(at, 30_000)).toBe(0)
  added = 0
  for (let at = 32; at < 42; at += 1) added += await addLimited(at, 60_000)
  expect(added).toBe(2_000)
  expect((await driver.counts('q', { cap: 100_000 })).ready).toBe(60_000)
  await driver.close()
  await Promise.all([pool.end(), other.end()])
})

test('counting pending keys reads no keys that only count failures', async () => {
  await sql(
    server.url,
    `insert into ${schema}.keys (queue_id, queue, key, failures, failed_at)
    select ${schema}.${installed('queue_number')}('q'), 'q', n, 1, 1 from generate_series(1, 50000) n`,
    `analyze ${schema}.keys`,
  )
  await driver.add('q', [ask('waits'), ask('parked')], options)
  await driver.operate?.park('q', ['parked'])
  const { countPending } = statementsFor(schema, channelOf(schema))
  const pool = poolOf(server.url, 1)
  const read = async (): Promise<number> => {
    // Servers before 15 count automatically, a little later.
    await pool.query('select pg_stat_force_next_flush()').catch(() => {})
    const { rows } = await pool.query(
      `select heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read as n
      from pg_statio_user_tables where schemaname = $1 and relname = 'keys'`,
      [schema],
    )
    return Number(rows[0].n)
  }
  // Plans are made with the first call.
  await pool.query(countPending.text, ['q', 1_000, true])
  const before = await read()
  const { rows } = await pool.query(countPending.text, ['q', 1_000, true])
  expect(rows).toEqual([{ pending: 2 }])
  expect((await read()) - before).toBeLessThan(50)
  await pool.end()
})

test('the keys of a rare state are on one page, whatever else is in the queue', async () => {
  const pool = poolOf(server.url, 1)
  await pool.query(addMany('k', 30_000))
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
  const item = JSON.stringify('x'.repeat(itemBytesMax / 2))
  await pooled.add(
    'q',
    Array.from({ length: 64 }, (_, at) => ({ ...ask(`k${at}`), item })),
    options,
  )
  expect(Math.max(...lengths)).toBeLessThan(5 * 1024 * 1024)
  expect(lengths.reduce((sum, length) => sum + length)).toBeGreaterThan(64 * item.length)
  await pooled.close()
  await pool.end()
})
