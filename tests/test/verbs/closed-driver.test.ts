import { createQueue, createWorker } from 'sluice'
import { describe, expect, test } from 'vitest'
import { postgresKind } from '../../support/stores/postgres-kind.ts'
import { redisKind } from '../../support/stores/redis-kind.ts'
import { storeKinds } from '../../support/stores/store-kind.ts'

/** The stores that are opened; keys in memory are there without that. */
const opened = storeKinds.filter(({ name }) => name !== 'memory')

describe.each([...opened, postgresKind(), redisKind()])('$name', ({ make }) => {
  test('a worker reports that the driver of its queue was closed', async () => {
    const driver = make()
    const { promise, resolve } = Promise.withResolvers<unknown>()
    await using queue = createQueue<string>({ name: 'orders', driver, onError: resolve })
    await queue.add('order/42')
    await driver.close()

    await using _worker = createWorker({ queue, handler: () => {} })

    await expect(promise).resolves.toMatchObject({ code: 'ERR_STORE' })
  })

  test('a purge of many keys ends, or says that its queue was closed', async () => {
    const queue = createQueue<string>({ name: 'orders', driver: make() })
    for (let from = 0; from < 3_000; from += 1_000)
      await queue.addMany(Array.from({ length: 1_000 }, (_, at) => `order/${from + at}`))
    const purged = queue.inspect.purge().catch((error: { code: string }) => error.code)
    await queue.close()
    expect([3_000, 'ERR_CLOSED']).toContain(await purged)
  })
})
