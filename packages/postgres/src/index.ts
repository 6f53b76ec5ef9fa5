/**
 * The driver that keeps keys in Postgres, which any number of processes and machines may share. Call
 * `postgresDriver` with a `connectionString` or a `pool`, and pass the result to a queue. `migrationSql`
 * and `rolesSql` return the SQL for schemas that are migrated separately, `watchTable` creates triggers
 * that add keys, and `doctor` checks the health of a store.
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
} from './connection/client-shapes.ts'
export { postgresDriver } from './postgres-driver.ts'
export type { MigrateMode, PostgresOptions } from './postgres-options.ts'
export { doctor, type Finding } from './schema/doctor.ts'
export {
  type MigrateOptions,
  type MigrateReport,
  migrate,
} from './schema/migrate.ts'
export { type MigrationSqlOptions, migrationSql } from './schema/migration-sql.ts'
export { type Roles, rolesSql } from './schema/roles.ts'
export { schemaVersion } from './schema/schema-state.ts'
export {
  type TableEvent,
  type TableWatch,
  type WatchedTable,
  watchTable,
  watchTableSql,
} from './schema/watch-table.ts'
export type { TextTransaction } from './transact/foreign-transaction.ts'
