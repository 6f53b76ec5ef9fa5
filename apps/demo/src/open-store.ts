import { rmSync } from 'node:fs'
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
    }
  } finally {
    await store.close()
  }
}

/**
 * The driver of the demo's file. `isOwn`: the file is the demo's own, so that one that this version
 * cannot read, left by another checkout, is removed and made again. `onRemoved` is called with the
 * reason then.
 */
export async function openStore(
  file: string,
  isOwn: boolean,
  onRemoved: (reason: string) => void,
): Promise<Driver> {
  const driver = sqliteDriver({ file, durability: 'process' })
  try {
    await tryOut(driver)
  } catch (error) {
    if (!isOwn || !SluiceError.is(error) || error.retryable) throw error
    for (const ending of ['', '-wal', '-shm']) rmSync(file + ending, { force: true })
    onRemoved(error.message)
    await tryOut(driver)
  }
  return driver
}
