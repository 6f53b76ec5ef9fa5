import { posix } from 'node:path'
import { importsOf } from '../imports.ts'
import { type Package, packageOf, packagesOf, type Repository } from '../repository.ts'

/**
 * Which package may know which. An arrow points to a lower rank, dev arrows included, because
 * turbo walks all of them and refuses a circle. Equal ranks are strangers: drivers never
 * import each other, and never the queue above them.
 */
const ranks: Readonly<Record<string, number>> = {
  '@sluice/embed-sql': 0,
  '@sluice/needs': 0,
  '@sluice/test-postgres': 0.5,
  '@sluice/test-redis': 0.5,
  '@sluice/test-kubernetes': 0.5,
  '@sluice/core': 1,
  '@sluice/limiters': 2,
  '@sluice/backoff': 2,
  '@sluice/metrics': 2,
  '@sluice/conformance': 2,
  '@sluice/memory': 3,
  '@sluice/sqlite': 3,
  '@sluice/postgres': 3,
  '@sluice/redis': 3,
  sluice: 4,
  '@sluice/dashboard': 5,
  '@sluice/kubernetes': 5,
  '@sluice/cli': 6,
  // The commands of the repository use its tools.
  '@sluice/scripts': 8,
}

/** Private packages sit on top, and nothing may lean on them. */
const top = 7

/** Published packages may have these as dev dependencies only. */
const devOnly = new Set([
  '@sluice/embed-sql',
  '@sluice/needs',
  '@sluice/test-postgres',
  '@sluice/test-redis',
  '@sluice/test-kubernetes',
])

/** Folders that are installed apart from the workspace, where no name leads to our packages. */
const installedApart: ReadonlySet<string> = new Set(['benchmarks', 'compat', 'site'])

/** What the page of the dashboard knows of the server: one file of types (decision 0080). */
const sharedWithPage = 'packages/dashboard/src/wire.ts'
const page = '@sluice/dashboard-page'

const ours = (name: string): boolean => name === 'sluice' || name.startsWith('@sluice/')

function rankOf({ manifest }: Package): number | undefined {
  return ranks[manifest.name] ?? (manifest.private === true ? top : undefined)
}

export function arrows(repository: Repository): string[] {
  const packages = packagesOf(repository)
  return [
    ...packages.flatMap((one) => manifestProblems(one, packages)),
    ...importProblems(repository, packages),
  ]
}

function manifestProblems(from: Package, packages: readonly Package[]): string[] {
  const { manifest, folder } = from
  const rank = rankOf(from)
  if (rank === undefined) {
    return [`${folder}/package.json: ${manifest.name} has no rank; give it one in tools/tidy`]
  }

  const problems: string[] = []
  const kinds = ['dependencies', 'devDependencies', 'peerDependencies'] as const
  for (const kind of kinds) {
    for (const name of Object.keys(manifest[kind] ?? {}).filter(ours)) {
      const to = packages.find((one) => one.manifest.name === name)
      const target = to && rankOf(to)
      if (target === undefined)
        problems.push(`${folder}/package.json: ${name} is not in this repository`)
      else if (target >= rank) {
        problems.push(`${folder}/package.json: ${manifest.name} must not know ${name} (${kind})`)
      } else if (devOnly.has(name) && kind !== 'devDependencies' && manifest.private !== true) {
        problems.push(`${folder}/package.json: ${name} may only be a dev dependency`)
      }
    }
  }
  return problems
}

function importProblems(repository: Repository, packages: readonly Package[]): string[] {
  const problems: string[] = []
  for (const [path, text] of repository) {
    if (!/\.(ts|mjs|js)$/.test(path) || path.startsWith('tools/lint/fixture/')) continue
    const from = packageOf(path, packages)
    if (from === undefined || installedApart.has(from.folder)) continue
    for (const { specifier, line } of importsOf(path, text)) {
      const problem = specifier.startsWith('.')
        ? relativeProblem(path, specifier, from)
        : bareProblem(path, specifier, from, packages)
      if (problem !== undefined) problems.push(`${path}:${line}: ${problem}`)
    }
  }
  return problems
}

function relativeProblem(path: string, specifier: string, from: Package): string | undefined {
  const target = posix.join(posix.dirname(path), specifier)
  if (target === sharedWithPage && from.manifest.name === page) return undefined
  if (!target.startsWith(`${from.folder}/`)) {
    return `${specifier} leaves the package; import the other one by its name`
  }
  const inSource = path.startsWith(`${from.folder}/src/`)
  if (inSource && !target.startsWith(`${from.folder}/src/`) && specifier !== '../package.json') {
    return `${specifier} is not part of what is built`
  }
  return undefined
}

function bareProblem(
  path: string,
  specifier: string,
  from: Package,
  packages: readonly Package[],
): string | undefined {
  if (specifier.startsWith('node:')) return undefined
  if (specifier.startsWith('#')) {
    return Object.hasOwn(from.manifest.imports ?? {}, specifier)
      ? undefined
      : `${specifier} is not among the imports of ${from.manifest.name}`
  }
  const parts = specifier.split('/')
  const name = specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? '')
  const { manifest, folder } = from
  const published = path.startsWith(`${folder}/src/`) && manifest.private !== true
  const declared = {
    ...manifest.dependencies,
    ...manifest.peerDependencies,
    ...(published ? {} : manifest.devDependencies),
  }
  if (name !== manifest.name && declared[name] === undefined) {
    return `${name} is not a dependency of ${manifest.name}${published ? ' (dev ones do not count here)' : ''}`
  }
  const target = packages.find((one) => one.manifest.name === name)
  const subpath = ['.', ...parts.slice(name.split('/').length)].join('/')
  if (target && target.manifest.exports?.[subpath] === undefined) {
    return `${name} does not export ${subpath}`
  }
  return undefined
}
