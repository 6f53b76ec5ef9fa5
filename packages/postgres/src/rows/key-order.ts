/**
 * Keys in the order of their bytes: the order in which everybody locks them, so that two batches
 * never wait for each other.
 */

/** Compares by bytes of UTF-8, which for well-formed text is the order of code points. */
export function bytewise(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at += 1) {
    const one = a.charCodeAt(at)
    const other = b.charCodeAt(at)
    if (one === other) continue
    // A surrogate stands for a code point above all others.
    const isHigh = one >= 0xd800 && one <= 0xdfff
    const isOtherHigh = other >= 0xd800 && other <= 0xdfff
    if (isHigh !== isOtherHigh) return isHigh ? 1 : -1
    return one - other
  }
  return a.length - b.length
}

/** Something that names a key, and where it stood in the batch of the caller. */
export interface Placed<T> {
  readonly key: string
  readonly entry: T
  readonly place: number
}

/** A batch in the order in which to lock its keys. */
export function sortedByKey<T extends { readonly key: string }>(
  entries: readonly T[],
): readonly Placed<T>[] {
  return entries
    .map((entry, place) => ({ key: entry.key, entry, place }))
    .sort((a, b) => bytewise(a.key, b.key))
}
