export type {
  PgClient,
  PgliteLike,
  PgliteTransaction,
  PgPool,
  PgPoolClient,
  PgQuery,
} from './client-shapes.ts'
export { type MigrateMode, schemaVersion } from './migrate.ts'
export type { PostgresOptions } from './options.ts'
export { postgresDriver } from './postgres-driver.ts'
export { type Roles, rolesSql } from './roles.ts'
