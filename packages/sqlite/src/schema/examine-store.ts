import { checkObject } from '@sluice/core'
import { systemClock } from '@sluice/core/driver'
import { type ConnectionShare, joinConnection } from '../connection/connection-share.ts'
import { findingsIn } from '../connection/database-source.ts'
import { logBytesMax } from '../connection/durability.ts'
import { sqliteEnvironment } from '../connection/environment.ts'
import { errorKindOf } from '../connection/errors.ts'
import { type Statements, statementNames } from '../connection/statements.ts'
import { statusOf } from '../connection/store-file.ts'
import { fileSettings, lockWaitMsDefault } from '../connection/target.ts'
import { singleValue } from '../library/database.ts'
import type { LibraryName } from '../library/library.ts'
import { checkOptions, type FileOptions } from '../sqlite-options.ts'

/** The result of an examination of a store. */
export interface StoreReport {
  /** The real path of the file. */
  readonly file: string
  /** The inconsistencies, in words; empty if there are none. At most a hundred of each kind. */
  readonly findings: readonly string[]
  readonly library: LibraryName
  readonly sqliteVersion: string
  readonly schemaVersion: number
  readonly fileBytes: number
  /** The length of the write-ahead log, and the length at which it is emptied. */
  readonly logBytes: number
  readonly logBytesMax: number
  /** Absent if the damage prevents counting them. */
  readonly keys?: number
}

/**
 * Examines a store: every page of the file, every index against its table, and the consistency of
 * every key. Reads the whole file; other processes can use it meanwhile.
 */
export async function examineStore(options: FileOptions): Promise<StoreReport> {
  checkObject('options', options)
  const checked = checkOptions({ ...options, mustExist: true }) as FileOptions
  const settings = fileSettings(checked)
  const lockWaitMs = checked.lockWaitMs ?? lockWaitMsDefault
  const share = await joinConnection(settings, sqliteEnvironment, lockWaitMs, systemClock)
  try {
    return await report(share, settings.file)
  } finally {
    share.release()
  }
}

async function report(
  { connection, library }: ConnectionShare,
  file: string,
): Promise<StoreReport> {
  const found = await connection.look(systemClock, findingsOf)
  return {
    ...found,
    library: library.name,
    file,
    fileBytes: statusOf(file)?.size ?? 0,
    logBytes: statusOf(`${file}-wal`)?.size ?? 0,
    logBytesMax,
  }
}

interface StoredItem {
  readonly key: string
  readonly item: string
}

function findingsOf(
  statements: Statements,
): Pick<StoreReport, 'findings' | 'sqliteVersion' | 'schemaVersion' | 'keys'> {
  const { database } = statements
  const findings: string[] = []
  // A page that cannot be read is a finding; the examination continues.
  const look = <T>(question: () => T): T | undefined => {
    try {
      return question()
    } catch (error) {
      if (errorKindOf(error) !== 'damaged') throw error
      findings.push((error as Error).message)
      return undefined
    }
  }
  findings.push(...(look(() => findingsIn(database, 'integrity_check')) ?? []))
  const lacks = lacksOf(statements)
  findings.push(...lacks)
  const isWhole = lacks.length === 0
  const lookIfWhole: typeof look = (question) => (isWhole ? look(question) : undefined)
  const rows = lookIfWhole(() => statements.examineRows.all() as { readonly finding: string }[])
  findings.push(...(rows ?? []).map(({ finding }) => finding))
  const items = lookIfWhole(() => statements.examineItems.all() as unknown as StoredItem[])
  findings.push(...(items ?? []).flatMap(itemFinding))
  const keys = lookIfWhole(() => singleValue(database, 'select count(*) from sluice_keys'))
  return {
    findings,
    sqliteVersion: String(singleValue(database, 'select sqlite_version()')),
    schemaVersion: Number(singleValue(database, 'select max(version) from sluice_schema')),
    ...(keys === undefined ? {} : { keys: Number(keys) }),
  }
}

function itemFinding({ key, item }: StoredItem): readonly string[] {
  try {
    JSON.parse(item)
    return []
  } catch {
    return [`the item of key ${key} is not JSON`]
  }
}

/**
 * What the statements of this program do not find in the schema, such as a table, a column or an index that was
 * dropped: calls that need it fail, and others do not.
 */
function lacksOf(statements: Statements): readonly string[] {
  const lacks = new Set<string>()
  for (const name of statementNames) {
    try {
      void statements[name]
    } catch (error) {
      const kind = errorKindOf(error)
      if (kind !== 'other' && kind !== 'damaged') throw error
      lacks.add(`the schema is not whole: ${(error as Error).message}; restore a backup`)
    }
  }
  return [...lacks]
}
