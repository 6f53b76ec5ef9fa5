import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A package of ours with one line changed, which its tests have to see. */
export interface Change {
  readonly id: string
  /** The file below `src` that is changed. */
  readonly file: string
  /** A text that the file has once. */
  readonly from: string
  readonly to: string
}

/** A copy of a package, and how to remove it. */
export interface ChangedCopy {
  /** The path of its module. */
  readonly module: string
  remove(): void
}

/** Copies the sources of a package, with the change in them. */
export function changedCopy(packageFolder: string, change: Change): ChangedCopy {
  // Inside the package, so that the copy finds what it imports.
  const place = join(packageFolder, '.cache', 'changed', change.id)
  const remove = (): void => rmSync(place, { recursive: true, force: true })
  remove()
  mkdirSync(place, { recursive: true })
  cpSync(join(packageFolder, 'src'), join(place, 'src'), { recursive: true })
  // Its own manifest, so that the imports of the package lead into the copy.
  cpSync(join(packageFolder, 'package.json'), join(place, 'package.json'))
  const path = join(place, 'src', change.file)
  const parts = readFileSync(path, 'utf8').split(change.from)
  if (parts.length !== 2) {
    remove()
    throw new Error(`${change.id}: ${change.file} has the text ${parts.length - 1} times, not once`)
  }
  writeFileSync(path, parts.join(change.to))
  return { module: join(place, 'src', 'index.ts'), remove }
}
