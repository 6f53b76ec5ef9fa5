import { checkNumber, checkObject } from '@sluice/core'
import { migrations, publicFunctions, sqlFunctions } from '../statements.generated.ts'
import type { Migration } from './migration.ts'
import { publicScript } from './public-functions.ts'
import { checkSchemaName, inSchema, quoteIdentifier } from './schema-name.ts'

/** Options of {@link migrationSql}. */
export interface MigrationSqlOptions {
  /** The schema for all tables and functions. Default `sluice`. */
  readonly schema?: string | undefined
  /** The version that the tables are at; 0 (default) if there is no schema yet. */
  readonly from?: number | undefined
}

/**
 * The SQL that creates the schema, or brings an older one up to date, to be applied by hand; programs
 * then open with `migrate: 'verify'`. It always contains the functions of this version, which may be
 * installed again, and the public ones. Functions of other versions stay.
 */
export function migrationSql(options: MigrationSqlOptions = {}): string {
  checkObject('options', options, ['schema', 'from'])
  const schema = checkSchemaName(options.schema ?? 'sluice')
  const from = checkNumber('from', options.from ?? 0, { min: 0, integer: true })
  const steps = migrations.filter(({ version }) => version > from)
  return [
    'begin;',
    ...(from === 0 ? [`create schema if not exists ${quoteIdentifier(schema)};`] : []),
    ...steps.map((step) => migrationScript(step, schema)),
    ...sqlFunctions.map(({ sql }) => `${inSchema(sql, schema)}\n`),
    ...publicFunctions.map((one) => `${publicScript(one, schema)}\n`),
    'commit;',
    '',
  ].join('\n')
}

/** One migration with its entry in the list of those applied. */
export function migrationScript(
  { version, title, breaking, sql }: Migration,
  schema: string,
): string {
  const text = `${sql}

insert into sluice.migrations (version, title, breaking) values (${version}, '${title}', ${breaking});
`
  return inSchema(text, schema)
}
