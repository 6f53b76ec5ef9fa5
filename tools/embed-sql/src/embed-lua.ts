/**
 * Turns the Lua files of a driver into one TypeScript module: `lua/some-name.lua` is a script, under the
 * name `someName`, and `lua/parts/name.lua` a text that scripts include with `-- @include name`.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { withoutComments } from './sql-functions.ts'
import { camelCase, literal, type Texts, textsIn } from './text-files.ts'

/** The generated module, below the folder of its package. */
export const generatedLuaFile = 'src/scripts.generated.ts'

/** Whether the package in `packageFolder` has Lua files. */
export function hasLua(packageFolder: string): boolean {
  return existsSync(join(packageFolder, 'lua'))
}

/** Removes what only readers of the file need: the server keeps the text of every script. */
function compact(text: string): string {
  return withoutComments(text)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .join('\n')
}

/**
 * A script as an expression: its own lines, and the parts that it includes. What follows the first part is a function.
 * A function that uses locals of the block around it searches for each of them as it is made, on every run of
 * the script; it does not search for those that the block has from outside, which are the names of the head.
 */
function expression(text: string, parts: Texts): string {
  const pieces = text.split(/^-- @include (\S+)$/m).map((piece, index) => {
    if (index % 2 === 0) return literal(compact(piece))
    if (!parts.has(piece)) throw new Error(`there is no part ${piece}.lua`)
    return `parts.${camelCase(piece)}`
  })
  if (pieces.length > 1) {
    pieces.splice(2, 0, "'return (function()'")
    pieces.push("'end)()'")
  }
  return `[${pieces.filter((piece) => piece !== "''").join(', ')}].join('\\n')`
}

/** The text of the generated module of the package in `packageFolder`. */
export function embeddedLua(packageFolder: string): string {
  const parts = textsIn(join(packageFolder, 'lua', 'parts'), '.lua')
  const scripts = textsIn(join(packageFolder, 'lua'), '.lua')
  return [
    '// Generated from lua/ by tools/embed-sql; change those files instead.',
    'const parts = {',
    ...[...parts].map(([stem, text]) => `  ${camelCase(stem)}: ${literal(compact(text))},`),
    '} as const',
    '',
    'export const scriptTexts: {',
    ...[...scripts].map(([stem]) => `  readonly ${camelCase(stem)}: string`),
    '} = {',
    ...[...scripts].map(([stem, text]) => `  ${camelCase(stem)}: ${expression(text, parts)},`),
    '}',
    '',
  ].join('\n')
}
