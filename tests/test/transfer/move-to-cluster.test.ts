import type { Driver } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { redisDriver } from '@sluice/redis'
import { hasRedis, startCluster } from '@sluice/test-redis'
import { createQueue, memoryDriver } from 'sluice'
import { moveQueues } from 'sluice/transfer'
import { expect, onTestFinished, test } from 'vitest'
import { keepOpen, queueName, rowsOf } from '../../support/transfer/full-queue.ts'

test.skipIf(!hasRedis)('a queue moves to a cluster of Redis, and back', async () => {
  const cluster = await startCluster({ replicas: 0 })
  onTestFinished(() => cluster.dispose())
  const { host } = new URL(cluster.urls[0] ?? '')
  const clock = fakeClock(1_000_000_000)
  const drivers = [memoryDriver(), redisDriver({ url: `redis-cluster://${host}` }), memoryDriver()]
  for (const driver of drivers) await keepOpen(driver, clock)
  const [first, middle, last] = drivers as [Driver, Driver, Driver]
  const queue = createQueue<string>({ name: queueName, driver: first, clock })
  await queue.addMany(['a', 'b', 'c'])
  await queue.close()
  const before = await rowsOf(first)
  await moveQueues({ from: first, to: middle, clock })
  expect(await rowsOf(middle)).toEqual(before)
  await moveQueues({ from: middle, to: last, clock })
  expect(await rowsOf(middle)).toEqual([])
  expect(await rowsOf(last)).toEqual(before)
})
