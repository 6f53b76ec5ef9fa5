import { checkObject, SluiceError } from '@sluice/core'
import type { Connection, Connections } from '../connection/connection.ts'
import { DeadlineError } from '../connection/deadline.ts'
import { repeatableError, sqlStateOf, whileWithoutEffect } from '../connection/errors.ts'
import { targetOf } from '../connection/target.ts'
import { checkOptions, type MigrateMode, type PostgresOptions } from '../postgres-options.ts'
import { checkServer } from './check-server.ts'
import { migrationScript } from './migration-sql.ts'
import { outdatedPublicFunctions, publicScript } from './public-functions.ts'
import { inSchema, quoteIdentifier } from './schema-name.ts'
import { SchemaState, schemaVersion } from './schema-state.ts'

/** Options of {@link migrate}. */
export interface MigrateOptions {
  /**
   * Whether to drop functions that this version of the package does not call. Programs of other
   * versions fail from then on: prune when all programs that use the schema run this version. Default
   * false.
   */
  readonly prune?: boolean | undefined
}

/** The result of {@link migrate}. */
export interface MigrateReport {
  /** The version that the tables are at. */
  readonly version: number
  /** The names of functions that were installed. */
  readonly installed: readonly string[]
  /** The names of functions that were dropped. */
  readonly pruned: readonly string[]
}

/**
 * Brings the schema of a store up to date, as opening does, or creates it. With `prune` it also drops
 * the functions of other versions, which opening never does. With `migrate: 'verify'` nothing is
 * installed, and a schema that is not up to date is an error.
 */
export async function migrate(
  options: PostgresOptions,
  migrateOptions: MigrateOptions = {},
): Promise<MigrateReport> {
  const settings = checkOptions(options)
  checkObject('migrateOptions', migrateOptions, ['prune'])
  const { schema, migrate: mode } = settings
  const { connections, use } = await targetOf(settings)
  try {
    await checkServer(connections, use.probe)
    const installed = await bringUpToDate(connections, schema, mode)
    const pruned = migrateOptions.prune === true ? await prune(connections, schema) : []
    return { version: schemaVersion, installed, pruned }
  } catch (error) {
    throw repeatableError(error, 'the schema was not brought up to date')
  } finally {
    await connections.close()
  }
}

/**
 * Installs what is missing in a schema, or refuses to work with it. Returns the names of functions
 * that were installed.
 */
export async function bringUpToDate(
  connections: Connections,
  schema: string,
  mode: MigrateMode,
): Promise<readonly string[]> {
  const state = await connections.connected((connection) => SchemaState.read(connection, schema))
  state.refuseNewer()
  const mayInstall = mode === 'apply' && (!state.exists || state.mayCreate)
  if (!state.isComplete && !mayInstall) throw state.older()
  // Programs do without the public functions: only a role that may install them looks for them.
  if (state.isComplete && !(mayInstall && (await lacksPublicFunctions(connections, schema))))
    return []
  return await alone(connections, schema, install)
}

async function lacksPublicFunctions(connections: Connections, schema: string): Promise<boolean> {
  const outdated = await connections.connected((connection) =>
    outdatedPublicFunctions(connection, schema),
  )
  return outdated.length > 0
}

async function install(connection: Connection, state: SchemaState): Promise<readonly string[]> {
  state.refuseNewer()
  if (state.isHollow) throw state.older()
  try {
    return await installMissing(connection, state)
  } catch (error) {
    throw sqlStateOf(error) === '42501' ? state.older(error) : error
  }
}

async function installMissing(
  connection: Connection,
  state: SchemaState,
): Promise<readonly string[]> {
  const { schema } = state
  if (!state.exists) await connection.script(`create schema ${quoteIdentifier(schema)}`)
  for (const step of state.missingMigrations) {
    try {
      await connection.script(migrationScript(step, schema))
    } catch (error) {
      throw state.version === 0 ? orForeign(error, schema) : error
    }
  }
  if (state.isUnnumbered) await connection.script(inSchema(numberingText, schema))
  const functions = state.missingFunctions
  if (functions.length > 0) {
    await connection.script(inSchema(functions.map(({ sql }) => sql).join('\n'), schema))
  }
  const publics = await outdatedPublicFunctions(connection, schema)
  if (publics.length > 0) {
    await connection.script(publics.map((one) => publicScript(one, schema)).join('\n'))
  }
  return [...functions, ...publics].map(({ name }) => name)
}

/**
 * Gives values to the sequences of tables whose rows were copied by logical replication, which does not
 * copy those of sequences. As in a new schema, numbers start at the time, in microseconds since the epoch:
 * beyond those that the first database has given out.
 */
const numberingText = `with moment as (
    select (extract(epoch from pg_catalog.clock_timestamp()) * 1000000)::bigint as now
  ), latest as (
    select pg_catalog.setval('sluice.latest', m.now) from moment m
  )
  select pg_catalog.setval(s.sequence, greatest(m.now, l.setval,
    (select pg_catalog.max(greatest(k.token, k.seq)) from sluice.keys k)))
  from moment m, latest l, pg_catalog.unnest(array['sluice.token', 'sluice.arrival',
    'sluice.failed_runs_id_seq']::regclass[]) as s(sequence)`

/** The error for tables of another program, which have the names of ours. */
function orForeign(error: unknown, schema: string): unknown {
  if (!(error instanceof Error) || sqlStateOf(error) !== '42P07') return error
  return new SluiceError(
    'ERR_STORE_FOREIGN',
    `the schema ${JSON.stringify(schema)} has tables of another program (${error.message}); name another ` +
      'one for the store with the option schema',
    { cause: error },
  )
}

async function prune(connections: Connections, schema: string): Promise<readonly string[]> {
  return await alone(connections, schema, async (connection, state) => {
    const unusedFunctions = await state.unusedFunctions(connection)
    // Without arguments, since no two functions of a schema have the same name here.
    const names = unusedFunctions.map((name) => `${quoteIdentifier(schema)}.${name}`)
    if (names.length > 0) await connection.script(`drop function ${names.join(', ')}`)
    return unusedFunctions
  })
}

/** Works on a schema in one transaction, until whose end no other process installs or drops anything in it. */
async function alone<T>(
  connections: Connections,
  schema: string,
  work: (connection: Connection, state: SchemaState) => Promise<T>,
): Promise<T> {
  try {
    return await whileWithoutEffect(() =>
      connections.transaction(async (connection) => {
        await lockSchema(connection, schema)
        return await work(connection, await SchemaState.read(connection, schema))
      }),
    )
  } catch (error) {
    if (!SluiceError.is(error) || !(error.cause instanceof DeadlineError)) throw error
    throw new SluiceError(
      'ERR_STORE',
      `the schema ${JSON.stringify(schema)} was not brought up to date: ${error.cause.message}; another session ` +
        'may hold its lock, as one does that migrates it, or the migration takes longer: run migrate() with a ' +
        'larger timeoutMs before programs open the store',
      { cause: error, retryable: true },
    )
  }
}

async function lockSchema(connection: Connection, schema: string): Promise<void> {
  // Whatever the role is set to, this waits for as long as it takes. Old servers lack the last of them.
  await connection.script(`select pg_catalog.set_config(name, '0', true) from pg_catalog.pg_settings
    where name in ('statement_timeout', 'lock_timeout', 'transaction_timeout')`)
  await connection.query(lockStatement, [`sluice migrations of ${schema}`])
}

const lockStatement = {
  name: '',
  text: 'select pg_advisory_xact_lock(hashtextextended($1::text, 0))',
}
