import { readFileSync } from 'node:fs'

/** The version of this package; its manifest lies beside `src` and `dist` alike. */
export const version: string = (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    readonly version: string
  }
).version
