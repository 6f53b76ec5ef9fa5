/**
 * The driver that keeps keys in Postgres, which any number of processes and machines may share. Call
 * `postgresDriver` with a `connectionString` or a `pool`, and pass the result to a queue. `migrationSql`
 * and `rolesSql` return the SQL for schemas that are migrated separately, and `doctor` checks the health
 * of a store.
 *
 * @packageDocumentation
 */

export type {
  PgClient,
  PgliteLike,
  PgliteTransaction,
  PgPool,
  PgPoolClient,
  PgQuery,
} from './client-shapes.ts'
export { doctor, type Finding, type Level } from './doctor.ts'
export {
  type MigrateMode,
  type MigrationSqlOptions,
  migrationSql,
  schemaVersion,
} from './migrate.ts'
export type { PostgresOptions } from './options.ts'
export { postgresDriver } from './postgres-driver.ts'
export { type Roles, rolesSql } from './roles.ts'
