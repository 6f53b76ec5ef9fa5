import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const repository = join(import.meta.dirname, '..', '..', '..')

/** A driver of ours with one line changed. */
export interface DriverMutant {
  readonly id: string
  readonly driver: 'memory' | 'sqlite'
  /** The file below `src` that is changed. */
  readonly file: string
  /** A text that the file has once. */
  readonly from: string
  readonly to: string
  /** A case of the suite that sees it. */
  readonly caughtBy: string
}

/** Where the copies are: inside the package, so that they find what it imports. */
function placeOf({ driver, id }: DriverMutant): string {
  return join(repository, 'packages', driver, '.cache', 'mutants', id)
}

/** Makes a copy of the driver with the change in it, and gives the path of its module. */
export function brokenCopy(mutant: DriverMutant): string {
  const place = placeOf(mutant)
  rmSync(place, { recursive: true, force: true })
  mkdirSync(place, { recursive: true })
  cpSync(join(repository, 'packages', mutant.driver, 'src'), join(place, 'src'), {
    recursive: true,
  })
  const path = join(place, 'src', mutant.file)
  const text = readFileSync(path, 'utf8')
  const parts = text.split(mutant.from)
  if (parts.length !== 2) {
    throw new Error(`${mutant.id}: ${mutant.file} has the text ${parts.length - 1} times, not once`)
  }
  writeFileSync(path, parts.join(mutant.to))
  return join(place, 'src', 'index.ts')
}

/** Removes what {@link brokenCopy} made. */
export function removeCopy(mutant: DriverMutant): void {
  rmSync(placeOf(mutant), { recursive: true, force: true })
}
