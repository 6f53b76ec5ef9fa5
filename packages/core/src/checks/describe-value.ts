/** How much of a string, name or number an error message shows. */
const shownMax = 40

/**
 * What a reader cannot see, or what would change how the rest is read: control characters, marks
 * that join, reorder or separate text, and halves of surrogate pairs.
 */
const unseen: RegExp = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

function escaped(character: string): string {
  if (character === '\n') return '\\n'
  if (character === '\r') return '\\r'
  if (character === '\t') return '\\t'
  const digits = character.codePointAt(0)!.toString(16)
  return digits.length > 4 ? `\\u{${digits}}` : `\\u${digits.padStart(4, '0')}`
}

/**
 * `text` in a form that fits into a message, a log line and a terminal: cut to `max` characters,
 * with everything unseen escaped.
 */
export function shortened(text: string, max: number = shownMax): string {
  // An escape may follow the cut through a surrogate pair: better a visible half than a lost one.
  const head = text.length > max ? `${text.slice(0, max)}…` : text
  return head.replace(unseen, escaped)
}

/** `text` in quotes, shortened, its length named where that matters. */
export function quoted(text: string, max: number = shownMax): string {
  const size = text.length > max ? ` (${text.length} characters)` : ''
  return `'${shortened(text, max).replaceAll("'", "\\'")}'${size}`
}

/** The value of a data property. Never calls a getter, which could do anything. */
function dataOf(holder: object, name: string): unknown {
  return Reflect.getOwnPropertyDescriptor(holder, name)?.value
}

function describeObject(value: object): string {
  if (Array.isArray(value)) return 'an array'
  const prototype: object | null = Object.getPrototypeOf(value)
  const maker = prototype === null ? undefined : dataOf(prototype, 'constructor')
  const name = typeof maker === 'function' ? dataOf(maker, 'name') : undefined
  if (typeof name !== 'string' || name === '' || name === 'Object') return 'an object'
  return `${/^[aeio]/i.test(name) ? 'an' : 'a'} ${shortened(name)}`
}

/** A value in a few words, for an error message. Never throws. */
export function describeValue(value: unknown): string {
  switch (typeof value) {
    case 'string':
      // The address of a store may be passed in place of options, and messages are logged.
      return quoted(value.replace(/^(\w+:\/\/[^:]*):.*@/s, '$1:***@'))
    case 'number':
      return Object.is(value, -0) ? '-0' : String(value)
    case 'bigint':
      return `the bigint ${shortened(String(value))}`
    case 'symbol':
      return 'a symbol'
    case 'function':
      return 'a function'
    case 'object':
      if (value === null) return 'null'
      try {
        return describeObject(value)
      } catch {
        // A proxy may throw at every touch.
        return 'an object'
      }
    default:
      return String(value)
  }
}
