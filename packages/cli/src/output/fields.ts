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
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Record<string, unknown>)[name]
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

/** The first member that no row has, with those that there are in `seen`; perhaps a typing error. */
export function unknownField(
  seen: object,
  fields: Fields,
): { readonly name: string; readonly known: readonly string[] } | undefined {
  const known = Object.keys(seen)
  const name = fields.map(([first = '']) => first).find((first) => !known.includes(first))
  return name === undefined || known.length === 0 ? undefined : { name, known }
}
