import { platform } from 'node:os'
import { SluiceError } from '@sluice/core/driver'
import { type SqliteDatabase, singleValue } from '../library/database.ts'

/**
 * What an acknowledged write survives.
 *
 * - `power`: the end of the process, of the system, and of the power supply. Each commit waits for
 *   the disk.
 * - `process`: the end of the process, however it ends. After a power failure the last commits may
 *   be missing; what is there is whole.
 */
export type Durability = 'power' | 'process'

/** How long SQLite itself waits for a lock, holding up the whole process meanwhile. */
export const busyMs = 50

/** How large the log may stay on disk after it was emptied, in bytes. */
export const logBytesMax: number = 64 * 1024 * 1024

/**
 * Sets up a connection. The settings hold for the connection and not for the file, so every one
 * needs them; only the mode of the journal is kept in the file.
 */
export function applyPragmas(database: SqliteDatabase, durability: Durability): void {
  database.exec(`pragma busy_timeout = ${busyMs}`)
  const isOnDisk = singleValue(database, 'pragma journal_mode') !== 'memory'
  if (isOnDisk && singleValue(database, 'pragma journal_mode = wal') !== 'wal') {
    throw new SluiceError('ERR_STORE', 'the file system does not allow the write-ahead log')
  }
  database.exec(`pragma synchronous = ${durability === 'power' ? 'full' : 'normal'}`)
  // Elsewhere fsync reaches the disk; there it takes more.
  if (durability === 'power' && platform() === 'darwin') database.exec('pragma fullfsync = on')
  database.exec(`pragma journal_size_limit = ${logBytesMax}`)
  // Copying the log back waits for the disk whatever the durability; seldom is better, and 16 MiB
  // of log are still read quickly.
  database.exec('pragma wal_autocheckpoint = 4000')
  database.exec('pragma cache_size = -32000')
  database.exec('pragma temp_store = memory')
  // A damaged page or a tampered schema is noticed where it is read.
  database.exec('pragma cell_size_check = on')
  database.exec('pragma trusted_schema = off')
}
