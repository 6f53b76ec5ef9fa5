/**
 * Compares keys by the bytes of their UTF-8: the order of `list`, and the order in which a database
 * locks the keys of a batch, so that two batches cannot deadlock.
 *
 * Code units give the same order with one exception: a surrogate pair stands for a code point above
 * all others, although its units are below the last of those that are one unit long.
 */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let at = 0; at < length; at += 1) {
    const unitA = a.charCodeAt(at)
    const unitB = b.charCodeAt(at)
    if (unitA !== unitB) return weight(unitA) - weight(unitB)
  }
  return a.length - b.length
}

function weight(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}
