import { readFileSync } from 'node:fs'

function versionOfManifest(): string | undefined {
  try {
    // The manifest is the parent of both `src` and `dist`.
    const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
    return (JSON.parse(text) as { readonly version: string }).version
  } catch {
    // The file was bundled elsewhere.
    return undefined
  }
}

/** The version of this package, for the scope of what it reports. */
export const version: string | undefined = versionOfManifest()
