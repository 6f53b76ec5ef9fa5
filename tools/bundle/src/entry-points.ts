import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const packages = new URL('../../../packages/', import.meta.url)

interface Manifest {
  readonly name: string
  readonly private?: boolean
  readonly exports: Readonly<Record<string, unknown>>
}

/** What a program can import of a package that is published. */
export interface EntryPoint {
  readonly name: string
  /** The manifest of its package. */
  readonly manifest: string
}

export const entryPoints: readonly EntryPoint[] = readdirSync(packages).flatMap((folder) => {
  const manifest = fileURLToPath(new URL(`${folder}/package.json`, packages))
  const { name, private: isPrivate, exports }: Manifest = JSON.parse(readFileSync(manifest, 'utf8'))
  if (isPrivate === true) return []
  return Object.keys(exports)
    .filter((path) => typeof exports[path] !== 'string')
    .map((path) => ({ name: name + path.slice(1), manifest }))
})
