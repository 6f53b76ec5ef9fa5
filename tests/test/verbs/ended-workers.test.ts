/** What a store has on record of a worker that has ended in order, as at each deployment or after a job. */
import type { Driver } from '@sluice/core'
import { redisDriver } from '@sluice/redis'
import { hasRedis, type RedisProcess, startRedis } from '@sluice/test-redis'
import { createQueue, createWorker, inspectStore, type Queue, type Worker } from 'sluice'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { driverAt } from '../../support/stores/driver-at.ts'
import { emptyFile } from '../../support/stores/empty-file.ts'
import { type PostgresServer, startPostgres } from '../../support/stores/postgres-server.ts'

let postgres: PostgresServer
let redis: RedisProcess | undefined

beforeAll(async () => {
  postgres = await startPostgres()
  redis = hasRedis ? await startRedis() : undefined
})

afterAll(async () => {
  await postgres?.stop()
  await redis?.dispose()
})

/** Two drivers on one store, as those of two processes. */
function pair(make: () => Driver): readonly [Driver, Driver] {
  return [make(), make()]
}

const onRedis = (library: 'redis' | 'ioredis') => () =>
  pair(() => redisDriver({ url: redis!.url, library, prefix: `${library}:` }))

const stores: Readonly<Record<string, () => readonly [Driver, Driver]>> = {
  SQLite() {
    const file = emptyFile()
    return pair(() => driverAt(file))
  },
  Postgres: () => pair(() => driverAt(postgres.url)),
  ...(hasRedis && { 'Redis, by redis': onRedis('redis'), 'Redis, by ioredis': onRedis('ioredis') }),
}

const ends: Readonly<Record<string, (queue: Queue<string>, worker: Worker) => Promise<void>>> = {
  'by runUntilIdle, before its queue is closed': (_, worker) => worker.runUntilIdle(),
  'by stop, before its queue is closed': (_, worker) => worker.stop(),
  'with a drain, before its queue is closed': (queue) => queue.shutDownWithDrain(),
  'with its queue': () => Promise.resolve(),
}

describe.each(Object.entries(stores))('on %s', (_, make) => {
  test.each(Object.entries(ends))(
    'a worker that has ended %s takes no keys, and all its runs are counted',
    async (how, end) => {
      const [driver, other] = make()
      const queue = createQueue<string>({ name: how, driver })
      const store = inspectStore(other)
      onTestFinished(() => store.close())
      await queue.addMany(['a', 'b', 'c'])
      const ran = Promise.withResolvers<void>()
      let runs = 0
      const handler = (): void => {
        runs += 1
        if (runs === 3) ran.resolve()
      }
      const worker = createWorker({ queue, handler })
      await ran.promise
      await end(queue, worker)
      await queue.close()
      const inspect = store.queue(how)
      expect(await inspect.workers()).toMatchObject([{ concurrency: 0, stats: { runs: 3 } }])
      const { steps } = await inspect.history()
      expect(steps.reduce((sum, { done }) => sum + done, 0)).toBe(3)
    },
  )
})
