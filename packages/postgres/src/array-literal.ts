/** What an array of ours may hold. */
export type Element = string | number | boolean | null | undefined

function quoted(text: string): string {
  return `"${/["\\]/.test(text) ? text.replaceAll(/["\\]/g, '\\$&') : text}"`
}

/**
 * An array as Postgres reads it, whatever client it goes through. Doubles are written so that they
 * come back equal, `Infinity` included.
 */
export function arrayLiteral(elements: readonly Element[]): string {
  const parts = elements.map((element) => {
    if (element === null || element === undefined) return 'NULL'
    return typeof element === 'string' ? quoted(element) : String(element)
  })
  return `{${parts.join(',')}}`
}
