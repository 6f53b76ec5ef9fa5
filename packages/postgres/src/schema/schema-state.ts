import { SluiceError } from '@sluice/core'
import type { Connection } from '../connection/connection.ts'
import { flag, number, text } from '../rows/columns.ts'
import { migrations, sqlFunctions } from '../statements.generated.ts'
import type { Migration, SqlFunction } from './migration.ts'
import { calledByPublicFunctions } from './public-functions.ts'
import { inSchema, namesSchema, quoteIdentifier } from './schema-name.ts'

/** The newest version of the tables that this package knows. */
export const schemaVersion: number = migrations.at(-1)?.version ?? 0

/** How the name of an installed function ends. */
const installedName = /_[0-9a-f]{8}$/

interface Applied {
  readonly version: number
  readonly breaking: boolean
}

/** The migrations and functions that are installed in a schema. */
export class SchemaState {
  readonly schema: string
  /** Whether there is a schema of that name. */
  readonly exists: boolean
  /** Whether this role may create functions in it. */
  readonly mayCreate: boolean
  /** Whether its tables came without their rows. */
  readonly isHollow: boolean
  /** Whether its sequences came without their values, so that tokens would start again from 1. */
  readonly isUnnumbered: boolean
  /** Whether row level security applies to this role on the list of migrations. */
  readonly #isHidden: boolean
  readonly #applied: readonly Applied[]
  readonly #functions: ReadonlySet<string>
  /** Those that name another schema, as all do after this one was renamed. */
  readonly #elsewhere: ReadonlySet<string>

  private constructor(schema: string, found: Found | undefined, applied: readonly Applied[]) {
    this.schema = schema
    this.exists = found !== undefined
    this.mayCreate = found?.mayCreate ?? false
    this.isHollow = found?.hasMigrations === true && applied.length === 0
    this.#isHidden = found?.isHidden ?? false
    this.isUnnumbered = found?.isUnnumbered ?? false
    this.#applied = applied
    this.#functions = new Set(found?.functions)
    this.#elsewhere = new Set(found?.elsewhere)
  }

  static async read(connection: Connection, schema: string): Promise<SchemaState> {
    const found = await find(connection, schema)
    const applied = found?.hasMigrations ? await appliedIn(connection, schema) : []
    return new SchemaState(schema, found, applied)
  }

  /** The newest version of the tables that was applied; 0 if there are none. */
  get version(): number {
    return this.#applied.at(-1)?.version ?? 0
  }

  /** Whether all tables and functions exist that this package needs, and the sequences have values. */
  get isComplete(): boolean {
    const isMissing = this.missingMigrations.length > 0 || this.missingFunctions.length > 0
    return !isMissing && !this.isUnnumbered
  }

