/**
 * What concurrent calls may do to each other: probes, which the SQL passes, and each of which fails once
 * the SQL is broken in the place that keeps its promise.
 */
import type { Clock, Driver } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import pg from 'pg'
import { expect, test } from 'vitest'
import { postgresDriver } from '../../src/index.ts'
import { channelOf } from '../../src/schema/schema-name.ts'
import { ask, askOptions as options } from '../support/asks.ts'
import { type Break, makeSchema } from '../support/broken-sql.ts'
import { installed } from '../support/installed.ts'
import { lockWaits } from '../support/server.ts'
import { sharedServer } from '../support/shared-server.ts'

const server = sharedServer()
let schemas = 0

/** By a given clock, every claim looks for expired leases. */
const still = fakeClock(Date.now())

/** Rejects if a promise is broken that only concurrent calls show. */
type Probe = (driver: Driver, schema: string) => Promise<void>

function asks(keys: readonly string[]) {
  return keys.map((key) => ask(key))
}

/** Does `work` while another transaction has a key locked. */
async function whileLocked<T>(schema: string, key: string, work: () => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  try {
    await client.query('begin')
    await client.query(`select from ${schema}.keys where key = $1 for update`, [key])
    return await work()
  } finally {
    await client.query('rollback')
    await client.end()
  }
}

/** Until a statement waits for a lock. */
async function untilLockIsAwaited(): Promise<void> {
  while ((await server.pool.query(lockWaits)).rowCount === 0);
}

/** From now on a function of a schema waits for locks without a limit. */
async function letWait(schema: string, name: string): Promise<void> {
  await server.pool.query(
    `do $$ begin execute (select 'alter function ' || p.oid::regprocedure || ' set lock_timeout = 0'
    from pg_proc p where p.proname = '${installed(name)}' and p.pronamespace = '${schema}'::regnamespace); end $$`,
  )
}

const request = { limit: 10, holder: 'h', claimId: 'c', leaseMs: 60_000 }

const claimsSkipLocked: Probe = async (driver, schema) => {
  await driver.add('q', asks(['a', 'b']), options)
  await whileLocked(schema, 'a', async () => {
    const { claims } = await driver.claim('q', request)
    expect(claims.map(({ key }) => key)).toEqual(['b'])
  })
}

const renewsSkipLocked: Probe = async (driver, schema) => {
  await driver.add('q', asks(['a', 'b']), options)
  const { claims } = await driver.claim('q', request)
  await whileLocked(schema, 'a', async () => {
    const replies = await driver.renew('q', claims, 60_000)
    expect(replies.map(({ outcome }) => outcome)).toEqual(['failed', 'renewed'])
  })
}

const locksInTheOrderOfKeys: Probe = async (driver, schema) => {
  await driver.add('q', asks(['a', 'b']), options)
  // Waits for the lock of the first key, long enough to look.
  await letWait(schema, 'add')
  let adding: Promise<unknown> | undefined
  await whileLocked(schema, 'a', async () => {
    // In the order of the call, b comes first.
    const higher = asks(['b', 'a']).map((ask) => ({ ...ask, priority: 1 }))
    adding = Promise.resolve(driver.add('q', higher, options))
    await untilLockIsAwaited()
    await server.pool.query(`select from ${schema}.keys where key = 'b' for update nowait`)
  }).finally(() => adding)
}

const writesNothingInVain: Probe = async (driver, schema) => {
  await driver.add('q', asks(['a']), options)
  const version = async (): Promise<unknown> =>
    (await server.pool.query(`select xmin::text, ctid::text from ${schema}.keys`)).rows
  const before = await version()
  await driver.add('q', asks(['a']), options)
  expect(await version()).toEqual(before)
}

/** Locking and reading are two statements; between them another process may add a key and claim it. */
const showsOnlyWhatItLocks: Probe = async (driver, schema) => {
  await driver.add('q', asks(['b']), options)
  await letWait(schema, 'lock_keys')
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await client.query('begin')
  let looking: Promise<pg.QueryResult<{ key: string }>> | undefined
  await whileLocked(schema, 'b', async () => {
    // There is no a to lock; it comes while this waits for b.
    looking = client.query(
      `select (l.state).key from ${schema}.${installed('lock_keys')}('q', array['a', 'b'], false, null, null, null) l
      where (l.state).key is not null`,
    )
    await untilLockIsAwaited()
    await driver.add('q', asks(['a']), options)
  })
  const shown = (await looking)?.rows.map(({ key }) => key)
  const free = await server.pool.query<{ key: string }>(
    `select key from ${schema}.keys order by key for update skip locked`,
  )
  await client.query('rollback')
  await client.end()
  expect(shown).toEqual(['b'])
  expect(free.rows.map(({ key }) => key)).toEqual(['a'])
}

