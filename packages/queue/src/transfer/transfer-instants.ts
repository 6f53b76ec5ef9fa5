import type { BucketRow, Driver, EpochMs, TransferRow } from '@sluice/core'

/**
 * Instants of rows that leave or enter a store. Between stores they are those of the wall clock,
 * since each store's time may be ahead of it by another amount.
 */

/**
 * By how much the store's time is ahead, as of the last call. Whole milliseconds: a row that is
 * moved again has to get the very same instants, or it would be merged as another promise.
 */
function aheadOf({ ahead = 0 }: Driver): number {
  return Math.round(ahead)
}

function shiftedRow(row: TransferRow, ms: number): TransferRow {
  if (ms === 0) return row
  const { dueAt, laterAt, readyAt, askedAt, failedAt } = row
  return {
    ...row,
    dueAt: dueAt + ms,
    laterAt: laterAt + ms,
    readyAt: readyAt + ms,
    askedAt: askedAt + ms,
    failedAt: failedAt + ms,
  }
}

/** An instant of the store's time, by the wall clock. */
export function leavingInstant(from: Driver, instant: EpochMs): EpochMs {
  return instant - aheadOf(from)
}

/** A row of the store, by the wall clock. */
export function leavingRow(from: Driver, row: TransferRow): TransferRow {
  return shiftedRow(row, -aheadOf(from))
}

/** A row by the wall clock, as the store is to keep it. */
export function enteringRow(to: Driver, row: TransferRow): TransferRow {
  return shiftedRow(row, aheadOf(to))
}

/** A bucket of the store, by the wall clock. */
export function leavingBucket(from: Driver, bucket: BucketRow): BucketRow {
  return { ...bucket, at: leavingInstant(from, bucket.at) }
}

/** A bucket by the wall clock, as the store is to keep it. */
export function enteringBucket(to: Driver, bucket: BucketRow): BucketRow {
  return { ...bucket, at: bucket.at + aheadOf(to) }
}
