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
