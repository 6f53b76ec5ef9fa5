import { posix } from 'node:path'
import type { Repository } from '../../repository.ts'

const folder = 'docs/internals'

/**
 * The pages on the inside of a package name paths and functions, which move. Each page says against
 * which folder its paths are relative; every path in it exists, and "`path` › `name`" is a name that
 * the file contains.
 */
export function internals(repository: Repository): string[] {
  const folders = new Set<string>()
  for (const path of repository.keys()) {
    for (let up = posix.dirname(path); up !== '.'; up = posix.dirname(up)) folders.add(up)
  }
  const problems: string[] = []
  for (const [page, text] of repository) {
    if (posix.dirname(page) !== folder) continue
    const prose = text.replace(/^```[\s\S]*?^```$/gm, '')
    const base = /Paths are relative to `([^`]+)`/.exec(prose)?.[1]
    if (base === undefined) {
      problems.push(`${page}: does not say "Paths are relative to"`)
      continue
    }
    for (const [, named = '', name] of prose.matchAll(/`([^`\s]+)`(?:\s+›\s+`([^`]+)`)?/g)) {
      if (!/\.(ts|sql)$|\/$/.test(named)) continue
      const full = [posix.join(base, named), named].map((path) => path.replace(/\/$/, ''))
      const file = full.find((path) => repository.has(path))
      if (file === undefined) {
        if (full.some((path) => folders.has(path))) continue
        problems.push(`${page}: ${named} does not exist`)
      } else if (
        name !== undefined &&
        !new RegExp(`\\b${name}\\b`).test(repository.get(file) ?? '')
      ) {
        problems.push(`${page}: ${named} does not contain ${name}`)
      }
    }
  }
  return problems
}
