// `pnpm new-driver NAME`: a package for a new driver, from templates/driver. What it makes is all
// red: its tests say what is to be written.

import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A name that can be part of a package, of a file and, in one word, of an identifier. */
const nameShape = /^[a-z][a-z0-9]*$/

const capitalised = (name) => name[0].toUpperCase() + name.slice(1)

const renamed = (text, name) =>
  text.replaceAll('Template', capitalised(name)).replaceAll('template', name)

/** Copies the template of the repository at `root` to packages/NAME; gives the folder. */
export async function newDriver(root, name) {
  if (!nameShape.test(name ?? '')) {
    throw new Error(`a driver is named with lower-case letters and digits, such as redis: ${name}`)
  }
  const folder = join(root, 'packages', name)
  if (existsSync(folder)) throw new Error(`${folder} is there already`)
  await mkdir(folder, { recursive: true })
  await cp(join(root, 'templates', 'driver'), folder, { recursive: true })
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    await writeFile(path, renamed(await readFile(path, 'utf8'), name))
    await rename(path, join(entry.parentPath, renamed(entry.name, name)))
  }
  await publish(join(folder, 'package.json'))
  await reference(join(root, 'tsconfig.json'), `packages/${name}`)
  return folder
}

/** The template is nobody's package; what is made of it will be. */
async function publish(path) {
  const { private: _, ...manifest } = JSON.parse(await readFile(path, 'utf8'))
  const whole = { ...manifest, publishConfig: { access: 'public' } }
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
    const folder = await newDriver(join(import.meta.dirname, '..'), name)
    console.log(`${folder} is there. Now:

  pnpm install
  npm test -- packages/${name}

and read docs/guides/writing-a-driver.md while it is red.`)
  } catch (error) {
    console.error(error.message)
    process.exitCode = 2
  }
}
