/**
 * Keys in the order of their bytes: the order in which every process locks them, so that two batches
 * never deadlock.
 */
import { compareKeys } from '@sluice/core/driver'

/** An entry of a batch, with its index in the batch of the caller. */
export interface Indexed<T> {
  readonly key: string
  readonly entry: T
  readonly index: number
}

/** Keys in the order in which to lock them. */
export function inLockOrder(keys: readonly string[]): readonly string[] {
  return [...keys].sort(compareKeys)
}

/** A batch in the order in which to lock its keys. */
export function sortedByKey<T extends { readonly key: string }>(
  entries: readonly T[],
): readonly Indexed<T>[] {
  return entries
    .map((entry, index) => ({ key: entry.key, entry, index }))
    .sort((a, b) => compareKeys(a.key, b.key))
}
