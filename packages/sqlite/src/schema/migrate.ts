import { type EpochMs, SluiceError } from '@sluice/core/driver'
import { type SqliteDatabase, singleValue } from '../library/database.ts'
import { migrations } from '../statements.generated.ts'

/** Marks a file as one of ours: "SLUC". A database of the user's own keeps its mark. */
export const applicationId = 0x53_4c_55_43

/** Whether a file may be brought up to date, or only looked at. */
export type Migrate = 'apply' | 'verify'

/** The version of the schema that this package works with. */
export const schemaVersion: number = migrations.at(-1)?.version ?? 0

interface VersionRow {
  readonly version: number
  readonly breaking: number
}

function hasSchema(database: SqliteDatabase): boolean {
  const sql = "select count(*) from sqlite_schema where type = 'table' and name = 'sluice_schema'"
  return singleValue(database, sql) === 1
}

/** The version that a database has; 0 if nothing of ours is in it. */
function versionOf(database: SqliteDatabase, file: string): number {
  if (!hasSchema(database)) return 0
  const rows = database
    .prepare('select version, breaking from sluice_schema order by version')
    .all() as VersionRow[]
  if (rows.length === 0) {
    throw new SluiceError('ERR_STORE_DAMAGED', `${file} does not say which schema it has`)
  }
  const beyond = rows.find(({ version, breaking }) => version > schemaVersion && breaking === 1)
  if (beyond !== undefined) {
    throw new SluiceError(
      'ERR_SCHEMA_NEWER',
      `${file} has schema ${beyond.version}, which this version of @sluice/sqlite does not know ` +
        `(it knows ${schemaVersion})`,
    )
  }
  return rows.at(-1)?.version ?? 0
}

/** What may be done with a database in which nothing of ours is found. */
export type Ownership = 'ours' | 'guest'

/**
 * Refuses what is not a store of ours, and brings an older one up to date, in one transaction.
 *
 * `ours`: the whole file is ours, and one that holds something else is refused. `guest`: the
 * database was handed in, and our tables may be put into it.
 */
export function ensureSchema(
  database: SqliteDatabase,
  file: string,
  options: { readonly ownership: Ownership; readonly migrate: Migrate; readonly now: EpochMs },
): void {
  if (checkVersion(database, file, options.ownership) >= schemaVersion) return
  if (options.migrate === 'verify') {
    throw new SluiceError(
      'ERR_SCHEMA_OLDER',
      `${file} has an older schema than ${schemaVersion}; open it once with migrate: 'apply'`,
    )
  }
  database.exec('begin immediate')
  try {
    // Asked again, because another process may have been here in between.
    const version = checkVersion(database, file, options.ownership)
    if (version < schemaVersion) migrateFrom(database, version, options)
    database.exec('commit')
  } catch (error) {
    rollBack(database)
    throw error
  }
}

function checkVersion(database: SqliteDatabase, file: string, ownership: Ownership): number {
  const version = versionOf(database, file)
  const mark = singleValue(database, 'pragma application_id')
  const userVersion = singleValue(database, 'pragma user_version') as number
  if (mark === applicationId) {
    if (version === 0) {
      throw new SluiceError(
        'ERR_STORE_DAMAGED',
        `${file} has the mark of a queue and no queue in it`,
      )
    }
    if (userVersion > version) {
      throw new SluiceError(
        'ERR_SCHEMA_NEWER',
        `${file} says that it has schema ${userVersion}; this version of @sluice/sqlite knows ` +
          `${schemaVersion}`,
      )
    }
  } else if (version === 0 && ownership === 'ours') {
    throw new SluiceError(
      'ERR_STORE_FOREIGN',
      `${file} is a database of something else; hand it in as a database to put queues into it`,
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
  // In microseconds, and so above every token of a file that was here before.
  const firstToken = Math.max(1, Math.floor(now * 1_000))
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
    // Some errors have ended the transaction already.
  }
}

/** Makes the schema in a database that is new. */
export function createSchema(database: SqliteDatabase, now: EpochMs): void {
  database.exec('begin immediate')
  migrateFrom(database, 0, { ownership: 'ours', now })
  database.exec('commit')
}
