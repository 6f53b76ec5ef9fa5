import assert from 'node:assert/strict'
import { SluiceError } from '@sluice/core'
import type { ClaimRequest, Driver } from '@sluice/core/driver'
import { hasRedis, type ReplicatedRedis, startReplicated } from '@sluice/test-redis'
import { afterAll, beforeAll, describe, onTestFinished, test } from 'vitest'
import { redisDriver } from '../src/index.ts'
import { askOptions as options } from './support/asks.ts'

/** A fourth of the lease is for the replicas. */
const request = (claimId: string, leaseMs: number): ClaimRequest => ({
  limit: 10,
  holder: 'holder',
  claimId,
  leaseMs,
})

describe.skipIf(!hasRedis)('claims that replicas have to confirm', () => {
  let servers: ReplicatedRedis

  beforeAll(async () => {
    servers = await startReplicated()
  })

  afterAll(() => servers.dispose())

  async function open(): Promise<Driver> {
    const driver = redisDriver({ url: servers.url, durability: { replicas: 1 } })
    await driver.open({})
    onTestFinished(async () => await driver.close())
    return driver
  }

  test('keys are released, with their delayed runs, when the replicas do not confirm the claim in time', async () => {
    const driver = await open()
    const [replica] = servers.replicas
    const ask = { item: undefined, priority: 0, delayMs: 0 }
    await driver.add(
      'q',
      [
        { ...ask, key: 'a' },
        { ...ask, key: 'b', priority: 3 },
      ],
      options,
    )
    replica?.pause()
    try {
      await assert.rejects(
        async () => await driver.claim('q', request('first', 800)),
        (error) => SluiceError.is(error, 'ERR_STORE_BUSY') && error.retryable,
      )
      const { ready, processing } = await driver.counts('q', { cap: 10 })
      assert.deepEqual([ready, processing], [2, 0])
    } finally {
      replica?.resume()
    }
    const { claims } = await driver.claim('q', request('second', 120_000))
    assert.deepEqual(
      claims.map(({ key, crashes, failures }) => [key, crashes, failures]),
      [
        ['b', 0, 0],
        ['a', 0, 0],
      ],
    )
  })

  test('a claim that finds nothing does not wait for replicas', async () => {
    const driver = await open()
    const [replica] = servers.replicas
    replica?.pause()
    try {
      const { claims } = await driver.claim('empty', request('none', 800))
      assert.deepEqual(claims, [])
    } finally {
      replica?.resume()
    }
  })
})
