import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { queueCases, type Subject } from '@sluice/conformance'
import { examine } from '@sluice/conformance/vitest'
import { fakeClock } from '@sluice/core/testing'
import { type LibraryName, type SqliteDatabase, sqliteDriver } from '@sluice/sqlite'
import { factories } from '../../support/queue-factories.ts'

// Taken from where the driver finds it: two copies of SQLite in one process drop each other's locks.
const requireThere = createRequire(import.meta.resolve('@sluice/sqlite'))

function connect(library: LibraryName, file: string): SqliteDatabase {
  if (library === 'node:sqlite') return new DatabaseSync(file)
  return new (requireThere(library) as new (path: string) => SqliteDatabase)(file)
}

function onFile(library: LibraryName): Subject {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-tests-'))
  const file = join(folder, 'queue.db')
  const make = () => sqliteDriver({ file, library, durability: 'process' })
  let callers: SqliteDatabase | undefined
  return {
    driver: make(),
    clock: fakeClock(),
    restart: make,
    peer: make,
    begin() {
      callers ??= connect(library, file)
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

for (const library of ['better-sqlite3', 'node:sqlite'] as const) {
  examine(`through the queue, in a file, ${library}`, () => onFile(library), {
    cases: queueCases(factories),
  })
}
