import type { Driver } from '@sluice/core/driver'
import { StoreProxy } from '@sluice/needs/store-proxy'
import { hasRedis, startRedis } from '@sluice/test-redis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { redisDriver } from '../src/index.ts'
import { ask, askOptions } from './support/asks.ts'

const reads: Readonly<Record<string, (driver: Driver) => unknown>> = {
  counts: (driver) => driver.counts('q', { cap: 1 }),
  list: (driver) => driver.list('q', { limit: 1 }),
  queues: (driver) => driver.queues?.(),
  buckets: (driver) => driver.buckets?.(),
  workers: (driver) => driver.workers?.('q', 1_000),
  history: (driver) => driver.history?.('q', 10_000),
  failedRuns: (driver) => driver.failedRuns?.('q'),
  adopt: (driver) => driver.adopt?.('q', '1-1'),
}

const lease = { key: 'a', token: 1 }
const writes: Readonly<Record<string, (driver: Driver) => unknown>> = {
  add: (driver) => driver.add('q', [ask('a')], askOptions),
  cancel: (driver) => driver.cancel('q', ['a']),
  claim: (driver) => driver.claim('q', { limit: 1, holder: 'h', claimId: '1-1', leaseMs: 1_000 }),
  renew: (driver) => driver.renew('q', [lease], 1_000),
  finish: (driver) => driver.finish('q', [{ as: 'retry', ...lease, delayMs: 0 }], askOptions),
  expire: (driver) => driver.expire('q', [lease], { dedupe: 'client-go', maxCrashes: 9 }),
  forget: (driver) => driver.forget('q', ['a']),
  runNow: (driver) => driver.operate?.runNow('q', ['a']),
}

describe.skipIf(!hasRedis)('a connection that loses answers', () => {
  type Calls = Readonly<Record<string, (driver: Driver) => unknown>>

  async function open() {
    const server = await startRedis()
    onTestFinished(() => server.dispose())
    const proxy = await StoreProxy.start(server.port)
    onTestFinished(() => proxy.stop())
    const url = `redis://127.0.0.1:${proxy.port}`
    const driver = redisDriver({ url })
    await driver.open({})
    onTestFinished(() => driver.close())
    return { proxy, driver }
  }

  /** Cuts the connection under each call, and checks with what error it rejects. */
  async function cutEach(calls: Calls, error: object): Promise<void> {
    const { proxy, driver } = await open()
    const made = async (call: (driver: Driver) => unknown): Promise<unknown> => await call(driver)
    for (const [name, call] of Object.entries(calls)) {
      await made(call)
      const cut = made(call)
      await proxy.become('cut')
      await expect(cut, name).rejects.toMatchObject(error)
      await proxy.become('pass')
      await expect.poll(() => made(call).catch(() => 'again')).not.toBe('again')
    }
  }

  test('leaves no outcome of a read unknown', async () => {
    await cutEach(reads, { code: 'ERR_STORE', retryable: true })
  })

  test('leaves the outcome of a write unknown', async () => {
    await cutEach(writes, { code: 'ERR_UNKNOWN_OUTCOME' })
  })

  test('wakes workers for what may have become ready, and gives a key back again', async () => {
    const { proxy, driver } = await open()
    const woken: unknown[] = []
    await driver.watch?.((queue) => woken.push(queue))
    const request = { limit: 1, holder: 'h', claimId: '1-1', leaseMs: 3_600_000 }
    await driver.add('q', [ask('a')], askOptions)
    const { claims } = await driver.claim('q', request)
    const [{ key, token } = lease] = claims
    woken.length = 0
    const releasing = Promise.resolve(
      driver.finish('q', [{ as: 'release', key, token }], askOptions),
    )
    await proxy.become('cut')
    await expect(releasing).rejects.toMatchObject({ code: 'ERR_UNKNOWN_OUTCOME' })
    expect(woken).toContain('q')
    await proxy.become('pass')
    const states = async () => {
      const reply = await Promise.resolve(driver.list('q', { limit: 1 })).catch(() => undefined)
      return reply?.rows.map(({ state }) => state)
    }
    await expect.poll(states).toEqual(['ready'])
  })
})
