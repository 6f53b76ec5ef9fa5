import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type CreateSubject, throughDirect } from '@sluice/conformance'
import { fakeClock } from '@sluice/core/testing'
import { memoryDriver } from '@sluice/memory'
import { sqliteDriver } from '@sluice/sqlite'

/** The stores that need no server, each subject on one of its own. */
export const localSubjects: Readonly<Record<'memory' | 'direct' | 'sqlite', CreateSubject>> = {
  memory: () => ({ driver: memoryDriver(), clock: fakeClock() }),
  direct: () => ({ driver: throughDirect(memoryDriver()), clock: fakeClock() }),
  sqlite() {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-subject-'))
    const file = join(folder, 'queue.db')
    const make = () => sqliteDriver({ file, library: 'node:sqlite', durability: 'process' })
    let database: DatabaseSync | undefined
    return {
      driver: make(),
      clock: fakeClock(),
      restart: make,
      peer: make,
      begin() {
        const caller = database ?? new DatabaseSync(file)
        database = caller
        caller.exec('begin immediate')
        return {
          handle: caller,
          commit: () => caller.exec('commit'),
          rollback: () => caller.exec('rollback'),
        }
      },
      dispose() {
        database?.close()
        rmSync(folder, { recursive: true, force: true })
      },
    }
  },
}
