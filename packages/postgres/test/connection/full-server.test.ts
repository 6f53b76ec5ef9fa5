/** A server, or a pooler in front of it, that has no more connections. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { systemEnvironment } from '@sluice/core/driver'
import type pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { PgPool } from '../../src/connection/client-shapes.ts'
import { DeadlineError } from '../../src/connection/deadline.ts'
import { PoolConnections } from '../../src/connection/pool-connections.ts'
import { postgresDriver } from '../../src/index.ts'
import { databaseOf, lockWaits, poolOf, sql } from '../support/server.ts'
import { sharedServer } from '../support/shared-server.ts'

const server = sharedServer()

const aTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
let roles = 0

/** A role to which the server gives so many connections, and its address. */
async function newRole(
  connections: number,
): Promise<{ readonly role: string; readonly url: string }> {
  roles += 1
  const role = `limited_${roles}`
  await sql(
    server.url,
    `create role ${role} login password 'secret' connection limit ${connections}`,
    `grant create on database ${databaseOf(server.url)} to ${role}`,
  )
  const url = new URL(server.url)
  url.username = role
  return { role, url: url.href }
}

interface Limited {
  readonly connections: PoolConnections
  readonly pool: pg.Pool
  readonly role: string
}

/** Connections for such a role. */
async function limitedTo(count: number): Promise<Limited> {
  const { role, url } = await newRole(count)
  const pool = poolOf(url)
  const use = { environment: systemEnvironment, timeoutMs: 30_000 }
  return { connections: new PoolConnections(pool as unknown as PgPool, use), pool, role }
}

const one = { name: '', text: 'select 1 as one' }

test('calls wait for the connections that the driver has', async () => {
  const { url: connectionString } = await newRole(2)
  const driver = postgresDriver({ connectionString, schema: 'limited', notify: false })
  await driver.open({})
  const queues = Array.from({ length: 20 }, (_, at) => `q${at}`)
  const counts = await Promise.all(queues.map((queue) => driver.counts(queue, { cap: 1 })))
  expect(counts.map(({ ready }) => ready)).toEqual(queues.map(() => 0))
  await driver.close()
})

test('a call that gives up waiting leaves the connection to the next one', async () => {
  const { connections, pool } = await limitedTo(1)
  let end = (): void => {}
  const isOver = new Promise<void>((resolve) => {
    end = resolve
  })
  await connections.run(one, [])
  const holding = connections.connected(() => isOver)
  const impatient = connections.run(one, [], { withinMs: 300 })
  const patient = connections.run(one, [])
  await expect(impatient).rejects.toMatchObject({ code: 'ERR_TIMEOUT', retryable: true })
  end()
  await holding
  expect(await patient).toEqual([{ one: '1' }])
  await pool.end()
})

test('calls that wait for a connection are refused, too, once it broke and there is no other', async () => {
  const { connections, pool, role } = await limitedTo(1)
  let end = (): void => {}
  const isOver = new Promise<void>((resolve) => {
    end = resolve
  })
  await connections.run(one, [])
  const broken = connections.connected(async () => {
    await isOver
    throw new Error('the connection broke')
  })
  const others = [one, one, one].map((statement) => connections.run(statement, []))
  await sql(server.url, `alter role ${role} connection limit 0`)
  end()
  await expect(broken).rejects.toMatchObject({ code: 'ERR_UNKNOWN_OUTCOME' })
  const results = await Promise.allSettled(others)
  const refused = { status: 'rejected', reason: { code: 'ERR_STORE', retryable: true } }
  expect(results).toMatchObject([refused, refused, refused])
  await pool.end()
})

test('without a connection of its own, a call is refused at once', async () => {
  const { connections, pool } = await limitedTo(0)
  const refused = connections.run(one, [])
  await expect(refused).rejects.toMatchObject({ code: 'ERR_STORE', retryable: true })
  await pool.end()
})

test('a transaction whose first statement was answered is not blamed on a pooler', async () => {
  const { connections, pool } = await limitedTo(1)
  const silent = connections.transaction(() => {
    throw new DeadlineError('a statement', 300)
  })
  await expect(silent).rejects.toMatchObject({
    code: 'ERR_STORE',
    message: expect.not.stringContaining('pooler'),
  })
  await pool.end()
})

test('while its connections are in use, a call waits for longer than it may take to open one', async () => {
  const schema = 'in_use'
  const driver = postgresDriver({
    connectionString: server.url,
    schema,
    poolSize: 1,
    notify: false,
    onWarning() {},
  })
  await driver.open({})
  const pool = poolOf(server.url)
  const holder = await pool.connect()
  await holder.query(`begin; lock table ${schema}.keys in access exclusive mode`)
  onTestFinished(async () => {
    holder.release(true)
    await Promise.all([driver.close(), pool.end()])
  })
  // real time: none passes; pg takes no clock, so its timers are stepped.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const calls = Promise.all(['a', 'b'].map((queue) => driver.list(queue, { limit: 1 })))
  const blocked = `select from (${lockWaits}) as waiting where application_name = 'sluice'`
  await expect.poll(async () => (await pool.query(blocked)).rowCount).toBe(1)
  vi.advanceTimersByTime(6_000)
  await holder.query('commit')
  expect((await calls).map(({ rows }) => rows)).toEqual([[], []])
})

test.each([
  { timeoutMs: 10_000, openMs: 5_000 },
  // For a server that has to wake up.
  { timeoutMs: 60_000, openMs: 30_000 },
])(
  'a connection is given up that is not opened within $openMs ms of $timeoutMs, and the error says so',
  async ({ timeoutMs, openMs }) => {
    const silent = createServer(() => {})
    await once(silent.listen(0, '127.0.0.1'), 'listening')
    const { port } = silent.address() as AddressInfo
    const connectionString = `postgres://a:b@127.0.0.1:${port}/c`
    const driver = postgresDriver({ connectionString, timeoutMs, notify: false, onWarning() {} })
    onTestFinished(async () => {
      await driver.close()
      silent.close()
    })
    // real time: none passes; the timers of the driver are stepped.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    onTestFinished(() => void vi.useRealTimers())
    const connected = once(silent, 'connection')
    const opening = expect(driver.open({})).rejects.toMatchObject({
      code: 'ERR_STORE',
      message: expect.stringContaining('a new connection got no answer in time'),
    })
    const [socket] = (await connected) as [Socket]
    let isGivenUp = false
    const givenUp = once(socket.resume(), 'end').then(() => {
      isGivenUp = true
    })
    vi.advanceTimersByTime(openMs - 1)
    // What is sent by then has come a turn after another connection has.
    await aTurn()
    const other = connect(port, '127.0.0.1')
    await once(silent, 'connection')
    await aTurn()
    other.destroy()
    expect(isGivenUp).toBe(false)
    vi.advanceTimersByTime(2)
    await opening
    await givenUp
  },
)
