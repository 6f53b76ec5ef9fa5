import type { Clock } from '@sluice/core'
import { type FakeClock, fakeClock } from '@sluice/core/testing'
import { Connection } from '../src/connection/connection.ts'
import { FileSource } from '../src/connection/database-source.ts'
import type { Durability } from '../src/connection/durability.ts'
import type { SqliteEnvironment } from '../src/connection/environment.ts'
import type { Target } from '../src/connection/target.ts'
import type { Library } from '../src/library/library.ts'
import { SqliteDriver } from '../src/sqlite-driver.ts'
import { FaultyLibrary } from './faulty-library.ts'

/** An environment whose time moves only by its clock's step. */
export function fakeEnvironment(clock: Clock = fakeClock()): SqliteEnvironment & { where: string } {
  return {
    clock,
    where: 'here',
    random: () => 0.5,
    thread() {
      return this.where
    },
    builtInSqlite: () => '3.99.0',
  }
}

/** A driver that has a connection of its own, past the cache, as another process would have. */
export interface Store {
  readonly driver: SqliteDriver
  readonly library: FaultyLibrary
  readonly environment: SqliteEnvironment & { where: string }
  readonly real: FakeClock
  readonly connection: Connection
}

export interface StoreParts {
  readonly library?: Library
  readonly durability?: Durability
  readonly lockWaitMs?: number
  readonly mustExist?: boolean
}

/** Makes a driver on `file` that is not open yet. */
export function storeOn(file: string, parts: StoreParts = {}): Store {
  const library = new FaultyLibrary()
  const real = fakeClock()
  const environment = fakeEnvironment(real)
  const source = new FileSource({
    file,
    library: parts.library ?? library,
    durability: parts.durability ?? 'process',
    migrate: 'apply',
    mustExist: parts.mustExist ?? false,
    unsafeFilesystem: true,
    ownership: 'ours',
  })
  const connection = new Connection(source, environment, parts.lockWaitMs ?? 5_000)
  const driver = new SqliteDriver({
    isInMemory: false,
    isShared: true,
    canTransact: true,
    exclusive: undefined,
    connect(...given: Parameters<Target['connect']>) {
      const share = { connection, library, release: () => connection.close() }
      const opened = connection.open(...given)
      return opened instanceof Promise ? opened.then(() => share) : share
    },
  })
  return { driver, library, environment, real, connection }
}

export const askOptions = {
  dedupe: 'client-go',
  failuresExpireMs: 86_400_000,
  maxPending: undefined,
} as const

/** An ask for now. */
export function ask(key: string) {
  return { key, item: undefined, priority: 0, delayMs: 0 }
}

let claims = 0

/** A claim of up to `limit` keys. */
export function claimRequest(limit = 1, leaseMs = 30_000) {
  claims += 1
  return { limit, holder: 'holder', claimId: `claim ${claims}`, leaseMs }
}
