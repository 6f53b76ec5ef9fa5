import { posix } from 'node:path'
import { importsOf } from '../imports.ts'
import { type Package, packagesOf, type Repository } from '../repository.ts'

/** Every source file of a published package is used by something a user can import or run. */
export function reachable(repository: Repository): string[] {
  return packagesOf(repository)
    .filter(({ folder, manifest }) => manifest.private !== true && has(repository, folder))
    .flatMap((one) => orphans(repository, one))
}

function has(repository: Repository, folder: string): boolean {
  return repository.has(`${folder}/src/index.ts`)
}

/** The source files that any condition of a package's own imports leads to. */
function sourcesIn(targets: unknown): string[] {
  if (typeof targets === 'string') return targets.endsWith('.ts') ? [targets] : []
  return Object.values(targets as Record<string, unknown>).flatMap(sourcesIn)
}

function orphans(repository: Repository, { folder, manifest }: Package): string[] {
  const waiting: string[] = []
  const problems: string[] = []

  for (const [subpath, target] of Object.entries(manifest.exports ?? {})) {
    const entry = typeof target === 'string' ? target : target['sluice-source']
    if (entry === undefined || !entry.endsWith('.ts')) continue
    const path = posix.join(folder, entry)
    if (repository.has(path)) waiting.push(path)
    else problems.push(`${folder}/package.json: ${subpath} names ${entry}, which does not exist`)
  }
  for (const path of sourcesIn(manifest.imports ?? {})) waiting.push(posix.join(folder, path))
  for (const entry of Object.values(manifest.bin ?? {})) {
    waiting.push(posix.join(folder, entry.replace('dist/', 'src/').replace(/\.js$/, '.ts')))
  }

  const seen = new Set<string>()
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const text = repository.get(path)
    if (text === undefined || seen.has(path)) continue
    seen.add(path)
    for (const { specifier } of importsOf(path, text)) {
      if (specifier.startsWith('.')) waiting.push(posix.join(posix.dirname(path), specifier))
    }
  }

  for (const path of repository.keys()) {
    if (path.startsWith(`${folder}/src/`) && path.endsWith('.ts') && !seen.has(path)) {
      problems.push(`${path}: nothing that ${manifest.name} exports reaches this file`)
    }
  }
  return problems
}
