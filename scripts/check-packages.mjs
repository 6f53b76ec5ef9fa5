// Examines the packages as a stranger would get them: packs each one, lets publint and attw read
// the tarball, then unpacks them all into an empty project and imports every export.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pack, publishedPackages } from './pack.mjs'
import { relativeTargets } from './published-readme.mjs'
import { root, say } from './toolbox.mjs'
import { tryPacked } from './try-packed.mjs'

const workplace = join(root, '.cache', 'packed')
const modules = join(workplace, 'consumer', 'node_modules')

/**
 * Resolves to 0 when nothing is wrong; every complaint has been printed. `nodes` are environments to
 * use what was packed in, by what they are called.
 */
export async function checkPackages(env, nodes) {
  let complaints = 0
  const tell = (name, words) => {
    complaints += 1
    console.error(`sluice: ${name}: ${words.trim()}`)
  }
  const call = (command, args, cwd) => spawnSync(command, args, { cwd, env, encoding: 'utf8' })

  rmSync(workplace, { recursive: true, force: true })
  mkdirSync(modules, { recursive: true })

  const packages = publishedPackages()
  for (const { folder, manifest } of packages) {
    const { name } = manifest
    for (const file of staleFiles(folder))
      tell(name, `${file} is built from no source; delete dist`)

    let tarball
    try {
      tarball = pack({ folder, manifest }, workplace, env)
    } catch (error) {
      tell(name, error.message)
      continue
    }

    const lint = call('publint', [tarball, '--strict'], root)
    if (lint.status !== 0) tell(name, lint.stdout + lint.stderr)
    const data = dataFiles(manifest)
    const without = data.length === 0 ? [] : ['--exclude-entrypoints', ...data]
    const types = call('attw', [tarball, '--profile', 'esm-only', '--no-emoji', ...without], root)
    if (types.status !== 0) tell(name, types.stdout + types.stderr)

    const target = join(modules, name)
    mkdirSync(target, { recursive: true })
    const unpacked = call('tar', ['-xzf', tarball, '-C', target, '--strip-components=1'], root)
    if (unpacked.status !== 0) tell(name, unpacked.stderr)
    for (const held of readdirSync(target)) {
      // Programs belong to it only where the manifest names them.
      const isProgram = held === 'bin' && manifest.bin !== undefined
      if (!isProgram && !allowedInTarball.has(held)) tell(name, `the tarball holds ${held}`)
    }
    for (const wanted of ['LICENSE', 'README.md']) {
      if (!existsSync(join(target, wanted))) tell(name, `the tarball lacks ${wanted}`)
    }
    for (const link of relativeTargets(readFileSync(join(target, 'README.md'), 'utf8'))) {
      tell(name, `the link ${link} of the published README is relative`)
    }
    linkStrangers(folder, manifest)
  }

  for (const { manifest } of packages) {
    for (const subpath of Object.keys(manifest.exports)) {
      if (subpath === './package.json' || subpath === './vitest') continue
      const specifier = manifest.name + subpath.slice(1)
      const script = dataFiles(manifest).includes(subpath)
        ? `(await import('node:fs')).statSync(new URL(import.meta.resolve(${JSON.stringify(specifier)})))`
        : `const it = await import(${JSON.stringify(specifier)}); if (Object.keys(it).length === 0) throw new Error('exports nothing at run time'); process.getBuiltinModule('node:module').createRequire(import.meta.url)(${JSON.stringify(specifier)})`
      const loaded = call(
        'node',
        ['--input-type=module', '-e', script],
        join(workplace, 'consumer'),
      )
      if (loaded.status !== 0) tell(specifier, loaded.stderr)
    }
  }

  await tryPacked(workplace, nodes, tell)

  say(`${packages.length} packages packed and examined, ${complaints} complaints`)
  return complaints === 0 && packages.length > 0 ? 0 : 1
}

const allowedInTarball = new Set([
  'dist',
  'src',
  'package.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'sql',
  // Of the metrics: a dashboard for Grafana and alert rules for Prometheus.
  'grafana',
  'prometheus',
])

/** The exports that are no code but files for other programs. */
function dataFiles({ exports }) {
  return Object.keys(exports).filter((path) => exports[path] === path && path !== './package.json')
}

// A source that was deleted or renamed leaves its output behind, and `files` would publish it.
function staleFiles(folder, inside = '') {
  const dist = join(folder, 'dist', inside)
  if (!existsSync(dist)) return []
  return readdirSync(dist, { withFileTypes: true }).flatMap((entry) => {
    const path = join(inside, entry.name)
    // The page is bundled; each build empties that folder first.
    if (path === 'client') return []
    if (entry.isDirectory()) return staleFiles(folder, path)
    const source = path.match(/^(.*)\.js$/)?.[1]
    if (source === undefined || existsSync(join(folder, 'src', `${source}.ts`))) return []
    return [join('dist', path)]
  })
}

// What comes from elsewhere is linked from the workspace, so that no network is needed.
function linkStrangers(folder, manifest) {
  const wanted = { ...manifest.dependencies, ...manifest.peerDependencies }
  for (const [name, range] of Object.entries(wanted)) {
    const link = join(modules, name)
    const original = join(folder, 'node_modules', name)
    if (range.startsWith('workspace:') || existsSync(link) || !existsSync(original)) continue
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(original, link)
  }
}
