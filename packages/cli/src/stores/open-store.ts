// This folder opens the store that an address names, and keeps passwords out of messages.

import { existsSync } from 'node:fs'
import { type Driver, SluiceError } from '@sluice/core'
import type { StoreInspection } from 'sluice'
import { CommandError, usageError } from '../command-error.ts'
import { exitCodes } from '../exit-codes.ts'
import type { StoreAddress } from './store-address.ts'

/**
 * How a store is used. `existing`: the store must exist. `create`: a missing file is created.
 * `private`: no other process needs to see the changes, so that memory is allowed too.
 */
export type StoreUse = 'existing' | 'create' | 'private'

/** Settings for opening a store. */
export interface OpenSettings {
  /** Whether an older schema is brought up to date or rejected. */
  readonly migrate: 'apply' | 'verify'
  /** Called with warnings. */
  readonly warn: (message: string) => void
}

/** An open store. */
export interface OpenStore {
  readonly address: StoreAddress
  readonly driver: Driver
  readonly inspection: StoreInspection
}

/** Creates the driver for an address. Only the package of that driver is loaded. */
export async function driverAt(
  address: StoreAddress,
  use: StoreUse,
  { migrate, warn }: OpenSettings,
): Promise<Driver> {
  switch (address.kind) {
    case 'memory': {
      if (use !== 'private') {
        throw usageError(
          'memory: is private to one process; name a SQLite file, a Postgres database or a Redis',
        )
      }
      const { memoryDriver } = await import('@sluice/memory')
      return memoryDriver()
    }
    case 'sqlite': {
      refuseMissing(address, use)
      const { sqliteDriver } = await import('@sluice/sqlite')
      return sqliteDriver({ file: address.file, mustExist: use !== 'create', migrate })
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
    case 'redis': {
      const { redisDriver } = await import('@sluice/redis')
      const { url, prefix, oneSlot } = address
      return redisDriver({ url, prefix, oneSlot })
    }
  }
}

/** Throws if the file does not exist and must not be created. */
export function refuseMissing(address: StoreAddress, use: StoreUse): void {
  if (address.kind !== 'sqlite' || use === 'create' || existsSync(address.file)) return
  throw new CommandError(
    'ERR_STORE',
    `${address.label} does not exist, and this command does not create it; ` +
      'check the path or run `sluice migrate`',
    exitCodes.failed,
  )
}

/** Throws a usage error if the driver refuses the form of an address; a store that is away is another matter. */
export async function refuseMalformed(address: StoreAddress): Promise<void> {
  if (address.kind !== 'postgres' && address.kind !== 'redis') return
  try {
    await driverAt(address, 'existing', { migrate: 'verify', warn: () => undefined })
  } catch (error) {
    if (!SluiceError.is(error, 'ERR_INVALID_INPUT')) return
    // The driver calls it by the name of its option.
    const says = error.message.replace(/^\w+ /, '').replace(/ \[ERR_[A-Z_]+\]$/, '')
    throw usageError(`${address.label} ${says}`, error)
  }
}

/** Opens a store for inspection. */
export async function openStore(
  address: StoreAddress,
  use: StoreUse,
  settings: OpenSettings,
): Promise<OpenStore> {
  const driver = await driverAt(address, use, settings)
  const { inspectStore } = await import('sluice')
  return { address, driver, inspection: inspectStore(driver) }
}
