import { emptyKeyState, type TransferRow } from '@sluice/core'
import { expect, onTestFinished, test } from 'vitest'
import { statementsFor } from '../../src/connection/statements.ts'
import { postgresDriver } from '../../src/index.ts'
import { channelOf } from '../../src/schema/schema-name.ts'
import { ask, askOptions } from '../support/asks.ts'
import { lockWaits } from '../support/server.ts'
import { sharedServer } from '../support/shared-server.ts'

const server = sharedServer()

/** A ready key at a position in the order. */
function rowAt(key: string, seq: number): TransferRow {
  const due = { dueAt: 1, why: 'add', readyAt: 1, askedAt: 1, seq } as const
  return { ...emptyKeyState(), ...due, key, item: undefined, lastError: undefined }
}

test('of two imports at once, the one of the earlier positions does not set the order back', async () => {
  const schema = 'order_of_two'
  const driver = postgresDriver({ pool: server.pool, schema, onWarning() {} })
  await driver.open({})
  onTestFinished(async () => await driver.close())
  const client = await server.pool.connect()
  const waiting = async (): Promise<number> => (await server.pool.query(lockWaits)).rows.length
  const imports: unknown[] = []
  // Both have read the sequence before either sets it; the lock is given in the order of the requests.
  await client.query('begin')
  await client.query(statementsFor(schema, channelOf(schema)).transferLock)
  try {
    for (const seq of [3_000_000, 500]) {
      imports.push(driver.transfer?.importRows('q', [rowAt(`at ${seq}`, seq)]))
      await expect.poll(waiting).toBe(imports.length)
    }
  } finally {
    await client.query('rollback')
    client.release()
  }
  expect(await Promise.all(imports)).toEqual([['imported'], ['imported']])
  await driver.add('q', [ask('next')], askOptions)
  const { rows } = await driver.list('q', { limit: 10 })
  const next = rows.find(({ key }) => key === 'next')
  expect(next?.seq).toBeGreaterThan(3_000_000)
})
