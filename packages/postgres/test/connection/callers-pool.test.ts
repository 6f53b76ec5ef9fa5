/** What the driver leaves in a pool of the caller, and on the connections that it gives back. */
import { EventEmitter } from 'node:events'
import { fakeClock } from '@sluice/core/testing'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import type { PgPool } from '../../src/connection/client-shapes.ts'
import { PoolConnections } from '../../src/connection/pool-connections.ts'
import { postgresDriver } from '../../src/index.ts'
import { answeringServer } from '../support/answering-server.ts'
import { ask, askOptions } from '../support/asks.ts'
import { databaseOf, poolOf } from '../support/server.ts'
import { sharedServer } from '../support/shared-server.ts'

const server = sharedServer()

const one = { name: '', text: 'select 1 as one' }

/** The only connection of a pool, whose statements are answered as the test says. */
class FakeClient extends EventEmitter {
  readonly sent: string[] = []
  readonly released: unknown[] = []
  isDestroyed = false
  readonly connection = {
    stream: {
      destroy: () => {
        this.isDestroyed = true
      },
    },
  }

  answer: (text: string) => Promise<unknown[]> = async () => []

  async query({ text }: { readonly text: string }): Promise<{ rows: unknown[] }> {
    this.sent.push(text.split(' ', 1)[0] ?? '')
    return { rows: await this.answer(text) }
  }

  release(error?: unknown): void {
    this.released.push(error)
  }
}

function fakePool() {
  const clock = fakeClock()
  const client = new FakeClient()
  const pool = Object.assign(new EventEmitter(), { connect: async () => client })
  const use = { environment: { clock, random: () => 0.5 }, timeoutMs: 1_000 }
  return { clock, client, pool, connections: new PoolConnections(pool as unknown as PgPool, use) }
}

function serverError(code: string): Error {
  return Object.assign(new Error(code), { code, severity: 'ERROR' })
}

test('a driver that is closed leaves nothing in the pool, and none of its calls anything on a connection', async () => {
  const pool = poolOf(server.url, 1)
  onTestFinished(() => pool.end())
  const client = await pool.connect()
  const listeners = () => [
    ...['error', 'connect', 'acquire'].map((event) => pool.listenerCount(event)),
    client.listenerCount('error'),
  ]
  client.release()
  const before = listeners()
  const driver = postgresDriver({ pool, schema: 'callers_pool', notify: false })
  await driver.open({})
  for (let nth = 0; nth < 3; nth += 1) await driver.counts('q', { cap: 1 })
  await driver.close()
  expect(listeners()).toEqual(before)
})

test('a connection that comes when its call was given up goes back into the pool', async () => {
  const { clock, client, pool, connections } = fakePool()
  const connected = Promise.withResolvers<FakeClient>()
  pool.connect = () => connected.promise
  const call = connections.run(one, []).catch((error: unknown) => error)
  await clock.step(1_000)
  expect(await call).toMatchObject({ code: 'ERR_TIMEOUT' })
  connected.resolve(client)
  await clock.step(0)
  expect([client.sent, client.released]).toEqual([[], [undefined]])
})

test('a connection that breaks while the driver has it, and again after that, does not end the process', async () => {
  const { client, connections } = fakePool()
  const heard: boolean[] = []
  client.answer = async () => {
    const lost = new Error('Connection terminated unexpectedly')
    // Without a listener, it throws.
    heard.push(client.emit('error', lost))
    throw lost
  }
  await expect(connections.run(one, [])).rejects.toMatchObject({ code: 'ERR_UNKNOWN_OUTCOME' })
  expect(heard).toEqual([true])
  expect(client.released).toEqual([expect.any(Error)])
  client.emit('error', new Error('read ECONNRESET'))
})

