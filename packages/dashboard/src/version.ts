import { readFileSync } from 'node:fs'

function versionOfManifest(): string {
  try {
    // The manifest is the parent of both `src` and `dist`.
    const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
    return (JSON.parse(text) as { readonly version: string }).version
  } catch {
    // The file was bundled elsewhere.
    return 'unknown'
  }
}

/** The version of this package. */
export const version: string = versionOfManifest()
