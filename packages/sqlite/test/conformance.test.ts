import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allCases, type Subject } from '@sluice/conformance'
import { examine } from '@sluice/conformance/vitest'
import { fakeClock } from '@sluice/core/testing'
import { bundled } from '@sluice/needs/bundled'
import type { Durability, LibraryName, SqliteDatabase } from '@sluice/sqlite'
import { sqliteDriver } from '@sluice/sqlite'
import { describe, onTestFinished, test } from 'vitest'
import { canCutPower, forkSqlite, onDisk, servedDriver } from './power-cut.ts'
import { ask, askOptions } from './store.ts'

const requireHere = createRequire(import.meta.url)

function openDatabase(library: LibraryName, path: string): SqliteDatabase {
  if (library === 'better-sqlite3') return new (requireHere(library))(path) as SqliteDatabase
  return new (requireHere(library).DatabaseSync)(path) as SqliteDatabase
}

function onFile(library: LibraryName, durability: Durability): Subject {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-sqlite-'))
  const file = join(folder, 'queue.db')
  const make = () => sqliteDriver({ file, library, durability })
  let callers: SqliteDatabase | undefined
  return {
    driver: make(),
    clock: fakeClock(),
    restart: make,
    peer: make,
    // It takes a while to start one, and they differ in nothing that processes could notice.
    ...(durability === 'power' && {
      otherProcess: () => forkSqlite(file, library, durability),
    }),
    begin() {
      callers ??= openDatabase(library, file)
      const database = callers
      database.exec('begin immediate')
      return {
        handle: database,
        commit: () => void database.exec('commit'),
        rollback: () => void database.exec('rollback'),
      }
    },
    dispose() {
      callers?.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function inMemory(library: LibraryName): Subject {
  const database = openDatabase(library, ':memory:')
  return {
    driver: sqliteDriver({ database, exclusive: true }),
    clock: fakeClock(),
    begin() {
      database.exec('begin immediate')
      return {
        handle: database,
        commit: () => void database.exec('commit'),
        rollback: () => void database.exec('rollback'),
      }
    },
    dispose: () => void database.close(),
  }
}

/** The cases that search share their number of runs between the six; each takes a seed of its own. */
const chance = { modelRuns: 15, histories: 2 }

for (const library of ['better-sqlite3', 'node:sqlite'] as const) {
  for (const durability of ['power', 'process'] as const) {
    examine(`a file, ${library}, ${durability}`, () => onFile(library, durability), { chance })
  }
  examine(`a database in memory, ${library}`, () => inMemory(library), { chance })
}

const cuts = allCases.filter((each) => each.needs?.cutPower)

/** A coin that falls in the same way each time. */
function coin(): () => boolean {
  let state = 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state % 2 === 0
  }
}

describe.skipIf(!canCutPower)('power cuts', () => {
  examine(
    'a file whose power is cut',
    async () => onDisk(await bundled(servedDriver), ['better-sqlite3', 'power']),
    {
      cases: cuts,
      timeoutMs: 180_000,
    },
  )
  examine(
    'a file of which half is written',
    async () => onDisk(await bundled(servedDriver), ['node:sqlite', 'power'], coin()),
    {
      cases: cuts,
      timeoutMs: 180_000,
    },
  )

  test('show what was not synced: with durability process, the last adds are gone', async () => {
    const { driver, cutPower, dispose } = await onDisk(await bundled(servedDriver), [
      'better-sqlite3',
      'process',
    ])
    onTestFinished(async () => await dispose())
    await driver.open({})
    const keys = Array.from({ length: 50 }, (_, nth) => `key ${nth}`)
    for (const key of keys) await driver.add('q', [ask(key)], askOptions)
    const after = await cutPower()
    await after.open({})
    assert.ok((await after.list('q', { limit: 100 })).rows.length < keys.length)
    await after.close()
  })
})
