// Before the first release, every change has its changeset, and together they tell a history that no
// user has lived through. `npm run release:squash` replaces them by the notes of the first release:
// one changeset for each package, made from its description and docs/releases/0.1.0.md.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { publishedPackages } from './pack.mjs'
import { fail, root, say } from './toolbox.mjs'

const notesFile = 'docs/releases/0.1.0.md'
const folder = join(root, '.changeset')

/** The notes of each package: the sections of a page, by the names in their headings. */
export function notesOf(text) {
  const sections = text.split(/^## /m).slice(1)
  return new Map(
    sections.map((section) => {
      const [title = '', ...lines] = section.split('\n')
      return [title.replaceAll('`', '').trim(), lines.join('\n').trim()]
    }),
  )
}

/** Replaces all changesets; fails if a package has no notes, or has been released already. */
export function squash() {
  const notes = notesOf(readFileSync(join(root, notesFile), 'utf8'))
  const packages = publishedPackages().map(({ manifest }) => manifest)
  for (const { name, version } of packages) {
    if (!notes.has(name)) fail(`${notesFile} says nothing of ${name}; add a section for it`)
    if (version !== '0.0.0')
      fail(`${name} has the version ${version}; this is for the first release`)
  }
  const old = readdirSync(folder).filter((name) => name.endsWith('.md') && name !== 'README.md')
  for (const name of old) rmSync(join(folder, name))
  for (const { name } of packages) {
    const file = `first-${name.replace('@sluice/', '')}.md`
    writeFileSync(join(folder, file), `---\n'${name}': minor\n---\n\n${notes.get(name)}\n`)
  }
  say(`${old.length} changesets became ${packages.length}, one for each package`)
  return 0
}
