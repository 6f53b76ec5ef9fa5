import { safeJson, unicodeEscape } from './escape.ts'

/** A word that every YAML parser reads as a string. */
const word = /^[A-Za-z][A-Za-z0-9/_-]*$/
const reserved = /^(?:true|false|null|yes|no|on|off|y|n)$/i

/** In YAML, a character that has two escapes in JSON has one. */
function yamlEscape(character: string): string {
  if (character.length === 1) return unicodeEscape(character)
  return `\\U${character.codePointAt(0)?.toString(16).padStart(8, '0')}`
}

function scalar(value: unknown): string {
  if (typeof value === 'string' && word.test(value) && !reserved.test(value)) return value
  // JSON is YAML otherwise.
  return safeJson(value, 0, yamlEscape)
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.keys(value).length > 0
}

function linesOf(value: unknown): string[] {
  if (!isNested(value)) return [scalar(value)]
  if (Array.isArray(value)) {
    return value.flatMap((each) =>
      linesOf(each).map((line, i) => `${i === 0 ? '- ' : '  '}${line}`),
    )
  }
  return Object.entries(value).flatMap(([name, each]) => {
    if (each === undefined) return []
    const lines = linesOf(each)
    return isNested(each)
      ? [`${scalar(name)}:`, ...lines.map((line) => `  ${line}`)]
      : [`${scalar(name)}: ${lines[0]}`]
  })
}

/** JSON data as YAML, with a line feed at its end. */
export function toYaml(value: unknown): string {
  return `${linesOf(value).join('\n')}\n`
}
