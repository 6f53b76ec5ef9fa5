/** Reads columns, which are text from `pg` and values from PGlite. */

/** An instant; null is `never`. */
export function instant(value: unknown): number {
  return value === null || value === undefined ? Infinity : Number(value)
}

/** A number that is not null. */
export function number(value: unknown): number {
  return Number(value)
}

/** The numbers of an array, which is text: `{1,2}`. Null is an empty array. */
export function numbers(value: unknown): number[] {
  if (typeof value !== 'string' || value === '{}') return []
  return value.slice(1, -1).split(',').map(Number)
}

/** The texts of a JSON array. Null is an empty array. */
export function texts(value: unknown): (string | null)[] {
  return typeof value === 'string' ? (JSON.parse(value) as (string | null)[]) : []
}

/** A text; null is undefined. */
export function text(value: unknown): string | undefined {
  return value === null || value === undefined ? undefined : String(value)
}

/** A boolean. */
export function flag(value: unknown): boolean {
  return value === true || value === 't' || value === 'true'
}
