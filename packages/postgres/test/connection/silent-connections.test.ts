/** Connections that say nothing any more, while new ones work. */
import type { Driver } from '@sluice/core'
import { systemEnvironment } from '@sluice/core/driver'
import { fakeClock } from '@sluice/core/testing'
import { startStopwatch } from '@sluice/needs/hold-ups'
import pg from 'pg'
import { beforeEach, expect, test, vi } from 'vitest'
import type { PgClient, PgListener } from '../../src/connection/client-shapes.ts'
import { ConnectionProbe } from '../../src/connection/connection-probe.ts'
import { DeadlineError, withDeadline } from '../../src/connection/deadline.ts'
import { PgConnection } from '../../src/connection/pg-connection.ts'
import { postgresDriver } from '../../src/index.ts'
import { ask, askOptions as options } from '../support/asks.ts'
import { type CuttingProxy, startProxy } from '../support/cutting-proxy.ts'
import { installed } from '../support/installed.ts'
import { sharedServer } from '../support/shared-server.ts'

const server = sharedServer()
let proxy: CuttingProxy
let driver: Driver
let made = 0

async function opened(notify = false): Promise<void> {
  const url = new URL(server.url)
  url.port = String(proxy.port)
  made += 1
  driver = postgresDriver({
    connectionString: url.href,
    schema: `silent_${made}`,
    poolSize: 5,
    notify,
    onWarning() {},
  })
  await driver.open({})
}

/** Calls together, so that the pool has a connection for each. */
async function warm(): Promise<void> {
  await Promise.all(Array.from({ length: 5 }, (_, at) => driver.counts(`q${at}`, { cap: 1 })))
}

beforeEach(async () => {
  proxy = await startProxy(server.port)
  return async () => {
    await driver?.close()
    await proxy.stop()
  }
})

test('a silent connection that the server forgot is given up, and no other old one is tried', async () => {
  await opened()
  await warm()
  proxy.silence()
  await expect(driver.add('q', [ask('a')], options)).rejects.toMatchObject({
    code: 'ERR_UNKNOWN_OUTCOME',
    // The server was asked, and has forgotten the connection: that is known before the deadline.
    cause: { isLost: true },
  })
  const { swallowed } = proxy
  expect(await driver.add('q', [ask('b')], options)).toMatchObject([{ outcome: 'added' }])
  expect(proxy.swallowed).toBe(swallowed)
})

test('old connections that are not tried keep no place in the pool', async () => {
  made += 1
  const url = new URL(server.url)
  url.port = String(proxy.port)
  const pool = new pg.Pool({ connectionString: url.href, max: 5 })
  pool.on('error', () => {})
  driver = postgresDriver({ pool, schema: `silent_${made}`, notify: false, onWarning() {} })
  await driver.open({})
  await warm()
  expect(pool.totalCount).toBe(5)
  proxy.silence()
  await expect(driver.add('q', [ask('a')], options)).rejects.toMatchObject({
    code: 'ERR_UNKNOWN_OUTCOME',
  })
  expect(await driver.add('q', [ask('b')], options)).toMatchObject([{ outcome: 'added' }])
  expect([pool.totalCount, pool.idleCount]).toEqual([1, 1])
  void pool.end()
})

test('a process of the server that stood still adds nothing after the call has failed', async () => {
  made += 1
  const schema = `silent_${made}`
  const pool = new pg.Pool({ connectionString: server.url, max: 1 })
  pool.on('error', () => {})
  const processes: number[] = []
  pool.on('connect', (client) =>
    processes.push((client as unknown as { processID: number }).processID),
  )
  driver = postgresDriver({ pool, schema, notify: false, onWarning() {} })
  await driver.open({})
  const [stopped = 0] = processes
  process.kill(stopped, 'SIGSTOP')
  try {
    const added = (async () => await driver.add('q', [ask('a')], options))()
    const lost = { code: 'ERR_UNKNOWN_OUTCOME', cause: { isLost: true } }
    await expect(added).rejects.toMatchObject(lost)
  } finally {
    process.kill(stopped, 'SIGCONT')
  }
  const isRunning = 'select 1 from pg_stat_activity where pid = $1'
  await expect.poll(async () => (await server.pool.query(isRunning, [stopped])).rowCount).toBe(0)
  expect(await driver.counts('q', { cap: 1 })).toMatchObject({ ready: 0 })
  void pool.end()
})

test('a process that was started after the connection has answered is not ended', async () => {
  await opened()
  const client = new pg.Client({ connectionString: server.url })
  const ended = new Promise((resolve) => client.on('error', resolve))
  const { monotonicMs } = systemEnvironment.clock
  await client.connect()
  const { processID } = client as unknown as { processID: number }
  const make = () => new pg.Client({ connectionString: server.url }) as unknown as PgListener
  const probe = new ConnectionProbe(systemEnvironment, make)
  probe.trust()
  await probe.terminate(processID, monotonicMs() - 60_000)
  expect((await client.query('select 1')).rowCount).toBe(1)
  await probe.terminate(processID, monotonicMs())
  expect(await ended).toMatchObject({ code: '57P01' })
})

