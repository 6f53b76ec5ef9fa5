/** One of several processes of a test; see processes.test.ts. */
import { SluiceError } from '@sluice/core'
import type pg from 'pg'
import { postgresDriver } from '../../src/index.ts'
import { poolOf } from '../support/server.ts'
import { runWorkload, seeded } from '../support/workload.ts'

const [, , url = '', name = '', adds = '0'] = process.argv
const driver = postgresDriver({ connectionString: url, schema: 'processes', poolSize: 8 })

/** Opens the driver; again, as a queue does, where the process was held up while it connected. */
async function opened(): Promise<void> {
  try {
    await driver.open({})
  } catch (error) {
    if (!(error instanceof SluiceError && error.retryable)) throw error
    await opened()
  }
}

await opened()
const witness: pg.Pool = poolOf(url, 4)
const report = await runWorkload({
  driver,
  witness,
  queue: 'q',
  name,
  producers: 2,
  workers: 4,
  keys: 2_000,
  adds: Number(adds) / 2,
  leaseMs: 4_000,
  random: seeded(name.charCodeAt(0)),
})
// A report that is on its way when the channel is closed would be lost.
await new Promise((resolve) => process.send?.(report, resolve))
await witness.end()
await driver.close()
process.disconnect?.()
