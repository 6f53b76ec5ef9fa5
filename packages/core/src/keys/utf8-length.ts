/** How many bytes `text` takes as UTF-8; half of a surrogate pair counts as three. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text, 'utf8')
}
