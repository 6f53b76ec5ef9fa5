/** How many bytes `text` takes as UTF-8; half of a surrogate pair counts as three. */
export const utf8Length: (text: string) => number =
  // As a free name, some bundlers for browsers would bring a substitute for it.
  (globalThis.Buffer as typeof Buffer | undefined)?.byteLength ?? countedLength

/** The same without Node's help, for browsers. */
export function countedLength(text: string): number {
  let bytes = 0
  // Half of a pair comes alone.
  for (const character of text) {
    const point = character.codePointAt(0)!
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4
  }
  return bytes
}
