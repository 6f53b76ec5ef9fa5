import { batchKeysMax, type Driver } from '@sluice/core'
import type { TransferRow } from '@sluice/core/driver'

/** The most keys that all of these stores take in one call. */
export function keysMaxOf(...drivers: readonly Driver[]): number {
  return Math.min(batchKeysMax, ...drivers.map(({ batchKeys = batchKeysMax }) => batchKeys))
}

/** How much text one call has at most: over a slow network, all of it has to arrive in time. */
const callChars = 1024 * 1024

/** Rows in batches with no more keys and text than all of these stores want in one call, or of one row. */
export function transferBatches(
  rows: readonly TransferRow[],
  ...drivers: readonly Driver[]
): readonly (readonly TransferRow[])[] {
  const keysMax = keysMaxOf(...drivers)
  const bytesMax = Math.min(...drivers.map(({ batchBytes = callChars }) => batchBytes))
  const batches: TransferRow[][] = []
  let bytes = 0
  for (const row of rows) {
    const own = row.key.length + (row.item?.length ?? 0) + (row.lastError?.length ?? 0)
    const last = batches.at(-1)
    if (last === undefined || last.length === keysMax || bytes + own > bytesMax) {
      batches.push([row])
      bytes = own
    } else {
      last.push(row)
      bytes += own
    }
  }
  return batches
}
