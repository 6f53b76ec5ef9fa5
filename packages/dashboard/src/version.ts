import { readFileSync } from 'node:fs'

function versionOfManifest(): string {
  try {
    // The manifest lies beside `src` and `dist` alike.
    const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
    return (JSON.parse(text) as { readonly version: string }).version
  } catch {
    // Somebody has bundled this file away from it.
    return 'unknown'
  }
}

/** The version of this package. */
export const version: string = versionOfManifest()
