import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { platform } from 'node:os'
import { sqliteDriver } from '@sluice/sqlite'
import { describe, test } from 'vitest'
import { type Durability, logBytesMax } from '../src/connection/durability.ts'
import type { SqliteDatabase } from '../src/library/database.ts'
import type { Library, LibraryName } from '../src/library/library.ts'
import { loadLibrary } from '../src/library/library.ts'
import { scratchFile } from './scratch.ts'
import { ask, askOptions, storeOn } from './store.ts'

/** A library that remembers the connections it has opened. */
function remembering(name: LibraryName, connections: SqliteDatabase[]): Library {
  const library = loadLibrary(name)
  return {
    ...library,
    open(path) {
      const database = library.open(path)
      connections.push(database)
      return database
    },
  }
}

const expected: Readonly<Record<Durability, number>> = { power: 2, process: 1 }

function assertSetUp(database: SqliteDatabase, durability: Durability, message: string): void {
  const pragma = (what: string): unknown =>
    Object.values(database.prepare(`pragma ${what}`).get() as object)[0]
  assert.equal(pragma('synchronous'), expected[durability], message)
  assert.equal(pragma('journal_mode'), 'wal')
  assert.equal(pragma('journal_size_limit'), logBytesMax)
  assert.ok((pragma('busy_timeout') as number) <= 100)
  assert.equal(pragma('cell_size_check'), 1)
  assert.equal(pragma('trusted_schema'), 0)
  if (platform() === 'darwin') assert.equal(pragma('fullfsync'), durability === 'power' ? 1 : 0)
}

describe('every connection is set up, also the one that takes the place of another', () => {
  for (const name of ['better-sqlite3', 'node:sqlite'] as const) {
    for (const durability of ['power', 'process'] as const) {
      test(`${name}, ${durability}`, async () => {
        const connections: SqliteDatabase[] = []
        const file = scratchFile()
        const parts = { library: remembering(name, connections), durability }
        for (const round of ['made', 'reopened']) {
          const { driver } = storeOn(file, parts)
          await driver.open({})
          const database = connections.at(-1) as SqliteDatabase
          assertSetUp(database, durability, round)
          await driver.add('q', [ask('a')], askOptions)
          await driver.close()
        }
      })
    }
  }
})

describe.each(['better-sqlite3', 'node:sqlite'] as const)('an exclusive database of %s', (name) => {
  test.each(['power', 'process'] as const)('is set up as well, %s', async (durability) => {
    const database = loadLibrary(name).open(scratchFile())
    const driver = sqliteDriver({ database, exclusive: true, durability })
    await driver.open({})
    assertSetUp(database, durability, name)
    await driver.close()
    database.close()
  })

  test('gets no tables with migrate: verify', async () => {
    const database = loadLibrary(name).open(scratchFile())
    const driver = sqliteDriver({ database, exclusive: true, migrate: 'verify' })
    await assert.rejects(async () => await driver.open({}), /ERR_SCHEMA/)
    assert.equal(database.prepare('select name from sqlite_schema').get(), undefined)
    database.close()
  })

  test('is required where the connection keeps the file locked', async () => {
    const database = loadLibrary(name).open(scratchFile())
    database.exec('pragma locking_mode = exclusive; create table mine (a)')
    assert.throws(() => sqliteDriver({ database }), {
      code: 'ERR_INVALID_INPUT',
      parameter: 'database',
      message: /locking_mode = exclusive, .*set exclusive: true/,
    })
    const driver = sqliteDriver({ database, exclusive: true })
    await driver.open({})
    await driver.add('q', [ask('a')], askOptions)
    assert.equal((await driver.counts('q', { cap: 1 })).ready, 1)
    await driver.close()
    database.close()
  })

  test('is opened when a transaction of the caller has ended', async () => {
    const database = loadLibrary(name).open(scratchFile())
    const driver = sqliteDriver({ database, exclusive: true })
    database.exec('begin')
    const opening = driver.open({})
    database.exec('commit')
    await opening
    assert.equal((await driver.counts('q', { cap: 1 })).ready, 0)
    await driver.close()
    database.close()
  })
})

test('better-sqlite3 is preferred where it is installed', () => {
  assert.equal(loadLibrary(undefined).name, 'better-sqlite3')
  assert.ok(createRequire(import.meta.url).resolve('better-sqlite3'))
})
