import { batchKeysMax, type Driver } from '@sluice/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { statementsFor } from '../../src/connection/statements.ts'
import { postgresDriver } from '../../src/index.ts'
import { channelOf } from '../../src/schema/schema-name.ts'
import { addManySql, ask, askOptions as options } from '../support/asks.ts'
import { installed } from '../support/installed.ts'
import { lockWaits, poolOf, sql } from '../support/server.ts'
import { sharedServer } from '../support/shared-server.ts'

const server = sharedServer()
let driver: Driver
let schema: string
let made = 0

function make(): Driver {
  return postgresDriver({ connectionString: server.url, schema, notify: false, onWarning() {} })
}

beforeEach(async () => {
  made += 1
  schema = `pending_${made}`
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
    while ((await pool.query(lockWaits)).rows.length < adders.length);
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

test('an add in the transaction of a caller keeps nobody from adding to a queue with a limit', async () => {
  const limited = { ...options, maxPending: 10 }
  const pool = poolOf(server.url, 1)
  const client = await pool.connect()
  try {
    await client.query('begin')
    await driver.transact?.(client).add('q', [ask('mine')], limited)
    const replies = await driver.add('q', [ask('yours')], limited)
    expect(replies).toEqual([expect.objectContaining({ outcome: 'added' })])
  } finally {
    client.release(true)
    await pool.end()
  }
})

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
  await pool.query(addManySql(schema, 'k', 100_000))
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
  await pool.query(addManySql(schema, 'k', 2_000))
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
  await other.query(addManySql(schema, 'mine ', 15_000))
  for (let at = 3; at < 7; at += 1) added += await addLimited(at, 30_000)
  await other.query('commit')
  for (let at = 7; at < 30; at += 1) added += await addLimited(at, 30_000)
  expect(added).toBe(15_000)
  // A count that ended at one limit says nothing about a higher one.
  await other.query(addManySql(schema, 'more ', 28_000))
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
    // The reads of a vacuum would count, too.
    `alter table ${schema}.keys set (autovacuum_enabled = off)`,
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
