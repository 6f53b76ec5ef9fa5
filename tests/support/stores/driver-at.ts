import type { Driver } from '@sluice/core'
import { postgresDriver } from '@sluice/postgres'
import { redisDriver } from '@sluice/redis'
import { sqliteDriver } from '@sluice/sqlite'

/** Settings that only some stores have. */
export interface DriverAtOptions {
  /** How many replicas of Redis must have a write before it is acknowledged. Default 0. */
  readonly replicas?: number
}

/**
 * A driver for a store that another process named: a `postgres:` URL, an address of Redis, or the path
 * of a file.
 */
export function driverAt(address: string, { replicas = 0 }: DriverAtOptions = {}): Driver {
  if (address.startsWith('postgres:')) {
    return postgresDriver({ connectionString: address, onWarning() {} })
  }
  if (/^rediss?(-\w+)?:/.test(address)) {
    return redisDriver({
      url: address,
      ...(replicas > 0 && { durability: { replicas, disk: false } }),
    })
  }
  return sqliteDriver({ file: address })
}
