import { shortened } from '@sluice/core'

/**
 * What a terminal would obey, or a reader not see: control characters, marks that join, reorder or
 * separate text, and halves of surrogate pairs.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u
const everyUnseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

function unicodeEscape(character: string): string {
  let escaped = ''
  for (let index = 0; index < character.length; index += 1) {
    escaped += `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`
  }
  return escaped
}

/** Whether a text can be shown as it is, and be told from every other one. */
export function isPlain(text: string): boolean {
  return text !== '' && !unseen.test(text) && text.trim() === text && !text.startsWith('"')
}

/** A key or a name: as it is, or as a JSON string where that would not show it. */
export function shown(text: string): string {
  return isPlain(text) ? text : safeJson(text)
}

/** A text of any kind in one line, with everything unseen escaped. */
export function oneLine(text: string): string {
  return shortened(text, Infinity)
}

/** JSON that a terminal shows and does not obey; the same value when it is parsed. */
export function safeJson(value: unknown, indent = 0): string {
  const text = JSON.stringify(value, undefined, indent) ?? 'null'
  return text.replace(everyUnseen, (character) =>
    // The only ones outside of strings are those of the indentation.
    character === '\n' ? character : unicodeEscape(character),
  )
}