/** Each claim looks at a few of the keys that are held, and the next one at others. */
const findsEveryLeaseEnd: Probe = async (driver) => {
  const held = 300
  await driver.add('q', asks(['over']), options)
  await driver.claim('q', { ...request, leaseMs: 0 })
  await driver.add('q', asks(Array.from({ length: held }, (_, at) => `k${at}`)), options)
  const { claims } = await driver.claim('q', { ...request, limit: held, claimId: 'held' })
  expect(claims).toHaveLength(held)
  const ends = new Set<string>()
  for (let look = 0; look < 20; look += 1) {
    const { leaseEnds } = await driver.claim('q', { ...request, claimId: `look ${look}` })
    for (const { key } of leaseEnds) ends.add(key)
  }
  expect([...ends]).toEqual(['over'])
}

/** The claim that looks at the last of the held keys looks at the latest again. */
const findsLeaseEndsPastTheRound: Probe = async (driver, schema) => {
  const keys = Array.from({ length: 100 }, (_, at) => `k${at}`)
  await driver.add('q', asks(keys), options)
  const { claims } = await driver.claim('q', { ...request, limit: 99, claimId: 'held' })
  expect(claims).toHaveLength(99)
  const other = postgresDriver({ pool: server.pool, schema, migrate: 'verify', onWarning() {} })
  await other.open({ clock: still })
  await other.claim('q', { ...request, leaseMs: 0, claimId: 'over' })
  await other.close()
  const { leaseEnds } = await driver.claim('q', { ...request, claimId: 'look' })
  expect(leaseEnds.map(({ key }) => key)).toEqual(['k99'])
}

/** The statement that adds a key sends the notice for other processes. */
const sendsNotice: Probe = async (driver, schema) => {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  let notices = 0
  client.on('notification', () => {
    notices += 1
  })
  await client.query(`listen ${channelOf(schema)}`)
  await driver.add('q', asks(['a']), options)
  // A server hands over notices before it answers; a hundred answers, if it learns of this one late.
  for (let answers = 0; notices === 0 && answers < 100; answers += 1) await client.query('select 1')
  await client.end()
  expect(notices).toBe(1)
}

/** Two adds at the same moment are one run, although the one that comes second has read an earlier time. */
const addsOfOneMomentAreOneRun: Probe = async (driver, schema) => {
  await driver.add('q', asks(['a']), options)
  await letWait(schema, 'add')
  const rowOfB = async (): Promise<unknown> =>
    (await server.pool.query(`select * from ${schema}.keys where key = 'b'`)).rows
  let second: Promise<readonly unknown[]> | undefined
  let first: unknown
  await whileLocked(schema, 'a', async () => {
    const again = asks(['a', 'b']).map((ask) => ({ ...ask, item: '1' }))
    second = Promise.resolve(driver.add('q', again, options))
    await untilLockIsAwaited()
    await driver.add('q', asks(['b']), options)
    first = await rowOfB()
  })
  expect(await second).toMatchObject([{ outcome: 'unchanged' }, { outcome: 'unchanged' }])
  expect(await rowOfB()).toEqual([{ ...(first as object[])[0], item: '1', change: 0 }])
}

/** By the server's clock, too, only a run that was asked for without a delay is due before its time. */
const endsDelays: Probe = async (driver) => {
  const delayed = asks(['a']).map((ask) => ({ ...ask, delayMs: 3_600_000 }))
  await driver.add('q', delayed, options)
  const before = Date.now()
  expect(await driver.add('q', asks(['a']), options)).toMatchObject([{ outcome: 'added' }])
  const { claims } = await driver.claim('q', request)
  expect(claims.map(({ key }) => key)).toEqual(['a'])
  expect(claims[0]!.readyAt - before).toBeLessThan(1_800_000)
  const done = claims.map(({ key, token }) => ({ as: 'done', key, token, forget: true }) as const)
  expect(await driver.finish('q', done, options)).toMatchObject([{ outcome: 'delayed' }])
}

/** The public function reads the row of the key before it decides what to delete. */
const cancelLeavesWhatIsClaimed: Probe = async (driver, schema) => {
  await driver.add('q', asks(['a']), options)
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await client.query('begin')
  await client.query(
    `select from ${schema}.${installed('claim')}('q', 1, 'h', 'c', 1e5, 'Infinity', 0, 0, null, null)`,
  )
  const cancelling = server.pool.query(`select ${schema}.cancel('q', 'a') as outcome`)
  await untilLockIsAwaited()
  await client.query('commit')
  await client.end()
  expect((await cancelling).rows).toEqual([{ outcome: 'unchanged' }])
  expect((await driver.counts('q', { cap: 10 })).processing).toBe(1)
}

/** What follows where an add asks whether a run is due by the server's clock. */
const decisions = {
  due: " and k.due_at < 'Infinity' then k.due_at",
  ready: " and k.due_at < 'Infinity' then\n          case",
  'second run': ' then\n          case when in_twice and excluded.why > 0\n            then',
  outcome: ' then\n          case\n',
}
const position = ' then k.seq'
const change = '\n        then k.later_at'

/** Such decisions made by another condition. */
function decidedBy(condition: string, probe: Probe, parts: Readonly<Record<string, string>>) {
  return Object.entries(parts).map(([name, rest]) => ({
    name: `the ${name} of a run is decided by "${condition}"`,
    from: `or by_server and k.why = 0${rest}`,
    to: `${condition}${rest}`,
    probe,
  }))
}

