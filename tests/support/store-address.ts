import type { Driver } from '@sluice/core'
import { postgresDriver } from '@sluice/postgres'
import { sqliteDriver } from '@sluice/sqlite'

/** A driver for a store that another process named: a `postgres:` URL or the path of a file. */
export function driverAt(address: string): Driver {
  if (!address.startsWith('postgres:')) return sqliteDriver({ file: address })
  return postgresDriver({ connectionString: address, onWarning() {} })
}
