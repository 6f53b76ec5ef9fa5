/** Answers that are lost on their way: what reads, and statements that were never begun, do then. */
import type { EventEmitter } from 'node:events'
import type { Driver } from '@sluice/core'
import type pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { DeadlineError } from '../../src/connection/deadline.ts'
import { migrate, postgresDriver, schemaVersion, watchTable } from '../../src/index.ts'
import { ask, askOptions } from '../support/asks.ts'
import { type CuttingProxy, startProxy } from '../support/cutting-proxy.ts'
import { poolOf } from '../support/server.ts'
import { sharedServer } from '../support/shared-server.ts'

const server = sharedServer()

/** An open driver with two connections at most, through a proxy. */
async function proxied(
  more: { readonly notify?: boolean } = {},
): Promise<{ readonly driver: Driver; readonly proxy: CuttingProxy }> {
  const proxy = await startProxy(server.port)
  const url = new URL(server.url)
  url.port = String(proxy.port)
  const driver = postgresDriver({
    connectionString: url.href,
    poolSize: 2,
    onWarning() {},
    ...more,
  })
  await driver.open({})
  onTestFinished(async () => {
    await driver.close()
    await proxy.stop()
  })
  return { driver, proxy }
}

/** An open driver with one connection at most, from a pool that a test may change. */
async function pooled(
  schema: string,
): Promise<{ readonly driver: Driver; readonly pool: pg.Pool }> {
  const pool = poolOf(server.url, 1)
  const driver = postgresDriver({ pool, schema, onWarning() {} })
  await driver.open({})
  onTestFinished(async () => {
    await driver.close()
    await pool.end()
  })
  return { driver, pool }
}

const reads: Readonly<Record<string, (driver: Driver) => unknown>> = {
  counts: (driver) => driver.counts('q', { cap: 1 }),
  list: (driver) => driver.list('q', { limit: 1 }),
  queues: (driver) => driver.queues?.(),
  buckets: (driver) => driver.buckets?.(),
  workers: (driver) => driver.workers?.('q', 1_000),
  history: (driver) => driver.history?.('q', 10_000),
  failedRuns: (driver) => driver.failedRuns?.('q'),
  adopt: (driver) => driver.adopt?.('q', 'claim'),
}

test.each(Object.entries(reads))('%s reads again when its answer is lost', async (_, read) => {
  const { driver, proxy } = await proxied()
  proxy.cutNext('half a reply')
  await read(driver)
  expect(proxy.made).toBe(1)
})

const lease = { key: 'a', token: 1 }
/** Each of them is one statement. */
const writes: Readonly<Record<string, (driver: Driver) => unknown>> = {
  add: (driver) => driver.add('q', [ask('a')], askOptions),
  claim: (driver) => driver.claim('q', { limit: 1, holder: 'h', claimId: 'c', leaseMs: 1_000 }),
  renew: (driver) => driver.renew('q', [lease], 1_000),
  finish: (driver) => driver.finish('q', [{ as: 'done', ...lease, forget: false }], askOptions),
  pause: (driver) => driver.operate?.pause('q'),
}

test.each(Object.entries(writes))(
  '%s is not made again when its answer is lost, and its outcome is unknown',
  async (_, write) => {
    const { driver, proxy } = await proxied()
    await write(driver)
    proxy.cutNext('half a reply')
    const cut = (async () => await write(driver))()
    await expect(cut).rejects.toMatchObject({ code: 'ERR_UNKNOWN_OUTCOME' })
    expect(proxy.made).toBe(1)
  },
)

const expiring = { dedupe: 'client-go', maxCrashes: 5 } as const

/** The only connection of a pool breaks after the next commit, before its answer comes. */
async function loseCommit(pool: pg.Pool): Promise<void> {
  const client = await pool.connect()
  const query = client.query.bind(client) as (sent: { text: string }) => unknown
  const queryOrBreak = async (sent: { text: string }): Promise<unknown> => {
    const answer = await query(sent)
    if (sent.text !== 'commit') return answer
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  }
  client.query = queryOrBreak as typeof client.query
  client.release()
}

test('a finish whose answer is lost wakes workers, since it may have made a key ready', async () => {
  const { driver, proxy } = await proxied({ notify: false })
  await driver.add('q', [ask('a')], askOptions)
  const woken: unknown[] = []
  await driver.watch?.((queue) => woken.push(queue))
  await driver.finish('q', [{ as: 'done', ...lease, forget: false }], askOptions)
  expect(woken).toEqual([])
  proxy.cutNext('half a reply')
  const cut = (async () =>
    await driver.finish('q', [{ as: 'done', ...lease, forget: false }], askOptions))()
  await expect(cut).rejects.toMatchObject({ code: 'ERR_UNKNOWN_OUTCOME' })
  await expect.poll(() => woken).toContain('q')
})

