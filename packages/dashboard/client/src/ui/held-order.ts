/**
 * The order in which rows are shown. While somebody points at them or has the focus in them, what
 * is shown stays where it is: what is gone keeps its place, what is new comes to the end.
 */
export function heldOrder(
  shown: readonly string[],
  wanted: readonly string[],
  isHeld: boolean,
): readonly string[] {
  if (!isHeld || shown.length === 0) return sameOr(shown, wanted)
  const known = new Set(shown)
  const added = wanted.filter((id) => !known.has(id))
  return added.length === 0 ? shown : [...shown, ...added]
}

function sameOr(shown: readonly string[], wanted: readonly string[]): readonly string[] {
  const isSame = shown.length === wanted.length && shown.every((id, index) => id === wanted[index])
  return isSame ? shown : wanted
}
