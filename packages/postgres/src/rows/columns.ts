/** Reading columns, which come as text from `pg` and as values from PGlite. */

/** A number; what is not there is `never`. */
export function instant(value: unknown): number {
  return value === null || value === undefined ? Infinity : Number(value)
}

/** A number that is always there. */
export function number(value: unknown): number {
  return Number(value)
}

/** The numbers of an array, which comes as text: `{1,2}`; none if there is nothing. */
export function numbers(value: unknown): number[] {
  if (typeof value !== 'string' || value === '{}') return []
  return value.slice(1, -1).split(',').map(Number)
}

/** The texts of a JSON array; none if there is nothing. */
export function texts(value: unknown): (string | null)[] {
  return typeof value === 'string' ? (JSON.parse(value) as (string | null)[]) : []
}

/** A text, if there is one. */
export function text(value: unknown): string | undefined {
  return value === null || value === undefined ? undefined : String(value)
}

/** A truth value. */
export function flag(value: unknown): boolean {
  return value === true || value === 't' || value === 'true'
}
