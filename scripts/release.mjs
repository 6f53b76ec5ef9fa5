// The release: `publish` packs every package and publishes what the registry does not have yet;
// `dry` does everything up to that and uses the tarballs as strangers would.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { pack, publishedPackages } from './pack.mjs'
import { root, say } from './toolbox.mjs'
import { useTarballs } from './use-tarballs.mjs'

const folder = join(root, '.cache', 'release')

const call = (command, args, cwd = root) => {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  return { isOk: status === 0, text: `${error?.message ?? ''}${stdout ?? ''}${stderr ?? ''}` }
}

function packAll() {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return publishedPackages().map((one) => ({
    ...one.manifest,
    tarball: pack(one, folder, process.env),
  }))
}

/** Publishes what is new, and tags it; changesets/action reads the tags from the output. */
function publish() {
  for (const { name, version, tarball } of packAll()) {
    const known = call('npm', ['view', `${name}@${version}`, 'version'])
    if (known.isOk && known.text.includes(version)) {
      say(`${name}@${version} is there already`)
      continue
    }
    // Provenance comes from the workflow's settings: the very first release has none.
    const done = call('npm', ['publish', tarball, '--access', 'public'])
    if (!done.isOk) throw new Error(`cannot publish ${name}@${version}: ${done.text}`)
    say(`${name}@${version} was published`)
  }
  const tagged = call('changeset', ['tag'])
  process.stdout.write(tagged.text)
  if (!tagged.isOk) throw new Error('cannot tag the release')
}

/** What the changesets would make of the versions, tried in a copy. */
function tryVersions() {
  const copy = mkdtempSync(join(tmpdir(), 'sluice-versions-'))
  try {
    const files = spawnSync('git', ['ls-files', '-co', '--exclude-standard', '-z'], { cwd: root })
    for (const file of files.stdout.toString().split('\0')) {
      const isNeeded = /(^|\/)package\.json$|^\.changeset\/|^pnpm-/.test(file)
      if (isNeeded) cpSync(join(root, file), join(copy, file), { recursive: true })
    }
    call('git', ['init', '-q', '-b', 'main'], copy)
    const waiting = readdirSync(join(copy, '.changeset')).filter(isChangeset).length
    const isFirst = publishedPackages().some(({ manifest }) => manifest.version === '0.0.0')
    if (isFirst && waiting > publishedPackages().length) {
      say(`${waiting} changesets: npm run release:squash makes the notes of the first release`)
    }
    const { isOk, text } = call('changeset', ['version'], copy)
    if (!isOk) return [`changeset version: ${text}`]
    const problems = []
    for (const { folder: original, manifest } of publishedPackages()) {
      const path = join(copy, relative(root, original), 'package.json')
      const { version } = JSON.parse(readFileSync(path, 'utf8'))
      say(`${manifest.name}: ${manifest.version} becomes ${version}`)
      if (manifest.version === '0.0.0' && version !== '0.1.0') {
        problems.push(`the first version of ${manifest.name} would be ${version}`)
      }
    }
    return problems
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

const isChangeset = (name) => name.endsWith('.md') && name !== 'README.md'

async function dry() {
  const problems = tryVersions()
  const packages = packAll()
  for (const { name, tarball } of packages) {
    const { isOk, text } = call('npm', ['publish', tarball, '--dry-run', '--access', 'public'])
    const isThere = /previously published|cannot publish over/i.test(text)
    if (!isOk && !isThere) problems.push(`npm publish --dry-run of ${name}: ${text}`)
  }
  problems.push(...(await useTarballs(packages)))
  for (const problem of problems) console.error(`sluice: ${problem}`)
  say(`${packages.length} packages were packed and used, ${problems.length} complaints`)
  process.exitCode = problems.length === 0 ? 0 : 1
}

if (process.argv[2] === 'publish') publish()
else await dry()