test('behind a pooler, which gives other numbers, no process is asked about, or ended', async () => {
  await opened()
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  const { processID } = client as unknown as { processID: number }
  const clock = fakeClock()
  let asked = 0
  const probe = new ConnectionProbe({ clock, random: () => 0.5 }, () => {
    asked += 1
    const made = new pg.Client({ connectionString: server.url })
    return Object.defineProperty(made, 'processID', { get: () => 0, set() {} }) as PgListener
  })
  await probe.terminate(processID, 0)
  expect([await probe.isDone(processID, 0), asked]).toEqual([false, 0])
  // It came after the connections were proven to be those of the server.
  probe.trust()
  await clock.step(1_000)
  expect([await probe.isDone(processID, 0), asked]).toEqual([false, 1])
  await probe.terminate(processID, 0)
  expect([await probe.isDone(processID, 0), asked]).toEqual([false, 1])
  await client.end()
})

test('after one silent connection, the one that listens is not relied on', async () => {
  await opened(true)
  const unwatch = await driver.watch?.(() => {})
  await warm()
  const tick = { holder: 'h', limit: 1, failuresExpireMs: 1_000, worker: undefined }
  await driver.tick('q', tick)
  proxy.silence()
  await expect(driver.add('q', [ask('a')], options)).rejects.toMatchObject({
    code: 'ERR_UNKNOWN_OUTCOME',
  })
  const worker = { holder: 'h', host: 'h', pid: 1, concurrency: 1, settings: {} }
  const counts = { started: 1, done: 1, failed: 0, added: 0, merged: 0, expired: 0 }
  await driver.tick('q', { ...tick, worker, record: { ...counts, codes: [], failedRuns: [] } })
  // A record that was sent over a silent connection is not sent again.
  const { steps = [] } = (await driver.history?.('q', 600_000)) ?? {}
  expect(steps.map(({ started }) => started)).toEqual([1])
  await unwatch?.()
})

test('a statement that the server is at work on is awaited', async () => {
  await opened()
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  // What an add of a queue with a limit waits for, for at most two seconds.
  await client.query(
    `begin; select pg_advisory_xact_lock(silent_${made}.${installed('queue_number')}('q')
      # hashtextextended('"silent_${made}".count_pending', 0))`,
  )
  const [reply] = await driver.add('q', [ask('a')], { ...options, maxPending: 10 })
  expect(reply).toMatchObject({ outcome: 'failed', error: { code: 'ERR_STORE_BUSY' } })
  await client.query('rollback')
  await client.end()
})

test('a renewal is given up after a fraction of the lease, and works on the next connection', async () => {
  await opened()
  await driver.add('q', [ask('a')], options)
  // A sixth is for the renewal. After it, a busy server may take a second to end the process of the connection.
  const leaseMs = 12_000
  const request = { limit: 1, holder: 'h', claimId: 'c', leaseMs }
  const [{ token = 0 } = {}] = (await driver.claim('q', request)).claims
  await warm()
  proxy.silence()
  const elapsedMs = startStopwatch()
  const renew = async () => await driver.renew('q', [{ key: 'a', token }], leaseMs)
  await expect(renew()).rejects.toMatchObject({ code: 'ERR_UNKNOWN_OUTCOME' })
  expect(elapsedMs()).toBeLessThan(leaseMs / 3)
  const { swallowed } = proxy
  // A busy machine may hold up the server for longer than a renewal may take.
  const [renewed] = await vi.waitFor(renew, { timeout: 45_000 })
  expect(renewed).toMatchObject({ outcome: 'renewed' })
  expect(proxy.swallowed).toBe(swallowed)
})

test('opening over a connection that breaks is never in doubt', async () => {
  for (const cut of ['reset after', 'half a reply'] as const) {
    for (let passed = 0; passed < 12; passed += 1) {
      for (let sent = 0; sent < passed; sent += 1) proxy.passNext()
      proxy.cutNext(cut)
      const url = new URL(server.url)
      url.port = String(proxy.port)
      made += 1
      driver = postgresDriver({
        connectionString: url.href,
        schema: `silent_${made}`,
        notify: false,
      })
      const error = await (async () => await driver.open({}))().catch((thrown: unknown) => thrown)
      if (error !== undefined) expect(error).toMatchObject({ code: 'ERR_STORE', retryable: true })
      // It can be tried again at once.
      await driver.open({})
      await driver.close()
    }
  }
})

