import { rmSync } from 'node:fs'
import { redisDriver } from '@sluice/redis'
import { sqliteDriver } from '@sluice/sqlite'
import { type Driver, inspectStore, SluiceError } from 'sluice'
import { lives } from './lives.ts'

/** Short, so that one can watch a killed worker's keys come back. */
export const demoLeaseMs = 5_000

/** Opens the store, and reads what the demo will read of it. */
async function tryOut(driver: Driver): Promise<void> {
  const store = inspectStore(driver)
  try {
    for (const { name } of lives) {
      const inspect = store.queue(name)
      await inspect.counts()
      await inspect.list({ limit: 1 })
      await inspect.workers()
      await inspect.history()
      await inspect.failedRuns()
    }
  } finally {
    await store.close()
  }
}

/** The driver of a file, or of a Redis if the store is an address of one. */
export function driverOf(store: string): Driver {
  // Keys of its own, so that queues of others in the same Redis have nothing to do with it.
  if (/^rediss?[:-]/.test(store)) return redisDriver({ url: store, prefix: 'sluice-demo:' })
  return sqliteDriver({ file: store, durability: 'process' })
}

/**
 * The driver of the demo's store. `isOwn`: the file is the demo's own, so that one that this version
 * cannot read, left by another checkout, is removed and made again. `onRemoved` is called with the
 * reason then.
 */
export async function openStore(
  store: string,
  isOwn: boolean,
  onRemoved: (reason: string) => void,
): Promise<Driver> {
  const driver = driverOf(store)
  try {
    await tryOut(driver)
  } catch (error) {
    if (!isOwn || !SluiceError.is(error) || error.retryable) throw error
    for (const ending of ['', '-wal', '-shm']) rmSync(store + ending, { force: true })
    onRemoved(error.message)
    await tryOut(driver)
  }
  return driver
}
