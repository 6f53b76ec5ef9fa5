import assert from 'node:assert/strict'
import type { Driver, WorkerInfo, WorkRecord } from '@sluice/core/driver'
import { fakeClock } from '@sluice/core/testing'
import { hasRedis, type RedisProcess, startCluster, startRedis } from '@sluice/test-redis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { redisDriver } from '../src/index.ts'
import { ask } from './support/asks.ts'

const day = 86_400_000
const worker = { processId: 1 } as unknown as WorkerInfo
const none = { started: 0, done: 0, failed: 0, added: 0, merged: 0, expired: 0 }
const quiet: WorkRecord = { ...none, codes: [], failedRuns: [] }

describe.skipIf(!hasRedis)('what workers record', () => {
  let server: RedisProcess

  beforeAll(async () => {
    server = await startRedis()
  })

  afterAll(() => server.dispose())

  async function record(driver: Driver, what: WorkRecord): Promise<void> {
    const request = { holder: 'w', worker, limit: 100, failuresExpireMs: day }
    await driver.tick('q', { ...request, record: what })
  }

  test('is deleted when it is older than a day, also if no run fails any more', async () => {
    const driver = redisDriver({ url: server.url })
    const clock = fakeClock()
    await driver.open({ clock })
    onTestFinished(() => driver.close())
    const failedRun = { at: clock.now(), key: 'a', code: 'E', holder: 'w', failures: 0 }
    await record(driver, {
      ...quiet,
      failed: 1,
      codes: [['E', 1]],
      failedRuns: [{ ...failedRun, lastError: '{}' }],
    })
    const fields = () =>
      Promise.all([
        server.command('HLEN', 'sluice:{q}:history'),
        server.command('HLEN', 'sluice:{q}:failed'),
      ])
    // A step of each resolution and one failed run, each beside a placeholder.
    expect(await fields()).toEqual([4, 2])
    await clock.step(2 * day)
    await record(driver, quiet)
    expect(await fields()).toEqual([4, 1])
  })

  test('waits until the slot of the queue was moved, and the heartbeat does not', async () => {
    const cluster = await startCluster({ replicas: 0 })
    onTestFinished(() => cluster.dispose())
    const { host } = new URL(cluster.urls[0] ?? '')
    const driver = redisDriver({ url: `redis-cluster://${host}` })
    await driver.open({})
    onTestFinished(() => driver.close())
    const options = { dedupe: 'client-go', failuresExpireMs: day } as const
    await driver.add('q', [ask('a')], options)
    const rows = 'sluice:{q}:rows'
    const from = await cluster.primaryOf(rows)
    const to = cluster.nodes.find((node) => node !== from)
    assert.ok(to)
    const slot = String(await from.process.command('CLUSTER', 'KEYSLOT', rows))
    await to.process.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', from.id)
    await from.process.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', to.id)
    const request = { holder: 'w', worker, limit: 100, failuresExpireMs: day, record: quiet }
    const { nextAt, now, recorded } = await driver.tick('q', request)
    expect([nextAt <= now, recorded]).toEqual([true, undefined])
    await from.process.command('CLUSTER', 'SETSLOT', slot, 'STABLE')
    expect(await driver.tick('q', request)).toMatchObject({ recorded: true })
  })
})