const meetings: readonly (Break & { readonly probe: Probe; readonly clock?: Clock })[] = [
  {
    name: 'a claim waits for a locked row',
    from: 'cardinality(picks), 0)\n        for update skip locked',
    to: 'cardinality(picks), 0)\n        for update',
    probe: claimsSkipLocked,
  },
  {
    name: 'a renewal waits for a locked row',
    from: 'k.token = i.token and k.key = i.key\n    for update skip locked) x;',
    to: 'k.token = i.token and k.key = i.key\n    for update) x;',
    probe: renewsSkipLocked,
  },
  {
    name: 'adds lock keys in the order of the call',
    from: 'as i(key, item, priority, delay, index, trace)\n    on conflict',
    to: 'as i(key, item, priority, delay, index, trace) order by i.index\n    on conflict',
    probe: locksInTheOrderOfKeys,
  },
  {
    name: 'keys that could not be locked are worked on',
    from: 'in_keys := array(select x.key from',
    to: 'perform array(select x.key from',
    probe: showsOnlyWhatItLocks,
  },
  {
    name: 'an add that changes nothing writes a row',
    from: 'or k.item is distinct from excluded.item',
    to: 'or true',
    probe: writesNothingInVain,
  },
  {
    name: 'each claim looks at the same of the keys that are held',
    from: 'k.token is not null and k.token < in_before',
    to: 'k.token is not null',
    probe: findsEveryLeaseEnd,
    clock: still,
  },
  {
    name: 'the claim that ends a round of looks does not begin the next one',
    from: 'or look_before is null and in_before < 9223372036854775807 then',
    to: 'then',
    probe: findsLeaseEndsPastTheRound,
    clock: still,
  },
  {
    name: 'a new key that is added alone wakes no other process',
    from: 'if found then\n      if in_channel is not null then perform pg_notify(in_channel, in_notice); end if;',
    to: 'if found then',
    probe: sendsNotice,
  },
  {
    name: 'a cancel deletes a key that is claimed at the same moment',
    from: 'k.key = in_key for update;',
    to: 'k.key = in_key;',
    probe: cancelLeavesWhatIsClaimed,
  },
  ...decidedBy('or false', addsOfOneMomentAreOneRun, { ...decisions, position }),
  ...decidedBy('or by_server', endsDelays, { ...decisions, change }),
]

test.each(meetings)('$name: a probe notices', async ({ probe, clock, ...broken }) => {
  for (const which of [undefined, broken]) {
    schemas += 1
    const schema = `meeting_${schemas}`
    await makeSchema(server.url, schema, which)
    const driver = postgresDriver({ pool: server.pool, schema, migrate: 'verify', onWarning() {} })
    await driver.open({ clock })
    const looked = probe(driver, schema)
    if (which === undefined) await looked
    else await expect(looked).rejects.toThrow()
    await driver.close()
  }
})

test('an add that commits while the finish of its key waits for the row is run', async () => {
  const schema = 'racing'
  const driver = postgresDriver({ pool: server.pool, schema, onWarning() {} })
  await driver.open({})
  await driver.add('q', asks(['a']), options)
  const { claims } = await driver.claim('q', request)
  await letWait(schema, 'finish_done')
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  await client.query('begin')
  await driver.transact?.(client).add('q', asks(['a']), options)
  const done = claims.map(({ key, token }) => ({ as: 'done', key, token, forget: true }) as const)
  const finishing = Promise.resolve(driver.finish('q', done, options))
  await untilLockIsAwaited()
  await client.query('commit')
  await client.end()
  expect(await finishing).toMatchObject([{ outcome: 'ready' }])
  expect((await driver.counts('q', { cap: 10 })).ready).toBe(1)
  await driver.close()
})

test('a key that is claimed while other processes forget and cancel it stays with its holder', async () => {
  const driver = postgresDriver({ pool: server.pool, schema: 'forgetting', onWarning() {} })
  await driver.open({})
  const keys = Array.from({ length: 30 }, (_, at) => `k${at}`)
  const givesBack = async (claims: readonly { key: string; token: number }[]) => {
    const done = claims.map(({ key, token }) => ({ as: 'done', key, token, forget: true }) as const)
    return await driver.finish('q', done, options)
  }
  for (let round = 0; round < 200; round += 1) {
    const adding = async () => {
      await driver.add('q', asks(keys), options)
      return await driver.claim('q', { ...request, limit: 30, claimId: `c${round}` })
    }
    // A batch in which a key was locked just then is refused as a whole, which is no matter here.
    const [, { claims }] = await Promise.all([
      Promise.resolve(driver.forget('q', keys)).catch(() => undefined),
      adding(),
      Promise.resolve(driver.cancel('q', keys)).catch(() => undefined),
    ])
    const outcomes = (await givesBack(claims)).map(({ outcome }) => outcome)
    expect(outcomes).not.toContain('lost')
    const { claims: rest } = await driver.claim('q', { ...request, limit: 30, claimId: 'rest' })
    await givesBack(rest)
  }
  await driver.close()
})
