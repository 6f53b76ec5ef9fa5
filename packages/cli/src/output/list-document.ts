import { safeJson } from './escape.ts'
import { toYaml } from './yaml.ts'

/** A document with a long list of keys. */
export interface ListDocument {
  /** The members before the list. */
  readonly head: object
  readonly pages: AsyncIterable<readonly unknown[]>
  /** The members after the list, which may depend on it. */
  readonly tail: () => object
}

/** The text of a document, YAML or JSON, page by page: a string, or the memory, may not have room for all of it. */
export async function* textsOf(
  isYaml: boolean,
  { head, pages, tail }: ListDocument,
): AsyncGenerator<string> {
  let isEmpty = true
  yield isYaml ? toYaml(head) : `${safeJson(head, 2).slice(0, -2)},\n  "keys": [`
  for await (const rows of pages) {
    if (rows.length === 0) continue
    if (isYaml) {
      const text = toYaml({ keys: rows })
      yield isEmpty ? text : text.slice(text.indexOf('\n') + 1)
    } else {
      const texts = rows.map((row) => `\n    ${safeJson(row, 2).replaceAll('\n', '\n    ')}`)
      yield `${isEmpty ? '' : ','}${texts.join(',')}`
    }
    isEmpty = false
  }
  if (isYaml) yield (isEmpty ? toYaml({ keys: [] }) : '') + toYaml(tail())
  else yield `${isEmpty ? '' : '\n  '}],${safeJson(tail(), 2).slice(1)}\n`
}
