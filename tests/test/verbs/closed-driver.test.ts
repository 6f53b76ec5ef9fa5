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
})
