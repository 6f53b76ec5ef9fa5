import { resolve } from 'node:path'
import { usageError } from '../command-error.ts'
import { oneLine } from '../output/escape.ts'
import { withoutPasswords } from './secrets.ts'

/** Where a store is. */
export type StoreAddress =
  | { readonly kind: 'sqlite'; readonly file: string; readonly label: string }
  | {
      readonly kind: 'postgres'
      readonly connectionString: string
      readonly schema: string
      readonly label: string
    }
  | { readonly kind: 'memory'; readonly label: string }

const forms = 'sqlite:./queue.db, sqlite:///srv/queue.db, postgres://user@host/database'

/** Reads the address of a store. What it throws shows no password. */
export function parseStoreAddress(text: string, cwd: string): StoreAddress {
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(text) ?? []
  switch (scheme?.toLowerCase()) {
    case 'sqlite':
    case 'sqlite3':
      return sqliteAddress(rest, cwd)
    case 'postgres':
    case 'postgresql':
      return postgresAddress(text)
    case 'memory':
      return { kind: 'memory', label: 'memory:' }
  }
  // A path says what it is by how it looks.
  if (scheme === undefined && /[/\\]|\.(?:db|sqlite3?)$/.test(text)) return sqliteAddress(text, cwd)
  const got = oneLine(withoutPasswords(text))
  throw usageError(`'${got}' is not the address of a store; it looks like ${forms}`)
}

function sqliteAddress(rest: string, cwd: string): StoreAddress {
  // `//` begins an authority, which a file has not; what is left is the path, as it is.
  const path = rest.replace(/^\/\/(?=.)/, '')
  if (path === '' || path === ':memory:' || path.includes('\0')) {
    throw usageError('sqlite: must be followed by the path of a file, as in sqlite:./queue.db')
  }
  return { kind: 'sqlite', file: resolve(cwd, path), label: `sqlite:${oneLine(path)}` }
}

function postgresAddress(text: string): StoreAddress {
  // Not with URL: it refuses what pg takes, such as no host at all.
  const [base = '', query] = text.split(/\?(.*)/s)
  const parameters = new URLSearchParams(query ?? '')
  const schema = parameters.get('schema') ?? 'sluice'
  if (!/^[a-z_][a-z0-9_]{0,47}$/.test(schema)) {
    throw usageError(
      `the schema must be lower-case letters, digits and _, at most 48; got '${oneLine(schema)}'`,
    )
  }
  parameters.delete('schema')
  const left = parameters.toString()
  // Up to the last @, whatever the password is made of; parameters are not shown at all.
  const shownBase = base.replace(/^([a-z]+:\/\/[^:@/]*):.*@/is, '$1:***@')
  const connectionString = left === '' ? base : `${base}?${left}`
  return {
    kind: 'postgres',
    connectionString,
    schema,
    label: oneLine(schema === 'sluice' ? shownBase : `${shownBase}?schema=${schema}`),
  }
}
