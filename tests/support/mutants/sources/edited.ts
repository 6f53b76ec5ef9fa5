import process from 'node:process'
import type { SourceEdit } from './source-mutant.ts'

/** What `SLUICE_MUTANT` holds: edits as JSON, with the files as absolute paths. */
export const edits = JSON.parse(process.env['SLUICE_MUTANT'] ?? '[]') as readonly SourceEdit[]

/**
 * The source of a file with the edits that are its own; `undefined` if none is. An edit whose text
 * does not occur once throws, so that a mutant does not go stale unnoticed.
 */
export function edited(path: string, source: string): string | undefined {
  const own = edits.filter(({ file }) => file === path)
  if (own.length === 0) return undefined
  let text = source
  for (const { find, replace } of own) {
    if (text.split(find).length !== 2) {
      throw new Error(`the mutant is stale: ${path} does not contain once: ${find}`)
    }
    text = text.replace(find, () => replace)
  }
  return text
}
