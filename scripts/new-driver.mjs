// `npm run new-driver NAME`: creates a package for a new driver from templates/driver and installs
// it. Every case of its test fails until the driver is written.

import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ensureInstalled, run } from './toolbox.mjs'

/** A name that is valid as a part of a package name, a file name and an identifier. */
const nameShape = /^[a-z][a-z0-9]*$/

const capitalised = (name) => name[0].toUpperCase() + name.slice(1)

const renamed = (text, name) =>
  text.replaceAll('Template', capitalised(name)).replaceAll('template', name)

/** Copies the template of the repository at `root` to packages/NAME; returns the folder. */
export async function newDriver(root, name) {
  if (!nameShape.test(name ?? '')) {
    throw new Error(`a driver is named with lower-case letters and digits, such as redis: ${name}`)
  }
  const folder = join(root, 'packages', name)
  if (existsSync(folder)) throw new Error(`${folder} already exists`)
  await mkdir(folder, { recursive: true })
  await cp(join(root, 'templates', 'driver'), folder, { recursive: true })
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    await writeFile(path, renamed(await readFile(path, 'utf8'), name))
    await rename(path, join(entry.parentPath, renamed(entry.name, name)))
  }
  await publish(root, `packages/${name}`)
  await reference(join(root, 'tsconfig.json'), `packages/${name}`)
  return folder
}

/** Makes the manifest public: the template is private and nobody's, the new package is not. */
async function publish(root, directory) {
  const path = join(root, directory, 'package.json')
  const read = async (file) => JSON.parse(await readFile(file, 'utf8'))
  const { private: _, ...manifest } = await read(path)
  const { author, homepage, repository, bugs } = await read(join(root, 'package.json'))
  const whole = {
    ...manifest,
    author,
    homepage,
    repository: { ...repository, directory },
    bugs,
    publishConfig: { access: 'public' },
  }
  await writeFile(path, `${JSON.stringify(whole, undefined, 2)}\n`)
}

async function reference(path, folder) {
  const text = await readFile(path, 'utf8')
  const last = text.lastIndexOf('" }')
  if (last < 0) throw new Error(`${path} has no references to add to`)
  const end = last + '" }'.length
  await writeFile(path, `${text.slice(0, end)},\n    { "path": "${folder}" }${text.slice(end)}`)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const name = process.argv[2]
  try {
    await ensureInstalled()
    const folder = await newDriver(join(import.meta.dirname, '..'), name)
    // The new package is not in the lockfile yet, which every other command installs from.
    const code = await run('pnpm', ['install', '--no-frozen-lockfile'])
    if (code !== 0) throw new Error('cannot install the new package: pnpm install failed')
    console.log(`${folder} was created. Next:

  npm test -- packages/${name} --bail=1 --reporter=dot

Every case fails until the driver is written. This stops at the first one, and prints it alone. See
docs/guides/writing-a-driver.md.`)
  } catch (error) {
    console.error(error.message)
    process.exitCode = 2
  }
}
