import { createHash } from 'node:crypto'
import { checkString, SluiceRangeError } from '@sluice/core'

/** The longest name that Postgres does not truncate, in bytes. */
const nameBytesMax = 63

/** An identifier, quoted. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/**
 * The SQL condition that the function `p` uses the schema whose quoted name, with a dot, is the parameter. After
 * another quote it is the end of another name: `"my""shop".` is not `"shop".`
 */
export function namesSchema(parameter: string): string {
  const name = `${parameter}::text`
  return `(pg_catalog.strpos(p.prosrc, ${name}) > 0 and pg_catalog.strpos(p.prosrc, '"' || ${name}) = 0)`
}

/**
 * Checks the name of a schema. Almost any name is allowed, since it is always quoted; only characters
 * that the SQL of this package cannot contain are refused.
 */
export function checkSchemaName(name: unknown): string {
  const schema = checkString('schema', name)
  if (schema === '') throw new SluiceRangeError('schema', 'must not be empty')
  if (Buffer.byteLength(schema) > nameBytesMax) {
    throw new SluiceRangeError('schema', `must not be longer than ${nameBytesMax} bytes`)
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused.
  if (/['$\\\u0000-\u001f]/.test(schema)) {
    throw new SluiceRangeError('schema', "must not contain ', $, \\ or control characters")
  }
  if (/\p{Surrogate}/u.test(schema))
    throw new SluiceRangeError('schema', 'must be well-formed text')
  if (/^pg_|^information_schema$/.test(schema)) {
    throw new SluiceRangeError('schema', "must not be one of Postgres's own")
  }
  return schema
}

/**
 * SQL of this package for a schema: the text has `sluice.` where it means the schema, and
 * `'sluice_channel'` where it means its channel.
 */
export function inSchema(text: string, schema: string): string {
  return text
    .replaceAll(/\bsluice\./g, () => `${quoteIdentifier(schema)}.`)
    .replaceAll("'sluice_channel'", () => `'${channelOf(schema)}'`)
}

/** The channel on which the processes of a schema wake each other; a name that needs no quotes. */
export function channelOf(schema: string): string {
  return `sluice_${createHash('sha256').update(schema).digest('hex').slice(0, 24)}`
}
