/** A piece of a text: visible, or an invisible character by its number. */
export interface TextPiece {
  readonly text: string
  /** The character is invisible, or changes the direction of text: `U+202E`. */
  readonly hidden: boolean
}

// Controls, soft hyphens, direction marks, joiners, line separators, byte order marks, tags and lone
// surrogates: every character that can make two keys look the same or hide a part of one.
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|^ +| +$/gu

function nameOf(char: string): string {
  if (char === '\n') return '\\n'
  if (char === '\t') return '\\t'
  if (char === '\r') return '\\r'
  if (char.startsWith(' ')) return '␣'.repeat(char.length)
  return `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

const startsRightToLeft =
  /^\P{L}*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Adlam}]/u

/** The direction of a text, which its first letter decides; a box that cuts the text has to have it, too. */
export function directionOf(text: string): 'rtl' | 'ltr' {
  return startsRightToLeft.test(text) ? 'rtl' : 'ltr'
}

/** Splits a text so that every character can be shown. With `lines`, line breaks and tabs stay. */
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

/** A text with invisible characters by number, as one string for titles and accessible names. */
export function visible(text: string, lengthMax = 300): string {
  const cut = text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text
  return visiblePieces(cut)
    .map((piece) => (piece.hidden ? `⟨${piece.text}⟩` : piece.text))
    .join('')
}