test('where only the second step of a finish is in doubt, the keys of the first are not', async () => {
  await opened()
  await driver.add('q', [ask('a'), ask('b')], options)
  const request = { limit: 2, holder: 'h', claimId: 'c', leaseMs: 60_000 }
  const { claims } = await driver.claim('q', request)
  const done = (key: string, token: number) => ({ as: 'done', key, token, forget: true }) as const
  // The token of b is not known to the first step, which is one statement; the second is a
  // transaction, whose commit is not answered.
  for (let passed = 0; passed < 3; passed += 1) proxy.passNext()
  proxy.cutNext('reset after')
  const finishes = [done('a', claims[0]!.token), done('b', 17)]
  const [first, second] = await driver.finish('q', finishes, options)
  expect(proxy.made).toBe(1)
  expect(first).toMatchObject({ outcome: 'idle' })
  expect(second).toMatchObject({ outcome: 'failed', error: { code: 'ERR_UNKNOWN_OUTCOME' } })
})

test('a new connection that is silent is given up for another one: nothing was sent', async () => {
  const url = new URL(server.url)
  url.port = String(proxy.port)
  made += 1
  // No connection is kept, so that each call makes a new one.
  const pool = new pg.Pool({ connectionString: url.href, maxUses: 1 })
  let open = 0
  pool.on('error', () => {})
  pool.on('connect', () => (open += 1))
  pool.on('remove', () => (open -= 1))
  const schema = `silent_${made}`
  driver = postgresDriver({ pool, schema, notify: false, timeoutMs: 20_000, onWarning() {} })
  await driver.open({})
  await expect.poll(() => open).toBe(0)
  proxy.cutNext('black hole')
  expect(await driver.add('q', [ask('a')], options)).toMatchObject([{ outcome: 'added' }])
  expect(proxy.made).toBe(1)
  void pool.end()
})

test('a connection that leads nowhere is given up soon after that is known', async () => {
  const clock = fakeClock()
  const environment = { clock, random: () => 0.5 }
  let isLost = false
  const waiting = withDeadline(environment, 10_000, 'a statement', new Promise(() => {}), {
    suspicion: { afterMs: 1_000, isLost: async () => isLost },
  }).catch((error: unknown) => error)
  await clock.step(1_010)
  isLost = true
  const knownAt = clock.monotonicMs()
  for (let ms = 0; ms < 400; ms += 10) await clock.step(10)
  expect(clock.waiters()).toBe(0)
  expect(await waiting).toMatchObject({ isLost: true })
  expect(clock.monotonicMs() - knownAt).toBe(400)
})

test('an answer that came too early for a statement is followed by a question a second later', async () => {
  await opened()
  const clock = fakeClock()
  let asked = 0
  const probe = new ConnectionProbe({ clock, random: () => 0.5 }, () => {
    asked += 1
    return new pg.Client({ connectionString: server.url }) as unknown as PgListener
  })
  await clock.step(1_000)
  const sentAt = clock.monotonicMs() - 100
  expect(await probe.isReachable(sentAt - 900)).toBe(true)
  await clock.step(900)
  expect([await probe.isReachable(sentAt), asked]).toEqual([false, 1])
  await clock.step(150)
  expect([await probe.isReachable(sentAt - 900), asked]).toEqual([true, 1])
  expect([await probe.isReachable(sentAt), asked]).toEqual([true, 2])
})

test('what moves is not silent', async () => {
  const clock = fakeClock()
  const environment = { clock, random: () => 0.5 }
  let bytes = 0
  let answer = (_: string): void => {}
  const long = new Promise<string>((resolve) => {
    answer = resolve
  })
  const waiting = withDeadline(environment, 1_000, 'a statement', long, { progress: () => bytes })
  for (let times = 0; times < 5; times += 1) {
    bytes += 1
    await clock.step(1_000)
  }
  answer('all of it')
  expect(await waiting).toBe('all of it')
  const never = withDeadline(environment, 1_000, 'a statement', new Promise(() => {}), {
    progress: () => bytes,
  }).catch((error: unknown) => error)
  await clock.step(1_000)
  expect(await never).toBeInstanceOf(DeadlineError)
})

test('a long statement is under way for longer, before its connection is suspected and given up', async () => {
  const clock = fakeClock()
  const environment = { clock, random: () => 0.5 }
  let isDone = false
  const probe = { isDone: async () => isDone } as unknown as ConnectionProbe
  const client = { query: () => new Promise(() => {}) } as unknown as PgClient
  const connection = new PgConnection(
    client,
    { environment, timeoutMs: 10_000, probe },
    () => false,
  )
  const outcomeOf = (chars: number): Promise<unknown> =>
    connection
      .query({ name: '', text: 'select $1' }, ['x'.repeat(chars)])
      .catch((error: unknown) => error)
  const ended: string[] = []
  const asked = ['short', 'long'].map((which) =>
    outcomeOf(which === 'long' ? 3_000_000 : 3_000).then((error) => {
      ended.push(which)
      return error
    }),
  )
  // The server has not read it, and so runs nothing.
  isDone = true
  for (let ms = 0; ms < 12_000; ms += 100) await clock.step(100)
  expect(ended).toEqual(['short'])
  for (let ms = 0; ms < 2_000; ms += 100) await clock.step(100)
  expect(await Promise.all(asked)).toMatchObject([{ isLost: true }, { isLost: true }])
})
