// Loaded before a program: changes one source file while it is read. `SLUICE_MUTANT` holds the edits
// as JSON, with the files as URLs. An edit whose text does not occur once is an error, so that a
// mutant does not go stale unnoticed.
import { registerHooks } from 'node:module'

const edits = JSON.parse(process.env['SLUICE_MUTANT'] ?? '[]')

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    const own = edits.filter(({ file }) => file === url)
    if (own.length === 0) return loaded
    let source = String(loaded.source)
    for (const { find, replace } of own) {
      if (source.split(find).length !== 2) {
        console.error(`the mutant is stale: ${url} does not contain once: ${find}`)
        process.exit(70)
      }
      source = source.replace(find, () => replace)
    }
    return { ...loaded, source }
  },
})
