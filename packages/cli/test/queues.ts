import { type Driver, SluiceError } from '@sluice/core'
import { createRateLimitingQueue, createWorker, exponential, type Worker } from 'sluice'
import { onTestFinished } from 'vitest'
import { driverAt } from '../src/stores/open-store.ts'
import { parseStoreAddress } from '../src/stores/store-address.ts'

/** A driver on the store at an address, as a program of its own would have it. */
export async function driverOf(store: string): Promise<Driver> {
  const address = parseStoreAddress(store, '/')
  return await driverAt(address, 'create', { migrate: 'verify', warn() {} })
}

/** Has a key fail, as a worker would; it backs off for an hour. */
export async function failKey(
  store: string,
  name: string,
  key: string,
  error: Error,
): Promise<void> {
  const driver = await driverOf(store)
  await using queue = createRateLimitingQueue<string>({
    name,
    driver,
    limiter: exponential({ baseMs: 3_600_000, maxMs: 3_600_000 }),
  })
  for (;;) {
    const held = await queue.get()
    if (held === undefined) throw new SluiceError('ERR_CLOSED', 'nothing to fail')
    if (held.key === key) {
      await held.retry(error)
      return
    }
    // The others go to the tail, so that the one that is meant comes.
    const { item } = held
    await queue.add(item)
    await held.done()
  }
}

/** A worker on the store, which ends with the test. */
export async function workOn(
  store: string,
  name: string,
  handler: (key: string) => Promise<void> | void,
): Promise<Worker> {
  const driver = await driverOf(store)
  const queue = createRateLimitingQueue<string>({ name, driver })
  const worker = createWorker<string>({ queue, concurrency: 2, handler: (item) => handler(item) })
  onTestFinished(async () => {
    await worker.stop({ graceMs: 0 })
    await queue.close()
  })
  return worker
}
