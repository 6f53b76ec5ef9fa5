/** How many bytes `text` takes as UTF-8; half of a surrogate pair counts as three. */
export const utf8Length: (text: string) => number =
  typeof Buffer === 'undefined' ? countedLength : Buffer.byteLength

/** The same without Node's help, for browsers. */
export function countedLength(text: string): number {
  let bytes = text.length
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) continue
    // Both halves of a pair are four bytes together, and each alone is three.
    const isPair = unit >= 0xd800 && unit < 0xdc00 && isTail(text.charCodeAt(index + 1))
    if (isPair) index += 1
    bytes += unit < 0x800 ? 1 : 2
  }
  return bytes
}

function isTail(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000
}
