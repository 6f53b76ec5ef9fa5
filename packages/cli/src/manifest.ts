import { readFileSync } from 'node:fs'

/** The part of the package.json of the command line that it uses. */
interface Manifest {
  readonly version: string
  readonly engines: { readonly node: string }
}

/** Reads the package.json of the command line. */
export function manifest(): Manifest {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as Manifest
}

/** The oldest version of Node that the command line runs on, if `version` is older than that. */
export function newerNodeNeeded(version: string): string | undefined {
  const needed = manifest().engines.node.replace('>=', '')
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [majorMin = 0, minorMin = 0] = needed.split('.').map(Number)
  const isOlder = major < majorMin || (major === majorMin && minor < minorMin)
  return isOlder ? needed : undefined
}
