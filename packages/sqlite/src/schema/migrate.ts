import { type EpochMs, SluiceError, systemClock } from '@sluice/core/driver'
import { prepare, type SqliteDatabase, singleValue } from '../library/database.ts'
import { migrations } from '../statements.generated.ts'

/** Marks a file as a store: "SLUC". A database of the caller keeps its own mark. */
const applicationId = 0x53_4c_55_43

/** Whether an older schema is migrated or rejected. */
export type MigrateMode = 'apply' | 'verify'

/** The schema version of this package. */
export const schemaVersion: number = migrations.at(-1)?.version ?? 0

interface VersionRow {
  readonly version: number
  readonly breaking: number
}

function hasSchema(database: SqliteDatabase): boolean {
  const sql = "select count(*) from sqlite_schema where type = 'table' and name = 'sluice_schema'"
  return singleValue(database, sql) === 1
}

/** The schema version of a database; 0 if it has no tables of Sluice. */
function versionOf(database: SqliteDatabase, file: string): number {
  if (!hasSchema(database)) return 0
  const sql = 'select version, breaking from sluice_schema order by version'
  const rows = prepare(database, sql).all() as VersionRow[]
  if (rows.length === 0) {
    throw new SluiceError(
      'ERR_STORE_DAMAGED',
      `${file} does not say which schema it has; restore a backup`,
    )
  }
  const beyond = rows.find(({ version, breaking }) => version > schemaVersion && breaking === 1)
  if (beyond !== undefined) throw newerError(file, beyond.version)
  return rows.at(-1)?.version ?? 0
}

/** Refuses a store that this package would misunderstand. */
export function newerError(file: string, version: number): SluiceError {
  return new SluiceError(
    'ERR_SCHEMA_NEWER',
    `${file} has schema ${version}, newer than ${schemaVersion}; upgrade @sluice/sqlite`,
  )
}

/** Whether the whole file belongs to Sluice, or is a database of the caller. */
export type Ownership = 'ours' | 'guest'

/**
 * Rejects a database that is not a store, and migrates an older store, in one transaction.
 *
 * `ours`: a file with anything else in it is rejected. `guest`: the database belongs to the caller,
 * and the tables of Sluice may be created in it.
 */
export function ensureSchema(
  database: SqliteDatabase,
  file: string,
  options: { readonly ownership: Ownership; readonly migrate: MigrateMode; readonly now: EpochMs },
): void {
  if (checkVersion(database, file, options.ownership) >= schemaVersion) return
  if (options.migrate === 'verify') {
    throw new SluiceError(
      'ERR_SCHEMA_OLDER',
      `${file} has an older schema than ${schemaVersion}; run \`sluice migrate\`, or open it once with migrate: 'apply'`,
    )
  }
  database.exec('begin immediate')
  try {
    // Checked again, because another process may have migrated it meanwhile.
    const version = checkVersion(database, file, options.ownership)
    if (version < schemaVersion) migrateFrom(database, version, options)
    database.exec('commit')
  } catch (error) {
    rollBack(database)
    throw error
  }
}

function checkVersion(database: SqliteDatabase, file: string, ownership: Ownership): number {
  const mark = singleValue(database, 'pragma application_id')
  const userVersion = singleValue(database, 'pragma user_version') as number
  // After the marks: another process may migrate the file meanwhile.
  const version = versionOf(database, file)
  if (mark === applicationId) {
    if (version === 0) {
      throw new SluiceError(
        'ERR_STORE_DAMAGED',
        `${file} is marked as a queue and has no queue in it; restore a backup`,
      )
    }
    if (userVersion > version) throw newerError(file, userVersion)
  } else if (version === 0 && ownership === 'ours') {
    throw new SluiceError(
      'ERR_STORE_FOREIGN',
      `${file} is a database of another program; hand it in as a database to put queues into it`,
    )
  }
  return version
}

function migrateFrom(
  database: SqliteDatabase,
  from: number,
  { ownership, now }: { readonly ownership: Ownership; readonly now: EpochMs },
): void {
  const record = 'insert into sluice_schema (version, breaking, applied_at) values (?, ?, ?)'
  for (const { version, breaking, sql } of migrations) {
    if (version <= from) continue
    database.exec(sql)
    database.prepare(record).run(version, breaking ? 1 : 0, now)
  }
  // In microseconds, and therefore above every token of an earlier file of the same name. Not by a
  // given clock, which may be beyond the last token. A clock before 1970 gives none: fake timers start there.
  const firstToken = Math.max(1, Math.floor(systemClock.now() * 1_000))
  database
    .prepare('insert into sluice_store (id, token, latest) values (1, ?, ?) on conflict do nothing')
    .run(firstToken, now)
  if (ownership === 'guest') return
  database.exec(`pragma application_id = ${applicationId}`)
  database.exec(`pragma user_version = ${schemaVersion}`)
}

function rollBack(database: SqliteDatabase): void {
  try {
    database.exec('rollback')
  } catch {
    // Some errors have already ended the transaction.
  }
}

/** Creates the schema in a new database. */
export function createSchema(database: SqliteDatabase, now: EpochMs): void {
  database.exec('begin immediate')
  migrateFrom(database, 0, { ownership: 'ours', now })
  database.exec('commit')
}
