import { checkNumber, checkObject, SluiceError } from '@sluice/core'
import type { Row } from '../connection/client-shapes.ts'
import type { Connection, Connections } from '../connection/connection.ts'
import { flag, number } from '../rows/columns.ts'
import { migrations } from '../statements.generated.ts'
import type { Migration } from './migration.ts'
import { checkSchemaName, inSchema, quoteIdentifier } from './schema-name.ts'

/** What opening does about the schema: bring it up to date, or hold for one that is. */
export type MigrateMode = 'apply' | 'verify'

/** The newest version that this package knows. */
export const schemaVersion: number = migrations.at(-1)?.version ?? 0

interface Applied {
  readonly version: number
  readonly breaking: boolean
}

/** Brings the schema up to date, or refuses to work with it. */
export async function migrate(
  connections: Connections,
  schema: string,
  mode: MigrateMode,
): Promise<void> {
  const applied = await connections.connected((connection) => appliedIn(connection, schema))
  refuseNewer(applied, schema)
  if (missing(applied).length === 0) return
  if (mode === 'verify') throw older(applied, schema)
  await connections.transaction(async (connection) => {
    // Whatever the role is set to: this takes as long as it takes, and one after another.
    await connection.script('set local statement_timeout = 0; set local lock_timeout = 0')
    await connection.query(lockStatement, [`sluice migrations of ${schema}`])
    const now = await appliedIn(connection, schema)
    refuseNewer(now, schema)
    if (!(await schemaExists(connection, schema))) {
      await connection.script(`create schema ${quoteIdentifier(schema)}`)
    }
    for (const step of missing(now)) await connection.script(scriptOf(step, schema))
  })
}

const lockStatement = {
  name: '',
  text: 'select pg_advisory_xact_lock(hashtextextended($1::text, 0))',
}

async function schemaExists(connection: Connection, schema: string): Promise<boolean> {
  const text = 'select from pg_catalog.pg_namespace where nspname = $1::text'
  return (await connection.query({ name: '', text }, [schema])).length > 0
}

async function appliedIn(connection: Connection, schema: string): Promise<readonly Applied[]> {
  const text = `select from pg_catalog.pg_class c join pg_catalog.pg_namespace n
    on n.oid = c.relnamespace where n.nspname = $1::text and c.relname = 'migrations'`
  const found = await connection.query({ name: '', text }, [schema])
  if (found.length === 0) return []
  const list = inSchema('select version, breaking from sluice.migrations order by version', schema)
  const rows = await connection.query({ name: '', text: list }, [])
  return rows.map((row: Row) => ({
    version: number(row['version']),
    breaking: flag(row['breaking']),
  }))
}

function missing(applied: readonly Applied[]): readonly Migration[] {
  const done = new Set(applied.map(({ version }) => version))
  return migrations.filter(({ version }) => !done.has(version))
}

function refuseNewer(applied: readonly Applied[], schema: string): void {
  const newest = applied.findLast(({ version, breaking }) => version > schemaVersion && breaking)
  if (newest === undefined) return
  throw new SluiceError(
    'ERR_SCHEMA_NEWER',
    `the schema ${JSON.stringify(schema)} is at version ${newest.version}, which this program must not touch: it knows version ${schemaVersion}`,
  )
}

function older(applied: readonly Applied[], schema: string): SluiceError {
  const version = applied.at(-1)?.version ?? 0
  return new SluiceError(
    'ERR_SCHEMA_OLDER',
    version === 0
      ? `the schema ${JSON.stringify(schema)} has not been made; apply the SQL that migrationSql() gives, or open with migrate: 'apply'`
      : `the schema ${JSON.stringify(schema)} is at version ${version}, and this program wants version ${schemaVersion}`,
  )
}

/** One migration with its entry in the list of those applied. */
function scriptOf({ version, title, breaking, sql }: Migration, schema: string): string {
  const text = `${sql}

insert into sluice.migrations (version, title, breaking) values (${version}, '${title}', ${breaking});
`
  return inSchema(text, schema)
}

/** Which SQL {@link migrationSql} is to give. */
export interface MigrationSqlOptions {
  /** The schema in which everything is kept. Default `sluice`. */
  readonly schema?: string
  /** The version that the schema is at; 0 (default) if it is still to be made. */
  readonly from?: number
}

/**
 * The SQL that makes the schema, or brings an older one up to date: for those who apply migrations
 * themselves, and open with `migrate: 'verify'`.
 */
export function migrationSql(options: MigrationSqlOptions = {}): string {
  checkObject('options', options, ['schema', 'from'])
  const schema = checkSchemaName(options.schema ?? 'sluice')
  const from = checkNumber('from', options.from ?? 0, { min: 0, integer: true })
  const steps = migrations.filter(({ version }) => version > from)
  return [
    'begin;',
    ...(from === 0 ? [`create schema if not exists ${quoteIdentifier(schema)};`] : []),
    ...steps.map((step) => scriptOf(step, schema)),
    'commit;',
    '',
  ].join('\n')
}
