import type { Driver } from '@sluice/core'
import { memoryDriver } from '@sluice/memory'
import { sqliteDriver } from '@sluice/sqlite'
import { emptyFile } from './empty-file.ts'

/** A kind of store that keys can be moved from and to. */
export interface StoreKind {
  readonly name: string
  /** Makes a driver on a store of its own, which is empty. */
  make(): Driver
}

/** Every kind of store there is: adding one is a line here. */
export const storeKinds: readonly StoreKind[] = [
  { name: 'memory', make: () => memoryDriver() },
  { name: 'sqlite', make: () => sqliteDriver({ file: emptyFile(), durability: 'process' }) },
]
