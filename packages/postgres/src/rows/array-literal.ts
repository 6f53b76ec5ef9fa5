/** An element of an array. */
export type Element = string | number | boolean | null | undefined

function quoted(text: string): string {
  return `"${/["\\]/.test(text) ? text.replaceAll(/["\\]/g, '\\$&') : text}"`
}

/**
 * An array as text that Postgres reads, the same for all clients. Doubles round-trip, `Infinity`
 * included.
 */
export function arrayLiteral(elements: readonly Element[]): string {
  // Almost always these are keys without a character to escape: tested and joined all at once.
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
