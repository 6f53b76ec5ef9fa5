import { usageError } from '../command-error.ts'
import { oneLine, safeJson, shown } from './escape.ts'

/** Members of a document: the path of each, such as `['counts', 'ready']`. */
export type Fields = readonly (readonly string[])[]

/** Parses `--fields queue,counts.ready`. */
export function parseFields(text: string): Fields {
  const paths = text.split(',').map((path) => path.trim().split('.'))
  if (paths.some((path) => path.includes(''))) {
    throw usageError(
      `--fields takes members of the document that -o json prints, such as queue,counts.ready; got '${oneLine(text)}'`,
    )
  }
  return paths
}

function at(row: unknown, path: readonly string[]): unknown {
  let value = row
  for (const name of path) {
    if (!has(value, name)) return undefined
    value = value[name]
  }
  return value
}

/** The members of a row in one line, separated by tabs; those that it does not have are empty. */
export function fieldsOf(row: unknown, fields: Fields): string {
  const cells = fields.map((path) => {
    const value = at(row, path)
    if (value === undefined) return ''
    return typeof value === 'string' ? shown(value) : safeJson(value)
  })
  return cells.join('\t')
}

/** How many names of members are kept to be shown: an item may have any number. */
const knownMax = 50

/** Looks for members that no row has; perhaps typing errors. */
export class UnknownFields {
  readonly #fields: readonly { readonly path: readonly string[]; depth: number; known: string[] }[]
  #isAnySeen = false

  constructor(fields: Fields) {
    this.#fields = fields.map((path) => ({ path, depth: 0, known: [] }))
  }

  /** Follows each path as far as the row has it; the row that has most of it says what there is instead. */
  look(row: unknown): void {
    this.#isAnySeen = true
    for (const field of this.#fields) {
      const { path } = field
      let value = row
      let depth = 0
      for (; depth < path.length && has(value, path[depth]!); depth += 1) {
        value = value[path[depth]!]
      }
      if (depth > field.depth) Object.assign(field, { depth, known: [] })
      if (depth < field.depth || depth === path.length) continue
      if (typeof value !== 'object' || value === null || Array.isArray(value)) continue
      const more = Object.keys(value).filter((name) => !field.known.includes(name))
      field.known.push(...more.slice(0, knownMax - field.known.length))
    }
  }

  /** The first of them, and the members that there are in its place. */
  first(): { readonly name: string; readonly known: readonly string[] } | undefined {
    const field = this.#fields.find(({ path, depth }) => depth < path.length)
    if (!this.#isAnySeen || field === undefined) return undefined
    const { path, depth, known } = field
    const named = (name: string): string => [...path.slice(0, depth), name].join('.')
    return { name: named(path[depth]!), known: known.map(named) }
  }
}

function has(value: unknown, name: string): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
}
