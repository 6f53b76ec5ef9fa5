import { readFileSync } from 'node:fs'

function versionOfManifest(): string | undefined {
  try {
    // The manifest is the parent of both `src` and `dist`.
    const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
    const manifest = JSON.parse(text) as { readonly name: string; readonly version: string }
    // In a bundle, it may be that of the application.
    return manifest.name === '@sluice/metrics' ? manifest.version : undefined
  } catch {
    // The file was bundled elsewhere.
    return undefined
  }
}

/** The version of this package, for the scope of what it reports. */
export const version: string | undefined = versionOfManifest()
