import { StoreProxy } from '@sluice/needs/store-proxy'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { postgresDriver } from '../../src/index.ts'
import { ask, askOptions as options } from '../support/asks.ts'
import { sharedServer } from '../support/shared-server.ts'

const server = sharedServer()

/** How long a silent server is waited for, in milliseconds: longer than a close takes. */
const timeoutMs = 60_000

async function startProxy(): Promise<{ proxy: StoreProxy; url: string }> {
  const url = new URL(server.url)
  const proxy = await StoreProxy.start(Number(url.port))
  onTestFinished(() => proxy.stop())
  url.port = String(proxy.port)
  return { proxy, url: url.href }
}

test('the close of a driver cuts a call that a silent server does not answer', async () => {
  const { proxy, url } = await startProxy()
  const driver = postgresDriver({ connectionString: url, schema: 'closing', timeoutMs })
  await driver.open({})
  await driver.add('q', [ask('a')], options)
  await proxy.become('silent')
  const late = (async () => await driver.add('q', [ask('b')], options))()
  const error = late.catch((cause: unknown) => cause)
  await driver.close()
  expect(await error).toMatchObject({ message: expect.stringContaining('Connection terminated') })
})

test('calls that the close of a driver leaves without a connection say that it was closed', async () => {
  const { proxy, url } = await startProxy()
  const driver = postgresDriver({
    connectionString: url,
    schema: 'closing',
    timeoutMs,
    poolSize: 1,
    notify: false,
  })
  await driver.open({})
  await driver.add('q', [ask('a')], options)
  await proxy.become('silent')
  const read = async () => await driver.counts('q', { cap: 10 })
  const errors = [read(), read()].map((call) => call.catch((cause: unknown) => cause))
  await driver.close()
  for (const error of await Promise.all(errors)) {
    expect(error).toMatchObject({
      code: 'ERR_STORE',
      retryable: true,
      message: 'nothing was sent: the driver was closed; a new queue opens it [ERR_STORE]',
    })
  }
})

test('the close of a driver cuts a charge of a token bucket beside a transaction', async () => {
  const { proxy, url } = await startProxy()
  const pools: pg.Pool[] = []
  class Pool extends pg.Pool {
    constructor(options: pg.PoolConfig) {
      super(options)
      pools.push(this)
    }
  }
  const pool = new Pool({ connectionString: url })
  pool.on('error', () => {})
  const driver = postgresDriver({ pool, schema: 'closing_beside', timeoutMs, notify: false })
  await driver.open({})
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('begin')
  const plan = { kind: 'bucket', name: 'b', perSecond: 1, burst: 1 } as const
  const add = async (key: string) =>
    await driver.transact?.(client).add('q', [{ ...ask(key), plan }], options)
  await add('a')
  await proxy.become('silent')
  const late = add('b').catch((error: unknown) => error)
  // The pool beside that of the caller has one connection.
  await expect.poll(() => pools[1]?.idleCount).toBe(0)
  await driver.close()
  expect(await late).toMatchObject({ message: expect.stringContaining('Connection terminated') })
  void pool.end()
})
