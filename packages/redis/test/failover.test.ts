import assert from 'node:assert/strict'
import type { Ask, Driver } from '@sluice/core/driver'
import { hasRedis, type SentinelRedis, startSentinel } from '@sluice/test-redis'
import { afterEach, beforeEach, describe, onTestFinished, test, vi } from 'vitest'
import { type RedisOptions, type Replayed, redisDriver } from '../src/index.ts'
import { askOptions as options } from './support/asks.ts'

const ask = (key: string): Ask => ({ key, item: `"${key}"`, priority: 0, delayMs: 0 })
const keysOf = (count: number, name: string): string[] =>
  Array.from({ length: count }, (_, nth) => `${name} ${nth}`)

describe.skipIf(!hasRedis)('a failover that loses the last writes', () => {
  let servers: SentinelRedis

  beforeEach(async () => {
    servers = await startSentinel()
  })

  afterEach(() => servers.dispose())

  async function open(more: Partial<RedisOptions> = {}): Promise<Driver> {
    const hosts = servers.sentinels.map(({ url }) => new URL(url).host).join(',')
    const driver = redisDriver({ url: `redis-sentinel://${hosts}/${servers.name}`, ...more })
    onTestFinished(async () => await driver.close())
    await driver.open({})
    return driver
  }

  /** Stops the replica while `act` runs, then kills the primary. */
  async function loseWrites(act: () => Promise<void>): Promise<void> {
    const primary = await servers.primary()
    const replica = servers.nodes.find((node) => node !== primary)
    assert.ok(replica)
    replica.pause()
    // What is on its way in the buffers of a connection would arrive after all.
    await primary.command('CLIENT', 'KILL', 'TYPE', 'replica')
    await act()
    await primary.kill()
    replica.resume()
    await servers.promoted(primary)
  }

  async function retried<T>(call: () => Promise<T> | T): Promise<T> {
    return await vi.waitFor(async () => await call(), { timeout: 45_000, interval: 100 })
  }

  test('acknowledged adds and finishes are repeated; tokens rise; nothing counts as crashed', async () => {
    let replayed: (replay: Replayed) => void = () => {}
    const replay = new Promise<Replayed>((resolve) => {
      replayed = resolve
    })
    const print = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    onTestFinished(() => print.mockRestore())
    const driver = await open({
      onReplay(one) {
        replayed(one)
        throw new Error('no log')
      },
    })
    const early = keysOf(20, 'early')
    await driver.add('q', early.map(ask), options)
    const request = { limit: 20, holder: 'one', claimId: 'first', leaseMs: 30_000 }
    const { claims } = await driver.claim('q', request)
    assert.equal(claims.length, 20)
    // Wait until the replica has the claims.
    await driver.operate?.pause('other')
    const late = keysOf(300, 'late')
    let woken: (string | undefined)[] = []
    await driver.watch?.((queue) => woken.push(queue))
    let lastToken = 0
    await loseWrites(async () => {
      await driver.add('q', late.map(ask), options)
      await driver.add('q', [{ ...ask('delayed'), delayMs: 60_000 }], options)
      await driver.add('q', [ask('cancelled')], options)
      assert.deepEqual(await driver.cancel?.('q', ['cancelled']), ['cancelled'])
      const finishes = claims.map(
        ({ key, token }) => ({ as: 'done', key, token, forget: true }) as const,
      )
      await driver.finish('q', finishes, options)
      const more = await driver.claim('q', { ...request, limit: 1, claimId: 'second' })
      lastToken = more.claims[0]?.token ?? 0
      woken = []
    })
    assert.ok(lastToken > 0)
    const { adds, finishes } = await replay
    assert.deepEqual([adds, finishes], [301, 20])
    assert.deepEqual(print.mock.calls.flat().map(String), [
      'sluice: onReplay threw:',
      'Error: no log',
      'when it was called with:',
      '[object Object]',
    ])
    assert.ok(woken.includes('q'), 'workers of this process take what was repeated')
    const counts = await retried(() => driver.counts('q', { cap: 1_000 }))
    assert.deepEqual(
      { ready: counts.ready, delayed: counts.delayed, held: counts.processing + counts.dirty },
      { ready: 300, delayed: 1, held: 0 },
    )
    const again = await driver.claim('q', { ...request, limit: 500, claimId: 'third' })
    assert.deepEqual(again.claims.map(({ key }) => key).sort(), [...late].sort())
    assert.ok(
      again.claims.every(({ token }) => token > lastToken),
      'tokens rise',
    )
    assert.ok(again.claims.every(({ item, key }) => item === `"${key}"`))
    assert.deepEqual(again.leaseEnds, [], 'no lease counts as expired')
    assert.ok(again.claims.every(({ crashes }) => crashes === 0))
  })

  test('with replicas: 1 an add that the replica does not have is not acknowledged', async () => {
    const driver = await retried(() => open({ durability: { replicas: 1 }, timeoutMs: 2_000 }))
    await retried(async () => driver.add('q', [ask('kept')], options))
    let outcome: unknown
    await loseWrites(async () => {
      await retried(async () => {
        const adding = Promise.resolve(driver.add('q', [ask('unknown')], options))
        outcome = await adding.then(
          () => 'acknowledged',
          (error) => (error as { code: string }).code,
        )
        // Not sent: the machine held up the primary for longer than the limit before.
        assert.notEqual(outcome, 'ERR_STORE')
      })
    })
    assert.equal(outcome, 'ERR_UNKNOWN_OUTCOME')
    const { rows } = await retried(() => driver.list('q', { limit: 10 }))
    assert.ok(rows.some(({ key }) => key === 'kept'))
  })

  test('with replicas: 1 the release of a claim that was not confirmed is repeated', async () => {
    const driver = await open({ durability: { replicas: 1 } })
    await driver.add('q', [ask('a')], options)
    const primary = await servers.primary()
    const replica = servers.nodes.find((node) => node !== primary)
    assert.ok(replica)
    replica.pause()
    // A fourth of the lease is for the replicas.
    const request = { limit: 1, holder: 'one', claimId: 'first', leaseMs: 8_000 }
    const claiming = assert.rejects(async () => await driver.claim('q', request), {
      code: 'ERR_STORE_BUSY',
    })
    const isHeld = () => primary.command('ZSCORE', 'sluice:{q}:held', 'a')
    await retried(async () => assert.ok(await isHeld()))
    // The claim is on its way to the replica; the release will not be.
    await primary.command('CLIENT', 'KILL', 'TYPE', 'replica')
    await claiming
    await primary.kill()
    replica.resume()
    await servers.promoted(primary)
    await retried(async () => {
      const { rows } = await driver.list('q', { keys: ['a'], limit: 1 })
      assert.deepEqual([rows[0]?.state, rows[0]?.crashes], ['ready', 0])
    })
  })

  test('more replicas than there are, and a disk that is not synced, are refused', async () => {
    await assert.rejects(open({ durability: { replicas: 2 } }), /has 1 replicas/)
    await assert.rejects(open({ durability: { disk: true } }), /appendonly is no, not yes/)
  })
})