  get missingMigrations(): readonly Migration[] {
    const done = new Set(this.#applied.map(({ version }) => version))
    return migrations.filter(({ version }) => !done.has(version))
  }

  get missingFunctions(): readonly SqlFunction[] {
    return sqlFunctions.filter(
      ({ name }) => !this.#functions.has(name) || this.#elsewhere.has(name),
    )
  }

  /**
   * The names of functions of other versions of this package, except those that a public function
   * calls, which another version has installed.
   */
  async unusedFunctions(connection: Connection): Promise<readonly string[]> {
    const used = new Set(sqlFunctions.map(({ name }) => name))
    const others = [...this.#functions].filter(
      (name) => installedName.test(name) && !used.has(name),
    )
    if (others.length === 0) return []
    const called = await calledByPublicFunctions(connection, this.schema)
    return others.filter((name) => !called.has(name)).sort()
  }

  /** The newest version whose change of the tables breaks this one; `undefined` if there is none. */
  get breakingVersion(): number | undefined {
    return this.#applied.findLast(({ version, breaking }) => version > schemaVersion && breaking)
      ?.version
  }

  /** Throws if a newer version has changed the tables in a way that breaks this one. */
  refuseNewer(): void {
    const version = this.breakingVersion
    if (version === undefined) return
    throw new SluiceError(
      'ERR_SCHEMA_NEWER',
      `the schema ${JSON.stringify(this.schema)} is at version ${version}, newer than ${schemaVersion}; upgrade @sluice/postgres`,
    )
  }

  get #lack(): string {
    if (this.missingMigrations.length > 0) {
      return `is at version ${this.version}, and this program wants version ${schemaVersion}`
    }
    const names = this.missingFunctions.map(({ name }) => name)
    if (this.isUnnumbered && names.length === 0) {
      return 'has sequences without values, as after logical replication, so that fencing tokens would start again'
    }
    if (names.length === 0) return 'lacks functions that are called from SQL, or has others'
    return names.every((name) => this.#elsewhere.has(name))
      ? 'was renamed, and its functions still use the schema of the old name'
      : `lacks functions that this program calls: ${names.join(', ')}`
  }

  /**
   * The error for a schema that lacks something that is not to be installed, or, with `denied`, that this role
   * may not install.
   */
  older(denied?: unknown): SluiceError {
    const name = JSON.stringify(this.schema)
    const { version } = this
    const details = denied === undefined ? {} : { cause: denied }
    const why = denied === undefined ? '' : `; this role may not: ${(denied as Error).message}`
    if (this.isHollow && this.#isHidden) {
      return new SluiceError(
        'ERR_STORE',
        `row level security hides all rows of "migrations" in the schema ${name} from this role; disable it on all tables of the schema, or give the role BYPASSRLS`,
      )
    }
    if (this.isHollow) {
      return new SluiceError(
        'ERR_SCHEMA_OLDER',
        `the schema ${name} has the tables of Sluice, but no row in "migrations", as after restoring a dump without data; restore the rows too, or drop the schema and run \`sluice migrate\``,
      )
    }
    if (version === 0) {
      const how = denied === undefined ? '' : 'as a role that may create it, '
      const orOpen = denied === undefined ? ", or open with migrate: 'apply'" : why
      return new SluiceError(
        'ERR_SCHEMA_OLDER',
        `the schema ${name} has no tables of Sluice; ${how}run \`sluice migrate\`, or apply the SQL of migrationSql()${orOpen}`,
        details,
      )
    }
    // That SQL does not set sequences.
    const sql = this.isUnnumbered
      ? ''
      : `, or apply the SQL of migrationSql({ schema: ${name}, from: ${version} })`
    return new SluiceError(
      'ERR_SCHEMA_OLDER',
      `the schema ${name} ${this.#lack}; the owner of the schema and its functions has to run \`sluice migrate\`${sql}${why}`,
      details,
    )
  }
}

interface Found {
  readonly isHidden: boolean
  readonly hasMigrations: boolean
  readonly mayCreate: boolean
  readonly isUnnumbered: boolean
  readonly functions: readonly string[]
  readonly elsewhere: readonly string[]
}

/**
 * One statement, since opening waits for it. Other programs have tables named `migrations`, too, but hardly
 * with that column.
 */
const findText = `select
    exists (select from pg_catalog.pg_class c join pg_catalog.pg_attribute a on a.attrelid = c.oid
      where c.relnamespace = n.oid and c.relname = 'migrations' and a.attname = 'breaking') as has_migrations,
    exists (select from pg_catalog.pg_class c where c.relnamespace = n.oid and c.relname = 'migrations'
      and pg_catalog.row_security_active(c.oid)) as is_hidden,
    pg_catalog.has_schema_privilege(n.oid, 'create') as may_create,
    coalesce((select case when pg_catalog.has_sequence_privilege(c.oid, 'usage, select')
        then pg_catalog.pg_sequence_last_value(c.oid) is null end
      from pg_catalog.pg_class c
      where c.relnamespace = n.oid and c.relname = 'token' and c.relkind = 'S'), false) as is_unnumbered,
    p.functions, p.elsewhere
  from pg_catalog.pg_namespace n, lateral (
    select pg_catalog.string_agg(p.proname, ',') as functions,
      pg_catalog.string_agg(p.proname, ',') filter (where not ${namesSchema('$2')}
        and pg_catalog.strpos(p.prosrc, '".') > 0) as elsewhere
    from pg_catalog.pg_proc p where p.pronamespace = n.oid
  ) p
  where n.nspname = $1::text`

async function find(connection: Connection, schema: string): Promise<Found | undefined> {
  const [row] = await connection.query({ name: '', text: findText }, [
    schema,
    `${quoteIdentifier(schema)}.`,
  ])
  if (row === undefined) return undefined
  return {
    isHidden: flag(row['is_hidden']),
    hasMigrations: flag(row['has_migrations']),
    mayCreate: flag(row['may_create']),
    isUnnumbered: flag(row['is_unnumbered']),
    functions: text(row['functions'])?.split(',') ?? [],
    elsewhere: text(row['elsewhere'])?.split(',') ?? [],
  }
}

async function appliedIn(connection: Connection, schema: string): Promise<readonly Applied[]> {
  const list = inSchema('select version, breaking from sluice.migrations order by version', schema)
  const rows = await connection.query({ name: '', text: list }, [])
  return rows.map((row) => ({ version: number(row['version']), breaking: flag(row['breaking']) }))
}