test.each(['is made', 'loses the answer of its commit'])(
  'an end of a lease wakes workers, since it may have made a key ready: one that %s',
  async (what) => {
    const pool = poolOf(server.url, 1)
    const driver = postgresDriver({ pool, schema: 'ends', notify: false, onWarning() {} })
    await driver.open({})
    onTestFinished(async () => {
      await driver.close()
      await pool.end()
    })
    await driver.add(what, [ask('a')], askOptions)
    const claim = { limit: 1, holder: 'h', claimId: 'c', leaseMs: 1 }
    const { claims } = await driver.claim(what, claim)
    const ended = async (): Promise<number> => {
      const { leaseEnds } = await driver.tick(what, { holder: 'h', limit: 1, failuresExpireMs: 1 })
      return leaseEnds.length
    }
    await expect.poll(ended).toBe(1)
    const woken: unknown[] = []
    await driver.watch?.((queue) => woken.push(queue))
    const isLost = what !== 'is made'
    if (isLost) await loseCommit(pool)
    const ending = (async () => await driver.expire(what, claims, expiring))()
    await (isLost
      ? expect(ending).rejects.toMatchObject({ code: 'ERR_UNKNOWN_OUTCOME' })
      : expect(ending).resolves.toEqual(['expired']))
    await expect.poll(() => woken).toContain(what)
    expect((await driver.counts(what, { cap: 1 })).ready).toBe(1)
  },
)

test('a read that is not answered twice is retryable, and its outcome is not unknown', async () => {
  const { driver, proxy } = await proxied()
  const answering = async (): Promise<unknown> => await driver.counts('q', { cap: 1 })
  // Both connections are open, so that what is cut next are the reads.
  await Promise.all([answering(), answering()])
  proxy.cutNext('half a reply')
  proxy.cutNext('half a reply')
  await expect(answering()).rejects.toMatchObject({
    code: 'ERR_STORE',
    retryable: true,
    message: expect.stringContaining('the store was not read: '),
  })
  expect(proxy.made).toBe(2)
  await answering()
})

test('a read that was silent until its deadline is retryable, and does not wait for another one', async () => {
  const { driver, pool } = await pooled('late')
  let sent = 0
  const fail = (client: pg.PoolClient): void => {
    client.query = async () => {
      sent += 1
      throw new DeadlineError('a statement', 30_000)
    }
  }
  const client = await pool.connect()
  fail(client)
  client.release()
  pool.on('connect', fail)
  const answering = async (): Promise<unknown> => await driver.counts('q', { cap: 1 })
  await expect(answering()).rejects.toMatchObject({ code: 'ERR_STORE', retryable: true })
  expect(sent).toBe(1)
})

test('a connection that the server ended because it was idle makes no call fail', async () => {
  const { driver, pool } = await pooled('idle')
  let ended = 0
  /** The answer of a server to what is sent next on the only connection. */
  const endNext = async (): Promise<void> => {
    const client = await pool.connect()
    client.query = async () => {
      ended += 1
      throw Object.assign(new Error('terminating connection due to idle-session timeout'), {
        code: '57P05',
        severity: 'FATAL',
      })
    }
    client.release()
  }
  const options = { dedupe: 'client-go', failuresExpireMs: 60_000 } as const
  const ask = { item: undefined, priority: 0, delayMs: 0 }
  await endNext()
  expect(await driver.add('q', [{ key: 'a', ...ask }], options)).toMatchObject([
    { outcome: 'added' },
  ])
  // In a transaction, it is the statement that begins it.
  await endNext()
  expect(await driver.cancel?.('q', ['a'])).toEqual(['cancelled'])
  expect(ended).toBe(2)
})

/** As a server that was held up in a transaction: the text has come, and the time has passed, when it goes on. */
function endNextWith(client: pg.PoolClient, part: string): { readonly ended: () => number } {
  let ended = 0
  const query = client.query.bind(client) as (sent: { text: string }) => unknown
  const queryOrEnd = async (sent: { text: string }): Promise<unknown> => {
    // The isolation level, in the statement that begins, is named after the commit.
    const isPart = part === 'commit' ? sent.text === part : sent.text.includes(part)
    if (!isPart) return await query(sent)
    ended += 1
    throw Object.assign(new Error('terminating connection due to idle-in-transaction timeout'), {
      code: '25P03',
      severity: 'FATAL',
    })
  }
  client.query = queryOrEnd as typeof client.query
  return { ended: () => ended }
}

test.each(['begin', 'sluice', 'commit'])(
  'a transaction that the server ended because it was idle makes no call fail: before %s was read',
  async (part) => {
    const { driver, pool } = await pooled(`idle_${part}`)
    const options = { dedupe: 'client-go', failuresExpireMs: 60_000 } as const
    await driver.add('q', [{ key: 'a', item: undefined, priority: 0, delayMs: 0 }], options)
    const client = await pool.connect()
    const { ended } = endNextWith(client, part)
    client.release()
    expect(await driver.cancel?.('q', ['a'])).toEqual(['cancelled'])
    expect(ended()).toBe(1)
  },
)

test('a migration that the server ended because it was idle is made', async () => {
  const pool = poolOf(server.url, 1)
  onTestFinished(() => pool.end())
  const client = await pool.connect()
  const { ended } = endNextWith(client, 'advisory')
  client.release()
  const { version } = await migrate({ pool, schema: 'idle_migration' })
  expect(version).toBe(schemaVersion)
  expect(ended()).toBe(1)
})

