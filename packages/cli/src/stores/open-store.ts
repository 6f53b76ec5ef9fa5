import { existsSync } from 'node:fs'
import type { Driver } from '@sluice/core'
import type { StoreInspection } from 'sluice'
import { CommandError, usageError } from '../command-error.ts'
import { exitCodes } from '../exit-codes.ts'
import type { StoreAddress } from './store-address.ts'

/**
 * What a store is opened for. `look`: what is there is looked at or worked on, and nothing is made.
 * `make`: a file that is not there is made. `alone`: nobody else has to see what is done, so that
 * memory will do.
 */
export type StoreUse = 'look' | 'make' | 'alone'

/** How a store is opened. */
export interface OpenSettings {
  /** Whether an older schema is brought up to date, or refused. */
  readonly migrate: 'apply' | 'verify'
  /** Told of what is odd. */
  readonly warn: (message: string) => void
}

/** A store that is open. */
export interface OpenStore {
  readonly address: StoreAddress
  readonly driver: Driver
  readonly inspection: StoreInspection
}

/** Makes a driver for an address. Only the one that is needed is loaded. */
export async function driverAt(
  address: StoreAddress,
  use: StoreUse,
  { migrate, warn }: OpenSettings,
): Promise<Driver> {
  switch (address.kind) {
    case 'memory': {
      if (use !== 'alone') {
        throw usageError(
          'memory: is a store of one process, which nobody else sees into; name a SQLite file or a Postgres',
        )
      }
      const { memoryDriver } = await import('@sluice/memory')
      return memoryDriver()
    }
    case 'sqlite': {
      refuseMissing(address, use)
      const { sqliteDriver } = await import('@sluice/sqlite')
      return sqliteDriver({ file: address.file, mustExist: use !== 'make', migrate })
    }
    case 'postgres': {
      const { postgresDriver } = await import('@sluice/postgres')
      const { connectionString, schema } = address
      return postgresDriver({
        connectionString,
        schema,
        migrate,
        poolSize: 4,
        onWarning: warn,
      })
    }
  }
}

/** Holds for a file that is there, or may be made. */
export function refuseMissing(address: StoreAddress, use: StoreUse): void {
  if (address.kind !== 'sqlite' || use === 'make' || existsSync(address.file)) return
  throw new CommandError(
    'ERR_STORE',
    `${address.label} does not exist, and looking at it does not make it; ` +
      'check the path, or make it with `sluice migrate`',
    exitCodes.failed,
  )
}

/** Opens a store to see into it. */
export async function openStore(
  address: StoreAddress,
  use: StoreUse,
  settings: OpenSettings,
): Promise<OpenStore> {
  const driver = await driverAt(address, use, settings)
  const { inspectStore } = await import('sluice')
  return { address, driver, inspection: inspectStore(driver) }
}

/** Holds for a store whose keys can be moved as they are. Touches nothing. */
export function refuseImmovable({ address, driver }: OpenStore): void {
  if (driver.transfer !== undefined) return
  throw new CommandError(
    'ERR_UNSUPPORTED',
    `keys cannot be moved from or to ${address.label}: the driver for ${driver.name} has no verbs for that`,
    exitCodes.failed,
  )
}
