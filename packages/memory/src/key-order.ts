/**
 * Compares keys by the bytes of their UTF-8, as the databases do.
 *
 * Code units order text in the same way, but for one thing: a pair of surrogates stands for a
 * character above all others, and its units are below the last of those written as one unit.
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
