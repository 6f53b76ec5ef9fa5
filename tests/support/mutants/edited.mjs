/** What `SLUICE_MUTANT` holds: edits of source files, as JSON, with the files as paths. */
export const edits = JSON.parse(process.env['SLUICE_MUTANT'] ?? '[]')

/**
 * The source of a file with the edits that are its own; `undefined` if none is. An edit whose text
 * does not occur once throws, so that a mutant does not go stale unnoticed.
 */
export function edited(path, source) {
  const own = edits.filter(({ file }) => file === path)
  if (own.length === 0) return undefined
  let text = String(source)
  for (const { find, replace } of own) {
    if (text.split(find).length !== 2) {
      throw new Error(`the mutant is stale: ${path} does not contain once: ${find}`)
    }
    text = text.replace(find, () => replace)
  }
  return text
}
