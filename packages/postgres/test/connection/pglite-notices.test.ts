/** Notices on PGlite, which has one connection and no second one that listens. */
import { PGlite } from '@electric-sql/pglite'
import type { Driver } from '@sluice/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PgliteLike } from '../../src/connection/client-shapes.ts'
import { postgresDriver } from '../../src/index.ts'
import { watched } from '../support/watched.ts'

let client: PGlite
const drivers: Driver[] = []

beforeAll(async () => {
  client = await PGlite.create()
})

afterAll(async () => {
  for (const driver of drivers) await driver.close()
  await client.close()
})

async function polling(like: PgliteLike): Promise<Driver> {
  const driver = postgresDriver({ client: like, pollMs: 10, onWarning() {} })
  await driver.open({})
  drivers.push(driver)
  return driver
}

/** The same client, whose `listen` promises notices that do not come. */
function deaf(): PgliteLike {
  return {
    query: client.query.bind(client) as PgliteLike['query'],
    exec: client.exec.bind(client),
    transaction: client.transaction.bind(client) as PgliteLike['transaction'],
    listen: async () => async () => {},
  }
}

test('watchers are polled only where no notice arrives', async () => {
  const hearing = await watched(await polling(client))
  const polled = await watched(await polling(deaf()))
  // Their timers are of the same length, and those of the first began earlier.
  for (let polls = 0; polls < 3; polls += 1) await polled.next()
  expect(hearing.all).toEqual([])
  await hearing.stop()
  await polled.stop()
})
