/**
 * What verbs cost, in rows that are looked at: the same whether a thousand or two hundred thousand
 * keys are there, with or without statistics of the planner (here there are none).
 */
import type { Driver } from '@sluice/core'
import type pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { postgresDriver } from '../../src/index.ts'
import { askOptions as options } from '../support/asks.ts'
import { installed } from '../support/installed.ts'
import { poolOf, startServer, type TestServer } from '../support/server.ts'

const day = 86_400_000

let server: TestServer
let pool: pg.Pool
let driver: Driver

beforeAll(async () => {
  server = await startServer(['-c', 'autovacuum=off'])
  // One connection: its plans are made while the table is small, and kept.
  pool = poolOf(server.url, 1)
  driver = postgresDriver({ pool, schema: 'plans', onWarning() {} })
  await driver.open({})
})

afterAll(async () => {
  await driver.close()
  await pool.end()
  await server.stop()
})

function asks(count: number, prefix: string, delayMs = 0, priority = 0) {
  return Array.from({ length: count }, (_, i) => {
    return { key: `${prefix}${i}`, item: undefined, priority, delayMs }
  })
}

interface Looks {
  /** Scans of the whole table. */
  readonly scans: number
  /** Rows and index entries that were looked at. */
  readonly looks: number
}

async function looksSoFar(): Promise<Looks> {
  await pool.query('select pg_stat_force_next_flush()')
  const { rows } = await pool.query(`select s.seq_scan::int as scans, (s.seq_tup_read +
      (select sum(i.idx_tup_read) from pg_stat_user_indexes i where i.relid = s.relid))::int as looks
    from pg_stat_user_tables s where s.schemaname = 'plans' and s.relname = 'keys'`)
  return rows[0]
}

/** How much is looked at while something is done. */
async function looksOf(work: () => Promise<unknown>): Promise<Looks> {
  const before = await looksSoFar()
  await work()
  const after = await looksSoFar()
  return { scans: after.scans - before.scans, looks: after.looks - before.looks }
}

/** Every verb, once, on some keys of its own. */
async function everyVerb(
  queue: string,
  round: number,
  count = 100,
): Promise<Record<string, Looks>> {
  const seen: Record<string, Looks> = {}
  const mine = asks(count, `mine ${round} `, 0, 5)
  const names = mine.map(({ key }) => key)
  const plan = { kind: 'exponential', baseMs: 1, maxMs: 5 } as const
  seen['add'] = await looksOf(async () => await driver.add(queue, mine, options))
  seen['add again'] = await looksOf(async () => await driver.add(queue, mine, options))
  const planned = mine.map((ask) => ({ ...ask, plan, failed: true }))
  seen['add worked out'] = await looksOf(async () => await driver.add(queue, planned, options))
  const request = { limit: count, holder: 'h', claimId: `c${round}`, leaseMs: day }
  let claims: readonly { key: string; token: number }[] = []
  seen['claim'] = await looksOf(async () => {
    claims = (await driver.claim(queue, request)).claims
  })
  expect(claims.map(({ key }) => key)).toEqual(names)
  seen['adopt'] = await looksOf(async () => await driver.adopt?.(queue, request.claimId))
  seen['renew'] = await looksOf(async () => await driver.renew(queue, claims, 2 * day))
  const stale = claims.map(({ key, token }) => ({ key, token: token - 1 }))
  seen['renew stale'] = await looksOf(async () => await driver.renew(queue, stale, day))
  const late = stale.map((lease) => ({ as: 'done', ...lease, forget: true }) as const)
  seen['done stale'] = await looksOf(async () => await driver.finish(queue, late, options))
  seen['tick'] = await looksOf(
    async () => await driver.tick(queue, { holder: 'h', limit: 100, failuresExpireMs: day }),
  )
  seen['counts'] = await looksOf(async () => await driver.counts(queue, { cap: 100 }))
  seen['list'] = await looksOf(async () => await driver.list(queue, { limit: 100 }))
  const held = { state: 'processing', limit: 100 } as const
  seen['list held'] = await looksOf(async () => await driver.list(queue, held))
  const named = { keys: names, limit: 100 }
  seen['list named'] = await looksOf(async () => await driver.list(queue, named))
  seen['queues'] = await looksOf(async () => await driver.queues?.())
  const retries = claims
    .slice(0, count / 2)
    .map(({ key, token }) => ({ as: 'retry', key, token, delayMs: day }) as const)
  seen['retry'] = await looksOf(async () => await driver.finish(queue, retries, options))
  const dones = claims
    .slice(count / 2)
    .map(({ key, token }) => ({ as: 'done', key, token, forget: true }) as const)
  seen['done of one'] = await looksOf(
    async () => await driver.finish(queue, dones.slice(0, 1), options),
  )
  seen['done'] = await looksOf(async () => await driver.finish(queue, dones.slice(1), options))
  seen['cancel'] = await looksOf(async () => await driver.cancel(queue, names))
  seen['forget'] = await looksOf(async () => await driver.forget(queue, names))
  return seen
}

