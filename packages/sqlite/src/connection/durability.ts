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

/** How long SQLite itself waits for a lock, which blocks the whole process, in milliseconds. */
export const busyMs = 50

/** The size of the log on disk after it was emptied, at most, in bytes. */
export const logBytesMax: number = 64 * 1024 * 1024

/**
 * Configures a connection. The settings apply to the connection and not to the file, so every
 * connection needs them; only the journal mode is stored in the file.
 */
export function applyPragmas(database: SqliteDatabase, durability: Durability): void {
  database.exec(`pragma busy_timeout = ${busyMs}`)
  const isOnDisk = singleValue(database, 'pragma journal_mode') !== 'memory'
  if (isOnDisk && singleValue(database, 'pragma journal_mode = wal') !== 'wal') {
    throw new SluiceError(
      'ERR_STORE',
      'the file system does not allow the write-ahead log; put the file on a local disk',
    )
  }
  database.exec(`pragma synchronous = ${durability === 'power' ? 'full' : 'normal'}`)
  // On macOS, fsync alone does not reach the disk.
  if (durability === 'power' && platform() === 'darwin') database.exec('pragma fullfsync = on')
  database.exec(`pragma journal_size_limit = ${logBytesMax}`)
  // A checkpoint waits for the disk with either durability, so it should be rare; 16 MiB of log can
  // still be read quickly.
  database.exec('pragma wal_autocheckpoint = 4000')
  database.exec('pragma cache_size = -32000')
  database.exec('pragma temp_store = memory')
  // A damaged page or a tampered schema is noticed where it is read.
  database.exec('pragma cell_size_check = on')
  database.exec('pragma trusted_schema = off')
}
