import { shortened } from '@sluice/core'

/**
 * Characters that a terminal obeys or that are invisible: control characters, marks that join,
 * reorder or separate text, and lone surrogates.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u
const everyUnseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** The escape of JSON, which has two for a character beyond the first 65,536. */
export function unicodeEscape(character: string): string {
  let escaped = ''
  for (let index = 0; index < character.length; index += 1) {
    escaped += `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`
  }
  return escaped
}

/** Whether a text can be shown unchanged and stays distinguishable from every other text. */
export function isPlain(text: string): boolean {
  return text !== '' && !unseen.test(text) && text.trim() === text && !text.startsWith('"')
}

/** A key or a name: unchanged if it is plain, otherwise as a JSON string. */
export function shown(text: string): string {
  return isPlain(text) ? text : safeJson(text)
}

/** Any text in one line, with invisible characters escaped. */
export function oneLine(text: string): string {
  return shortened(text, Infinity)
}

/** JSON in which characters that a terminal obeys are escaped, by `escaping`; it parses to the same value. */
export function safeJson(
  value: unknown,
  indent = 0,
  escaping: (character: string) => string = unicodeEscape,
): string {
  const text = JSON.stringify(value, undefined, indent) ?? 'null'
  return text.replace(everyUnseen, (character) =>
    // Outside of strings, only the indentation contains such characters.
    character === '\n' ? character : escaping(character),
  )
}
