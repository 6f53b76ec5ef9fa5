import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allCases, type Subject } from '@sluice/conformance'
import { examine } from '@sluice/conformance/vitest'
import { fakeClock } from '@sluice/core/testing'
import type { Durability, LibraryName, SqliteDatabase } from '@sluice/sqlite'
import { sqliteDriver } from '@sluice/sqlite'
import { describe } from 'vitest'
import { canCutPower, forkSqlite, onDisk, servedDriver } from './power-cut.ts'

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

for (const library of ['better-sqlite3', 'node:sqlite'] as const) {
  for (const durability of ['power', 'process'] as const) {
    examine(`a file, ${library}, ${durability}`, () => onFile(library, durability))
  }
  examine(`a database in memory, ${library}`, () => inMemory(library))
}

const cuts = allCases.filter((each) => each.needs?.cutPower)

describe.skipIf(!canCutPower)('power cuts', () => {
  examine('a file whose power is cut', () => onDisk(servedDriver, ['better-sqlite3', 'power']), {
    cases: cuts,
    timeoutMs: 60_000,
  })
})
