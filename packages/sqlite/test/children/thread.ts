/** Adds a key to the given file, in a thread, and waits for a message to exit. */
import { parentPort, workerData } from 'node:worker_threads'
import { sqliteDriver } from '@sluice/sqlite'

const driver = sqliteDriver({ file: workerData as string, durability: 'process' })
await driver.open({})
await driver.add('q', [{ key: 'of the thread', item: undefined, priority: 0, delayMs: 0 }], {
  dedupe: 'client-go',
  failuresExpireMs: 1_000,
})
parentPort?.once('message', () => {
  void driver.close()
  parentPort?.close()
})
parentPort?.postMessage('added')
