import { posix } from 'node:path'
import type { Repository } from '../repository.ts'

// A file is named for its idea. These names say that there is none, and attract everything.
const banned = new Set([
  'utils',
  'util',
  'types',
  'helpers',
  'helper',
  'lib',
  'interfaces',
  'common',
  'main',
  'misc',
])

export function names(repository: Repository): string[] {
  const problems: string[] = []
  for (const path of repository.keys()) {
    if (!/\.(ts|mts|mjs|js)$/.test(path)) continue
    const base = posix.basename(path)
    const stem = base.slice(0, base.indexOf('.'))
    if (banned.has(stem)) problems.push(`${path}: a file is named for its idea, not "${stem}"`)
    if (!/^[a-z0-9-]+(\.[a-z0-9-]+)*$/.test(base))
      problems.push(`${path}: file names are kebab-case`)
  }
  return problems
}