async function grow(queue: string, count: number): Promise<void> {
  await pool.query(
    `insert into plans.keys
      (queue_id, queue, key, due_at, ready_at, why, seq, priority, asked_at, parked)
    select plans.${installed('queue_number')}($1), $1, 'ballast ' || kind || ' ' || n, case kind when 'later' then 1e15 else 1 end,
      case kind when 'later' then 1e15 else 1 end, case kind when 'later' then 1 else 0 end, n,
      case kind when 'later' then 9 else 0 end, 1, kind = 'parked'
    from unnest(array['later', 'now', 'parked']) as kind, generate_series(1, $2::int) as n`,
    [queue, Math.ceil(count / 3)],
  )
  await pool.query(
    `insert into plans.keys (queue_id, queue, key, token, lease_until)
    select plans.${installed('queue_number')}($1), $1, 'ballast held ' || n, nextval('plans.token'), 1e15 from generate_series(1, $2::int) as n`,
    [queue, heldBallast],
  )
}

/** How many keys others hold, and which verbs look at all that are held. */
const heldBallast = 5_000
const looksAtHeld: Readonly<Record<string, number>> = { tick: 2, adopt: 1, 'list held': 1 }

async function growsAndStaysCheap(queue: string): Promise<void> {
  const small = await everyVerb(queue, 100)
  await grow(queue, 200_000)
  const large = await everyVerb(queue, 101)
  for (const [verb, { scans, looks }] of Object.entries(large)) {
    expect(scans, `${verb} scans the table`).toBe(0)
    // Half as much again, and what a batch of 100, or counting to 100, may look at in any case.
    const most = 1.5 * (small[verb]?.looks ?? 0) + 1_000 + (looksAtHeld[verb] ?? 0) * heldBallast
    expect(looks, verb).toBeLessThan(most)
  }
}

test('what verbs look at does not grow with the table, whatever the planner believes', async () => {
  await driver.add('q', asks(1_000, 'few '), options)
  // Until plans are kept.
  for (let round = 0; round < 8; round += 1) await everyVerb('q', round)
  await growsAndStaysCheap('q')
}, 120_000)

test('nor does it for plans that were made when the table had been vacuumed empty', async () => {
  // What a quiet queue comes to: the planner knows for certain that there is nothing.
  const forget = 'truncate plans.keys; vacuum analyze plans.keys'
  for (const text of forget.split('; ')) await pool.query(text)
  for (let round = 0; round < 8; round += 1) await everyVerb('empty', round, 2)
  await growsAndStaysCheap('empty')
}, 120_000)

test('few claims pass over all that ended runs leave in the index of held keys', async () => {
  const heldLooks = async (): Promise<number> => {
    await pool.query('select pg_stat_force_next_flush()')
    const { rows } = await pool.query(`select idx_tup_read::int as n
      from pg_stat_user_indexes where schemaname = 'plans' and indexrelname = 'keys_held'`)
    return rows[0].n
  }
  const readers = poolOf(server.url, 1)
  const reader = await readers.connect()
  try {
    // Vacuum keeps what this transaction could still read, and no scan marks it as dead.
    await reader.query('begin isolation level repeatable read')
    await reader.query('select from plans.queues')
    const request = { limit: 500, holder: 'h', claimId: 'c', leaseMs: day }
    for (let round = 0; round < 4; round += 1) {
      await driver.add('ended', asks(500, `${round} `), options)
      const { claims } = await driver.claim('ended', request)
      const ends = claims.map(({ key, token }) => {
        return { as: 'done', key, token, forget: false } as const
      })
      await driver.finish('ended', ends, options)
    }
    const before = await heldLooks()
    for (let i = 0; i < 30; i += 1) await driver.claim('ended', request)
    expect((await heldLooks()) - before).toBeLessThan(10 * 2_000)
  } finally {
    // A server that only loses the connection may keep the snapshot for longer, and with it dead rows.
    await reader.query('rollback')
    reader.release()
    await readers.end()
  }
})

test('a renewal needs no index entry: most are heap-only', async () => {
  await driver.add('hot', asks(1_000, 'k'), options)
  const request = { limit: 1_000, holder: 'h', claimId: 'c', leaseMs: day }
  const { claims } = await driver.claim('hot', request)
  const updates = async (): Promise<{ all: number; hot: number }> => {
    await pool.query('select pg_stat_force_next_flush()')
    const { rows } = await pool.query(`select n_tup_upd::int as all, n_tup_hot_upd::int as hot
      from pg_stat_user_tables where schemaname = 'plans' and relname = 'keys'`)
    return rows[0]
  }
  const before = await updates()
  for (let i = 1; i <= 10; i += 1) await driver.renew('hot', claims, (1 + i) * day)
  const after = await updates()
  expect(after.all - before.all).toBe(10_000)
  expect((after.hot - before.hot) / 10_000).toBeGreaterThan(0.75)
})

test('adding a pending key again writes nothing', async () => {
  const same = asks(500, 'same ')
  await driver.add('hot', same, options)
  const written = async (): Promise<number> => {
    await pool.query('select pg_stat_force_next_flush()')
    const { rows } = await pool.query(`select (n_tup_upd + n_tup_ins + n_tup_del)::int as n
      from pg_stat_user_tables where schemaname = 'plans' and relname = 'keys'`)
    return rows[0].n
  }
  const before = await written()
  for (let i = 0; i < 10; i += 1) await driver.add('hot', same, options)
  expect(await written()).toBe(before)
})
