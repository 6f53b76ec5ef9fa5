import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { SluiceError } from '@sluice/core'
import { type Driver, never } from '@sluice/core/driver'
import { type SqliteDatabase, sqliteDriver } from '@sluice/sqlite'
import { onTestFinished, test } from 'vitest'
import { scratchFile } from './scratch.ts'
import { ask, askOptions } from './store.ts'

const Database = createRequire(import.meta.url)('better-sqlite3') as new (
  path: string,
) => SqliteDatabase

const lease = { key: 'a', token: 1 }

const verbs: Readonly<Record<string, (driver: Driver) => unknown>> = {
  add: (driver) => driver.add('q', [ask('a')], askOptions),
  claim: (driver) => driver.claim('q', { limit: 1, holder: 'h', claimId: 'c', leaseMs: 60_000 }),
  renew: (driver) => driver.renew('q', [lease], 60_000),
  finish: (driver) => driver.finish('q', [{ as: 'done', ...lease, forget: true }], askOptions),
  forget: (driver) => driver.forget('q', ['a']),
  tick: (driver) => driver.tick('q', { holder: 'h', limit: 1, failuresExpireMs: never }),
  counts: (driver) => driver.counts('q', { cap: 10 }),
  list: (driver) => driver.list('q', { limit: 10 }),
  pause: (driver) => driver.operate?.pause('q'),
  purge: (driver) => driver.operate?.purge('q'),
}

/** A store with a key that a driver has open, and another connection to its file. */
async function openStore(): Promise<{ driver: Driver; other: SqliteDatabase }> {
  const file = scratchFile()
  const driver = sqliteDriver({ file })
  await driver.open({})
  await driver.add('q', [ask('a')], askOptions)
  const other = new Database(file)
  onTestFinished(async () => {
    other.close()
    await driver.close()
  })
  return { driver, other }
}

function rowsOf(database: SqliteDatabase): unknown {
  return database.prepare('select * from sluice_keys').all()
}

const isNewer = (error: unknown): boolean =>
  SluiceError.is(error, 'ERR_SCHEMA_NEWER') && !error.retryable && /999/.test(error.message)

for (const [verb, call] of Object.entries(verbs)) {
  test(`${verb} refuses a file that was migrated by a newer version while it was open`, async () => {
    const { driver, other } = await openStore()
    const before = rowsOf(other)
    other.exec('insert into sluice_schema values (999, 1, 0), (1000, 0, 0)')
    await assert.rejects(async () => await call(driver), isNewer)
    assert.deepEqual(rowsOf(other), before)
  })
}

test('a transaction of the caller is refused as well', async () => {
  const { driver, other } = await openStore()
  other.exec('insert into sluice_schema values (999, 1, 0); begin')
  const inside = driver.transact?.(other)
  assert.throws(() => inside?.add('q', [ask('b')], askOptions), isNewer)
  other.exec('rollback')
})

test('a newer schema that older versions can work with changes nothing', async () => {
  const { driver, other } = await openStore()
  other.exec('insert into sluice_schema values (999, 0, 0)')
  assert.equal((await driver.add('q', [ask('b')], askOptions))[0]?.outcome, 'added')
})
