/** A piece of a text: as it is, or a character that would not be seen, by its number. */
export interface TextPiece {
  readonly text: string
  /** What stands there is not seen, or turns around what is: `U+202E`. */
  readonly hidden: boolean
}

// Controls, soft hyphens, marks that turn text around, joiners, separators of lines, byte order
// marks, tags and halves of pairs: whatever could make two keys look the same or hide a part of one.
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|^ +| +$/gu

function nameOf(char: string): string {
  if (char === '\n') return '\\n'
  if (char === '\t') return '\\t'
  if (char === '\r') return '\\r'
  if (char.startsWith(' ')) return '␣'.repeat(char.length)
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

/** Takes a text apart, so that nothing in it is unseen. With `lines`, breaks and tabs may stay. */
export function visiblePieces(text: string, lines = false): readonly TextPiece[] {
  const pieces: TextPiece[] = []
  let from = 0
  for (const found of text.matchAll(unseen)) {
    const [char] = found
    if (lines && /^[\n\t ]/.test(char)) continue
    if (found.index > from) pieces.push({ text: text.slice(from, found.index), hidden: false })
    pieces.push({ text: nameOf(char), hidden: true })
    from = found.index + char.length
  }
  if (from < text.length) pieces.push({ text: text.slice(from), hidden: false })
  return pieces
}

/** The same as one string, for where only a string can stand: titles and names for readers. */
export function visible(text: string, lengthMax = 300): string {
  const cut = text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text
  return visiblePieces(cut)
    .map((piece) => (piece.hidden ? `⟨${piece.text}⟩` : piece.text))
    .join('')
}
