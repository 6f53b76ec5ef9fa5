/** How many names are suggested. */
const namesMax = 3

/** The names that a mistyped name may mean: those that contain it, are in it, or are nearly it. */
export function similarNames(name: string, names: readonly string[]): string[] {
  const wanted = name.toLowerCase()
  const scored = names.map((each) => {
    const known = each.toLowerCase()
    const isPart = known.includes(wanted) || wanted.includes(known)
    return { each, score: isPart ? 0 : distance(wanted, known) }
  })
  return scored
    .filter(({ score, each }) => score <= Math.max(1, Math.floor(each.length / 3)))
    .sort((a, b) => a.score - b.score)
    .slice(0, namesMax)
    .map(({ each }) => each)
}

/** How many letters have to be changed, added or removed. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let at = 1; at <= a.length; at += 1) {
    const next = [at]
    for (let to = 1; to <= b.length; to += 1) {
      const isSame = a[at - 1] === b[to - 1]
      const replaced = (row[to - 1] ?? 0) + (isSame ? 0 : 1)
      next.push(Math.min(replaced, (row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
