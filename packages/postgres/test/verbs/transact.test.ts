import { StoreProxy } from '@sluice/needs/store-proxy'
import pg from 'pg'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { postgresDriver } from '../../src/index.ts'
import { ask, askOptions as options } from '../support/asks.ts'
import { poolOf } from '../support/server.ts'
import { sharedServer } from '../support/shared-server.ts'

const one = ask('a')
const request = { limit: 1, holder: 'h', claimId: 'c', leaseMs: 60_000 }

const server = sharedServer()
let driver: ReturnType<typeof postgresDriver>
let client: pg.Client
let made = 0

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
    message: expect.stringContaining('key "a" is no longer held'),
  })
  // A caller that catches the error can still commit the rest.
  await client.query('commit')
  expect((await client.query('select from effects')).rowCount).toBe(1)
  expect((await driver.claim('q', request)).claims).toHaveLength(1)
})

test('others are told by the commit, and not before', async () => {
  const other = new pg.Client({ connectionString: server.url })
  await other.connect()
  const { channelOf } = await import('../../src/schema/schema-name.ts')
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

test('others are notified of a finish that leaves a run, and of nothing else', async () => {
  const keys = ['done', 'again', 'later']
  await driver.add('q', keys.map(ask), options)
  const { claims } = await driver.claim('q', { ...request, limit: 3 })
  const token = Object.fromEntries(claims.map((claim) => [claim.key, claim.token]))
  const sent = vi.spyOn(client, 'query')
  const tells = (): boolean => JSON.stringify(sent.mock.calls).includes('pg_notify')
  await client.query('begin')
  const transaction = driver.transact!(client)
  const finished = { as: 'done', key: 'done', token: token['done']!, forget: false } as const
  expect(await transaction.finish('q', [finished], options)).toMatchObject([{ outcome: 'idle' }])
  await transaction.add('q', [{ ...ask('again'), delayMs: 60_000 }], options)
  sent.mockClear()
  await transaction.add('q', [{ ...ask('again'), delayMs: 60_000 }], options)
  expect(tells()).toBe(false)
  for (const [key, outcome] of [
    ['again', 'delayed'],
    ['later', 'ready'],
  ] as const) {
    if (outcome === 'ready') await transaction.add('q', [ask(key)], options)
    sent.mockClear()
    const finish = { as: 'done', key, token: token[key]!, forget: false } as const
    expect(await transaction.finish('q', [finish], options)).toMatchObject([{ outcome }])
    expect(tells()).toBe(true)
  }
  await client.query('rollback')
})

test('without notices, a transaction carries none: with one, it could not be prepared', async () => {
  const schema = `transact_${made}`
  const sent = vi.spyOn(client, 'query')
  for (const notify of [true, false]) {
    const other = postgresDriver({ connectionString: server.url, schema, notify, onWarning() {} })
    await other.open({})
    sent.mockClear()
    await client.query('begin')
    await other.transact!(client).add('q', [one], options)
    await client.query('rollback')
    expect(JSON.stringify(sent.mock.calls).includes('pg_notify')).toBe(notify)
    await other.close()
  }
})

/** Another transaction that has the key `one` locked. */
async function lockedElsewhere(): Promise<pg.Client> {
  await driver.add('q', [one], options)
  const other = new pg.Client({ connectionString: server.url })
  await other.connect()
  await other.query('begin')
  await other.query(`select from transact_${made}.keys for update`)
  return other
}

test('a key that is locked is waited for, as by any update of a row', async () => {
  const other = await lockedElsewhere()
  await client.query('begin')
  const moved = { ...one, priority: 5 }
  const adding = Promise.resolve(driver.transact!(client).add('q', [moved], options))
  // Handled below; a rejection in the meantime must not end the process.
  adding.catch(() => {})
  const waits = `select from pg_stat_activity where pid = $1 and wait_event_type = 'Lock'`
  const { processID } = client as unknown as { processID: number }
  await expect.poll(async () => (await other.query(waits, [processID])).rowCount).toBe(1)
  // real time: longer than the 50 ms for which the driver's own statements wait for a row.
  await other.query('select pg_sleep(0.2)')
  await other.query('commit')
  expect(await adding).toMatchObject([{ outcome: 'moved' }])
  // What the caller set for its own statements is as it was.
  expect((await client.query('show lock_timeout')).rows).toEqual([{ lock_timeout: '0' }])
  await client.query('commit')
  await other.end()
})

test('transactions that wait for keys of each other are told to roll back', async () => {
  const other = new pg.Client({ connectionString: server.url })
  await other.connect()
  for (const each of [client, other]) await each.query("begin; set local deadlock_timeout = '10ms'")
  const add = async (to: pg.Client, key: string): Promise<string> => {
    try {
      const replies = await driver.transact!(to).add('q', [{ ...one, key }], options)
      return replies.map(({ outcome }) => outcome).join()
    } catch (error) {
      await to.query('rollback')
      return `${String((error as { retryable?: unknown }).retryable)}: ${String(error)}`
    }
  }
  await add(client, 'a')
  await add(other, 'b')
  const ends = await Promise.all([add(client, 'b'), add(other, 'a')])
  expect(ends.sort()).toEqual(['added', expect.stringMatching(/^false: .*a deadlock; roll back/)])
  await client.query('rollback')
  await other.end()
})

test('a key that is locked beyond the lock_timeout is busy, and the transaction goes on', async () => {
  const other = await lockedElsewhere()
  await client.query("begin; set local lock_timeout = '20ms'; set local statement_timeout = '60s'")
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

test('a client that is not connected is refused', async () => {
  const unconnected = new pg.Client({ connectionString: server.url })
  await expect(driver.transact!(unconnected).add('q', [one], options)).rejects.toMatchObject({
    code: 'ERR_INVALID_INPUT',
    parameter: 'transaction',
    message: expect.stringContaining('connected'),
  })
})

/** What makes every further call in a transaction fail. */
const ends: readonly (readonly [string, (given: pg.Client) => Promise<unknown>])[] = [
  ['a client that was ended', (given) => given.end()],
  [
    'a connection that the server ended',
    async (given) => {
      const { processID } = given as unknown as { processID: number }
      const ended = new Promise<void>((resolve) => given.once('error', () => resolve()))
      const admin = new pg.Client({ connectionString: server.url })
      await admin.connect()
      await admin.query(`select pg_terminate_backend(${processID})`)
      await admin.end()
      await ended
    },
  ],
  ['a transaction with an error', (given) => given.query('select nonsense').catch(() => {})],
]

test.each(ends)('%s is named, and the call is not to be repeated', async (_, end) => {
  const given = new pg.Client({ connectionString: server.url })
  given.on('error', () => {})
  await given.connect()
  await given.query('begin')
  await end(given)
  await expect(driver.transact!(given).add('q', [one], options)).rejects.toMatchObject({
    code: 'ERR_STORE',
    retryable: false,
    message: expect.stringContaining('repeat the whole transaction'),
  })
  await given.end()
})

test('a transaction that only reads is named, and the call is not to be repeated', async () => {
  await client.query('begin read only')
  await expect(driver.transact!(client).add('q', [one], options)).rejects.toMatchObject({
    code: 'ERR_STORE',
    retryable: false,
    message: expect.stringContaining('in a transaction that may write'),
  })
  await client.query('rollback')
})

test('a key that changed after the snapshot of the transaction is not to be finished again in it', async () => {
  await driver.add('q', [one], options)
  const [claimed] = (await driver.claim('q', request)).claims
  await client.query('begin isolation level repeatable read; select 1')
  const lease = { key: 'a', token: claimed!.token }
  await driver.renew('q', [lease], 90_000)
  const finish = { as: 'done', forget: false, ...lease } as const
  await expect(driver.transact!(client).finish('q', [finish], options)).rejects.toMatchObject({
    code: 'ERR_STORE',
    retryable: false,
    message: expect.stringContaining('repeat the whole transaction'),
  })
  await client.query('rollback')
})

test('a client that reads columns in binary is refused', async () => {
  const refusal = { code: 'ERR_INVALID_INPUT', message: expect.stringContaining('binary: true') }
  const config = { connectionString: server.url, binary: true }
  const pool = new pg.Pool(config).on('error', () => {})
  await expect(postgresDriver({ pool }).open({})).rejects.toMatchObject(refusal)
  await pool.end()
  const binary = new pg.Client(config)
  await binary.connect()
  await binary.query('begin')
  const adding = driver.transact!(binary).add('q', [one], options)
  await expect(adding).rejects.toMatchObject(refusal)
  await binary.query('commit')
  await binary.end()
})

test('verbs of one transaction that are called together do not undo each other', async () => {
  await client.query('begin')
  const transaction = driver.transact!(client)
  const stale = { as: 'done', key: 'b', token: 17, forget: false } as const
  const results = await Promise.allSettled([
    transaction.add('q', [one], options),
    transaction.finish('q', [stale], options),
    // Another object for the same client.
    driver.transact!(client).add('q', [{ ...one, key: 'c' }], options),
  ])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  await client.query('commit')
  const { claims } = await driver.claim('q', { ...request, limit: 10 })
  expect(claims.map(({ key }) => key)).toEqual(['a', 'c'])
})

const bucket = { name: 'service', perSecond: 1, burst: 100 }
const plan = { kind: 'bucket', ...bucket } as const

test('limited verbs in transactions on all clients of a pool do not wait for each other', async () => {
  for (const max of [1, 4]) {
    const pool = poolOf(server.url, max)
    const pooled = postgresDriver({ pool, schema: `transact_${made}`, onWarning() {} })
    await pooled.open({})
    const clients = await Promise.all(Array.from({ length: max }, () => pool.connect()))
    await Promise.all(
      clients.map(async (one_, at) => {
        await one_.query('begin')
        const asks = [{ ...one, key: `k${at}`, plan }]
        const [reply] = await pooled.transact!(one_).add(`q${max}`, asks, options)
        expect(reply).toMatchObject({ outcome: 'added' })
      }),
    )
    for (const one_ of clients) {
      await one_.query('commit')
      one_.release()
    }
    expect((await pooled.counts(`q${max}`, { cap: 10 })).ready).toBe(max)
    await pooled.close()
    await pool.end()
  }
})

const isOurs = process.env['SLUICE_TEST_POSTGRES_URL'] === undefined

test.skipIf(!isOurs)('a client that stays silent is not written to again', async () => {
  const quick = postgresDriver({
    connectionString: server.url,
    schema: `transact_${made}`,
    timeoutMs: 200,
    onWarning() {},
  })
  // A busy machine may hold up the server for longer.
  await vi.waitFor(async () => await quick.open({}), { timeout: 45_000 })
  await client.query('begin')
  const { processID } = client as unknown as { processID: number }
  // The server's process stands still, as behind a network that lost it.
  process.kill(processID, 'SIGSTOP')
  try {
    const transaction = quick.transact!(client)
    await expect(transaction.add('q', [one], options)).rejects.toMatchObject({
      code: 'ERR_UNKNOWN_OUTCOME',
    })
    await expect(transaction.add('q', [one], options)).rejects.toMatchObject({ code: 'ERR_STORE' })
  } finally {
    process.kill(processID, 'SIGCONT')
  }
  await client.query('rollback')
  await quick.close()
})

test('a session that reads NULL in arrays as text stores a key without an item', async () => {
  await client.query('set array_nulls = off; begin')
  await driver.transact!(client).add('q', [one], options)
  await client.query('commit')
  const { claims } = await driver.claim('q', request)
  expect(claims).toEqual([expect.objectContaining({ key: 'a', item: undefined })])
})

test('the connection for buckets is opened again after one whose opening was not answered', async () => {
  const proxy = await StoreProxy.start(server.port)
  onTestFinished(() => proxy.stop())
  const url = new URL(server.url)
  url.port = String(proxy.port)
  const pool = poolOf(url.href, 1)
  const schema = `transact_${made}`
  const pooled = postgresDriver({ pool, schema, timeoutMs: 1_000, notify: false, onWarning() {} })
  // A busy machine may hold up the server for longer.
  await vi.waitFor(async () => await pooled.open({}), { timeout: 45_000 })
  const direct = poolOf(server.url, 1)
  const client = await direct.connect()
  await client.query('begin')
  const add = async () => await pooled.transact!(client).add('q', [{ ...one, plan }], options)
  await proxy.become('silent')
  await expect(add()).rejects.toMatchObject({ retryable: true })
  // What was opened before stays silent, for a minute: then Postgres ends it.
  await proxy.become('half-open')
  const added = expect.poll(() => add().catch(String), { timeout: 30_000 })
  await added.toMatchObject([{ outcome: 'added' }])
  await client.query('rollback')
  client.release()
  await Promise.all([pooled.close(), direct.end()])
  void pool.end()
})
