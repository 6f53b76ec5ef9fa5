/** Reading the files of a folder, and writing texts into a TypeScript module. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Texts by the names of their files, without the extension. */
export type Texts = ReadonlyMap<string, string>

/** The files in a folder that end in `extension`, by name; none if there is no such folder. */
export function textsIn(folder: string, extension: string): Texts {
  if (!existsSync(folder)) return new Map()
  const names = readdirSync(folder).filter((name) => name.endsWith(extension))
  return new Map(
    names
      .sort()
      .map((name) => [
        name.slice(0, -extension.length),
        readFileSync(join(folder, name), 'utf8').trim(),
      ]),
  )
}

/** `some-name` as `someName`. */
export function camelCase(stem: string): string {
  return stem.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

/** A text as a literal of TypeScript. */
export function literal(text: string): string {
  if (/[`\\]|\$\{/.test(text)) throw new Error(`not fit for a template literal: ${text}`)
  if (!text.includes('\n') && !text.includes("'")) return `'${text}'`
  return /[\n"]/.test(text) ? `\`${text}\`` : `"${text}"`
}
