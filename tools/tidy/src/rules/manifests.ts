import { posix } from 'node:path'
import { type Manifest, type Package, packagesOf, type Repository } from '../repository.ts'

/** What every published package promises in its manifest, and that the compiler is told the same. */
export function manifests(repository: Repository): string[] {
  const packages = packagesOf(repository)
  const root = JSON.parse(repository.get('package.json') ?? '{}') as Manifest
  return packages
    .filter(({ manifest }) => manifest.private !== true)
    .flatMap((one) => [
      ...fields(one, root),
      ...exportsMap(repository, one),
      ...references(repository, one, packages),
    ])
}

function fields({ folder, manifest }: Package, root: Manifest): string[] {
  const wanted: [keyof typeof manifest, unknown][] = [
    ['type', 'module'],
    ['license', 'Apache-2.0'],
    ['sideEffects', false],
    ['engines', { node: '>=22.14' }],
    // The registry resolves links with these, and refuses a provenance that names another repository.
    ['author', root.author],
    ['homepage', root.homepage],
    ['repository', { ...root.repository, directory: folder }],
    ['bugs', root.bugs],
  ]
  const problems = wanted
    .filter(([field, value]) => JSON.stringify(manifest[field]) !== JSON.stringify(value))
    .map(([field, value]) => `${folder}/package.json: ${field} must be ${JSON.stringify(value)}`)
  for (const part of ['dist', '!dist/.tsbuildinfo', 'src']) {
    if (!manifest.files?.includes(part))
      problems.push(`${folder}/package.json: files lacks ${part}`)
  }
  return problems
}

/** The exports map is closed: only named paths and package.json, each with its source condition. */
function exportsMap(repository: Repository, { folder, manifest }: Package): string[] {
  const problems: string[] = []
  for (const [subpath, target] of Object.entries(manifest.exports ?? {})) {
    if (subpath === './package.json' && target === subpath) continue
    // A file that is not code, such as rules for another program, is itself.
    const isData = target === subpath && /\.(json|yaml|sql)$/.test(subpath)
    if (isData && repository.has(posix.join(folder, subpath))) continue
    const source = typeof target === 'string' ? undefined : target['sluice-source']
    const stem = source?.match(/^\.\/src\/(.+)\.ts$/)?.[1]
    const expected = {
      'sluice-source': `./src/${stem}.ts`,
      types: `./dist/${stem}.d.ts`,
      default: `./dist/${stem}.js`,
    }
    // The order counts: the first condition that holds wins.
    if (subpath.includes('*') || JSON.stringify(target) !== JSON.stringify(expected)) {
      problems.push(`${folder}/package.json: exports["${subpath}"] is not source, types, default`)
    }
  }
  if (manifest.exports?.['./package.json'] === undefined) {
    problems.push(`${folder}/package.json: exports lacks ./package.json`)
  }
  return problems
}

/** tsc -b follows references where pnpm follows dependencies; they must say the same. */
function references(repository: Repository, one: Package, packages: readonly Package[]): string[] {
  const { folder, manifest } = one
  const problems: string[] = []
  const wanted = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
    .flatMap((name) => packages.find((other) => other.manifest.name === name)?.folder ?? [])
    .sort()
  const told = referencesIn(repository, `${folder}/tsconfig.json`)
  if (wanted.join() !== told.join()) {
    problems.push(`${folder}/tsconfig.json: references [${told}], depends on [${wanted}]`)
  }
  if (!referencesIn(repository, 'tsconfig.json').includes(folder)) {
    problems.push(`tsconfig.json: does not reference ${folder}`)
  }
  return problems
}

function referencesIn(repository: Repository, path: string): string[] {
  const { references = [] } = JSON.parse(repository.get(path) ?? '{}') as {
    references?: { path: string }[]
  }
  return references.map((reference) => posix.join(posix.dirname(path), reference.path)).sort()
}
