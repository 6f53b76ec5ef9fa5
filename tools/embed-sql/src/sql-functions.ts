/**
 * The functions of a driver whose database has stored functions. Each is installed under a name that
 * ends in a hash of its text, so that two versions of a package each call their own in one schema.
 * In the files, functions have their plain names: `sluice.add(` is a call of `functions/add.sql`.
 */
import { createHash } from 'node:crypto'
import type { Texts } from './text-files.ts'

/** A function as it is installed. */
export interface SqlFunction {
  readonly name: string
  readonly sql: string
}

/** A function that users call: it keeps its plain name. */
export interface PublicFunction {
  readonly name: string
  /** The types of its arguments: `text, text`. */
  readonly argumentTypes: string
  /** One sentence for users. */
  readonly summary: string
  /** Rises with each change that a caller can see. */
  readonly interface: number
  /** A hash of its text. */
  readonly hash: string
  readonly sql: string
}

/** Comments are for readers of the file; the database would parse them at every start. */
export function withoutComments(text: string): string {
  return text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('--'))
    .join('\n')
    .trim()
}

/** Calls functions by other names. */
export function withCalls(text: string, nameOf: (plainName: string) => string): string {
  return text.replace(/\bsluice\.(\w+)\(/g, (_, name: string) => `sluice.${nameOf(name)}(`)
}

/**
 * Puts a part in place of each line `-- @include NAME ARGUMENT`, and the argument, if there is one,
 * in place of the line `-- @argument` of the part. A part may include others.
 */
export function withParts(text: string, parts: Texts): string {
  return text.replace(
    /^( *)-- @include (\S+)(?: (.*))?$/gm,
    (_, indent: string, name: string, argument: string | undefined) => {
      const part = parts.get(name)
      if (part === undefined) throw new Error(`there is no part ${name}.sql`)
      const filled = argument === undefined ? part : part.replace('-- @argument', () => argument)
      return withParts(filled, parts).replace(/^/gm, indent)
    },
  )
}

/** The functions by their plain names, each after those that it calls. */
export function sqlFunctions(sources: Texts, parts: Texts): ReadonlyMap<string, SqlFunction> {
  const texts = new Map(
    [...sources].map(([stem, text]) => [
      stem.replaceAll('-', '_'),
      withoutComments(withParts(text, parts)),
    ]),
  )
  const made = new Map<string, SqlFunction>()
  const begun = new Set<string>()

  function functionOf(name: string, text: string): SqlFunction {
    const known = made.get(name)
    if (known !== undefined) return known
    if (begun.has(name)) throw new Error(`the function ${name} calls itself through another one`)
    begun.add(name)
    const head = `create or replace function sluice.${name}(`
    if (!text.startsWith(head)) throw new Error(`the function ${name} has to begin with "${head}"`)
    const calling = withCalls(text, (called) => {
      const calledText = called === name ? undefined : texts.get(called)
      return calledText === undefined ? called : functionOf(called, calledText).name
    })
    const hash = createHash('sha256').update(calling).digest('hex').slice(0, 8)
    const installed = `${name}_${hash}`
    const sql = calling.replace(head, () => `create or replace function sluice.${installed}(`)
    const result = { name: installed, sql }
    made.set(name, result)
    return result
  }

  for (const [name, text] of texts) functionOf(name, text)
  return made
}

/**
 * The functions that users call, from `public/some-name.sql`: a first line `-- interface: 1`, one
 * sentence for users on the second, and the function, which calls installed ones.
 */
export function publicFunctions(
  sources: Texts,
  parts: Texts,
  installed: ReadonlyMap<string, SqlFunction>,
): readonly PublicFunction[] {
  return [...sources].map(([stem, text]) => {
    const name = stem.replaceAll('-', '_')
    const [, version, summary] = /^-- interface: (\d+)\n-- (.+)\n/.exec(text) ?? []
    const head = `create or replace function sluice.${name}(`
    const plain = withoutComments(withParts(text, parts))
    if (version === undefined || summary === undefined || !plain.startsWith(head)) {
      throw new Error(
        `public/${stem}.sql: needs "-- interface: 1", a line with its summary, and "${head}"`,
      )
    }
    const rest = withCalls(plain.slice(head.length), (called) => {
      const found = installed.get(called)
      if (found === undefined) throw new Error(`public/${stem}.sql calls no function ${called}`)
      return found.name
    })
    const [list = ''] = rest.split(/\)\s*returns /)
    const argumentTypes = list
      .split(',')
      .map((argument) => argument.trim().split(/\s+/)[1])
      .join(', ')
    const sql = head + rest
    const hash = createHash('sha256').update(sql).digest('hex').slice(0, 8)
    return { name, argumentTypes, summary, interface: Number(version), hash, sql }
  })
}
