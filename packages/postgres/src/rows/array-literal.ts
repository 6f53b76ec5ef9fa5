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
  // Almost always keys that hold nothing to be escaped: looked at together, and joined at once.
  if (elements.length > 0 && elements.every((element) => typeof element === 'string')) {
    const joined = elements.join('')
    if (!/["\\]/.test(joined)) return `{"${elements.join('","')}"}`
  }
  const parts = elements.map((element) => {
    if (element === null || element === undefined) return 'NULL'
    return typeof element === 'string' ? quoted(element) : String(element)
  })
  return `{${parts.join(',')}}`
}