test('triggers whose transaction the server ended because it was idle are created', async () => {
  const { pool } = await pooled('idle_watch')
  await pool.query('create table idle_watched (id text)')
  onTestFinished(async () => void (await server.pool.query('drop table idle_watched')))
  const client = await pool.connect()
  const { ended } = endNextWith(client, 'trigger')
  client.release()
  const watch = { table: 'idle_watched', queue: 'q', key: 'id' }
  expect(await watchTable({ pool, schema: 'idle_watch' }, watch)).toMatchObject({ existed: false })
  expect(ended()).toBe(1)
})

test('a connection that the server ended before the first statement was sent makes no call fail', async () => {
  const { driver, pool } = await pooled('ended')
  let ended = 0
  const endNew = async (): Promise<void> => {
    pool.once('connect', (client: pg.PoolClient & { readonly connection: EventEmitter }) => {
      ended += 1
      // As when the message is read together with the last one of the connecting.
      client.connection.emit('errorMessage', new Error('terminating connection'))
    })
    ;(await pool.connect()).release(true)
  }
  const options = { dedupe: 'client-go', failuresExpireMs: 60_000 } as const
  const ask = { item: undefined, priority: 0, delayMs: 0 }
  await endNew()
  expect(await driver.add('q', [{ key: 'a', ...ask }], options)).toMatchObject([
    { outcome: 'added' },
  ])
  await endNew()
  expect((await driver.counts('q', { cap: 1 })).ready).toBe(1)
  await endNew()
  expect(await driver.cancel?.('q', ['a'])).toEqual(['cancelled'])
  expect(ended).toBe(3)
})

const worker = { holder: 'w', host: 'host', pid: 1, concurrency: 1, settings: {} }
const failedRun = { at: 0, key: 'a', code: 'E', holder: 'w', failures: 0, lastError: '{}' }

/** A heartbeat with the work of one run that failed. */
async function beat(driver: Driver, queue: string): Promise<unknown> {
  const record = {
    ...{ started: 1, done: 0, failed: 1, added: 0, merged: 0, expired: 0, codes: [] },
    failedRuns: [{ ...failedRun, at: Date.now() }],
  }
  const { recorded } = await driver.tick(queue, {
    ...{ holder: 'w', worker, record, limit: 1, failuresExpireMs: 60_000 },
  })
  return recorded
}

/** The runs that were recorded, in whatever minutes, and those that failed. */
async function recordedRuns(driver: Driver, queue: string): Promise<unknown> {
  const { steps = [] } = (await driver.history?.(queue, 600_000)) ?? {}
  const begun = steps.reduce((sum, { started }) => sum + started, 0)
  return [begun, (await driver.failedRuns?.(queue))?.length]
}

test('a record whose answer is lost on the connection that listens is not added twice', async () => {
  const { driver, proxy } = await proxied()
  const unwatch = await driver.watch?.(() => {})
  proxy.cutNext('half a reply')
  // To the queue it was added: where that is unknown, it must not come again.
  expect(await beat(driver, 'lost')).toBe(true)
  expect(proxy.made).toBe(1)
  expect(await recordedRuns(driver, 'lost')).toEqual([1, 1])
  await unwatch?.()
})

test('a record that is being added when the last watcher ends is not added twice', async () => {
  const driver = postgresDriver({ connectionString: server.url, onWarning() {} })
  onTestFinished(() => driver.close())
  await driver.open({})
  const unwatch = await driver.watch?.(() => {})
  // The server plans a function at its first call on a connection: the next one is short.
  await beat(driver, 'closing')
  const beating = beat(driver, 'closing')
  await unwatch?.()
  expect(await beating).toBe(true)
  expect(await recordedRuns(driver, 'closing')).toEqual([2, 2])
})

test('a limited add in a transaction whose token may be spent is not made, and may be repeated', async () => {
  const { driver, proxy } = await proxied()
  const pool = poolOf(server.url, 1)
  const client = await pool.connect()
  onTestFinished(async () => {
    client.release()
    await pool.end()
  })
  const plan = { kind: 'bucket', name: 'service', perSecond: 1, burst: 100 } as const
  const add = async () =>
    await driver.transact!(client).add('limited', [{ ...ask('a'), plan }], askOptions)
  await client.query('begin')
  await add()
  await client.query('rollback; begin')
  // The bucket is charged on a connection of the driver: begin, its lock, its tokens and the commit.
  for (let passed = 0; passed < 3; passed += 1) proxy.passNext()
  proxy.cutNext('half a reply')
  await expect(add()).rejects.toMatchObject({
    code: 'ERR_STORE',
    retryable: true,
    message: expect.stringContaining('the bucket could not be charged'),
  })
  // The savepoint of the call was rolled back, and the transaction goes on.
  await expect(add()).resolves.toMatchObject([{ outcome: 'added' }])
  await client.query('commit')
  expect(await driver.counts('limited', { cap: 10 })).toMatchObject({ ready: 1 })
})