test.each([
  ['is new', [['ready', 'ended']], 0],
  ['a query of the caller makes free', [['ready'], ['answer', 'ready', 'ended']], 1],
] as const)(
  'a connection that %s, and that the server ends in the same packet, does not end the process',
  async (_, answers, queries) => {
    const server = await answeringServer(answers)
    /** How many listened to each error. */
    const heard: number[] = []
    class Client extends pg.Client {
      override emit(name: string | symbol, ...values: unknown[]): boolean {
        if (name === 'error') heard.push(this.listenerCount(name))
        // Without a listener, it would throw.
        return heard.at(-1) !== 0 && super.emit(name, ...values)
      }
    }
    const pool = new pg.Pool({ host: '127.0.0.1', port: server.port, max: 1, Client })
    pool.on('error', () => {})
    onTestFinished(async () => {
      await pool.end()
      await server.stop()
    })
    const environment = { clock: fakeClock(), random: () => 0.5 }
    const connections = new PoolConnections(pool, { environment, timeoutMs: 1_000 })
    const asked = Array.from({ length: queries }, () => pool.query('select 1'))
    const message = expect.stringContaining('not queryable')
    await expect(connections.run(one, [])).rejects.toMatchObject({ code: 'ERR_STORE', message })
    await Promise.all(asked)
    expect(heard).toEqual([expect.any(Number)])
    expect(heard).not.toContain(0)
  },
)

test('a silent connection that is given up, and breaks later, does not end the process', async () => {
  const { clock, client, connections } = fakePool()
  client.answer = () => new Promise(() => {})
  const call = connections.run(one, []).catch((error: unknown) => error)
  await clock.step(1_000)
  expect(await call).toMatchObject({ code: 'ERR_UNKNOWN_OUTCOME' })
  expect([client.isDestroyed, client.released]).toEqual([true, [expect.any(Error)]])
  client.emit('error', new Error('read ECONNRESET'))
})

test('a connection on which a rollback is not answered is cut, and not used again', async () => {
  const { clock, client, connections } = fakePool()
  client.answer = (text) =>
    text === 'rollback' ? new Promise(() => {}) : Promise.resolve([{ one: 1 }])
  const failed = connections
    .transaction(() => Promise.reject(serverError('23505')))
    .catch((error: unknown) => error)
  await clock.step(1_000)
  expect(await failed).toMatchObject({ code: 'ERR_STORE' })
  expect([client.isDestroyed, client.released]).toEqual([true, [expect.any(Error)]])
})

test.each([
  [false, ['first', 'first', 'select']],
  [true, ['begin', 'first', 'rollback', 'begin', 'first', 'select', 'commit']],
])(
  'what goes first on a connection also does where a pooler shows itself, transactions %s',
  async (inTransactions, sent) => {
    const { client, connections } = fakePool()
    if (inTransactions) connections.useTransactions()
    client.answer = async (text) => {
      if (text === 'first' && client.sent.filter((each) => each === text).length === 1) {
        throw serverError('26000')
      }
      return []
    }
    const first = { statement: { name: 'first', text: 'first' }, values: [] }
    await connections.run(one, [], { first })
    expect(client.sent).toEqual(sent)
    await connections.run(one, [], { first })
    expect(client.sent.filter((each) => each === 'first')).toHaveLength(2)
  },
)

test('a token bucket beside a transaction is charged with a password that was given apart', async () => {
  const { hostname, port, username, password } = new URL(server.url)
  const to = { host: hostname, port: Number(port), database: databaseOf(server.url) }
  const pool = new pg.Pool({ ...to, user: username, password })
  // It has ended before its connections have, and the server may stop in between.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  onTestFinished(() => pool.end())
  const driver = postgresDriver({ pool, schema: 'callers_password', notify: false })
  await driver.open({})
  onTestFinished(() => driver.close())
  const client = await pool.connect()
  onTestFinished(() => client.release())
  await client.query('begin')
  const plan = { kind: 'bucket', name: 'b', perSecond: 1, burst: 1 } as const
  const replies = await driver.transact?.(client).add('q', [{ ...ask('a'), plan }], askOptions)
  await client.query('commit')
  expect(replies).toMatchObject([{ outcome: 'added' }])
})
