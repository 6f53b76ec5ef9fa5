// Packs a package as it is published: pnpm's tarball, in which workspace ranges are versions and the
// license of the repository lies, with the README that the registry shows.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { readAddress } from './address.mjs'
import { publishedReadme, readmeOf } from './published-readme.mjs'
import { root } from './toolbox.mjs'

/** The packages that are published, in the order of their folders. */
export function publishedPackages() {
  const parent = join(root, 'packages')
  return readdirSync(parent)
    .map((entry) => join(parent, entry))
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .map((folder) => ({
      folder,
      manifest: JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')),
    }))
    .filter(({ manifest }) => manifest.private !== true)
}

/** Writes the tarball of a package into a folder; throws with the words of what failed. */
export function pack({ folder, manifest }, destination, env) {
  const call = (command, args, cwd) => {
    const { status, stdout, stderr, error } = spawnSync(command, args, {
      cwd,
      env,
      encoding: 'utf8',
      shell: process.platform === 'win32',
    })
    if (status !== 0) throw new Error(`${command}: ${error?.message ?? ''}${stdout}${stderr}`)
  }
  const file = `${manifest.name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`
  const stage = join(destination, `stage-${file}`)
  rmSync(stage, { recursive: true, force: true })
  mkdirSync(stage, { recursive: true })
  call('pnpm', ['pack', '--pack-destination', stage], folder)
  call('tar', ['-xzf', file], stage)

  const path = readmeOf({
    folder: relative(root, folder).split(sep).join('/'),
    name: manifest.name,
  })
  const text = readFileSync(join(root, path), 'utf8')
  const readme = publishedReadme(text, path, readAddress().repository)
  writeFileSync(join(stage, 'package', 'README.md'), readme)

  call(
    'npm',
    ['pack', '--ignore-scripts', '--pack-destination', destination],
    join(stage, 'package'),
  )
  rmSync(stage, { recursive: true })
  return join(destination, file)
}
