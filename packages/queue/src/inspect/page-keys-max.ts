import { batchKeysMax, type Driver } from '@sluice/core'

/**
 * The most keys to list at once. A store in this process holds them anyway, and its keys have no order, so
 * that each page takes as long as the queue is.
 */
export function pageKeysMax({ direct }: Driver): number {
  return direct === undefined ? batchKeysMax : 10 * batchKeysMax
}
