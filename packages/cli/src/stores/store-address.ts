import { resolve } from 'node:path'
import { usageError } from '../command-error.ts'
import { oneLine } from '../output/escape.ts'
import { withoutPasswords } from './secrets.ts'

/** The address of a store. */
export type StoreAddress =
  | { readonly kind: 'sqlite'; readonly file: string; readonly label: string }
  | {
      readonly kind: 'postgres'
      readonly connectionString: string
      readonly schema: string
      readonly label: string
    }
  | {
      readonly kind: 'redis'
      readonly url: string
      /** The prefix of the names of all keys. */
      readonly prefix: string
      readonly oneSlot: boolean
      readonly label: string
    }
  | { readonly kind: 'memory'; readonly label: string }

const forms =
  'sqlite:./queue.db, sqlite:///srv/queue.db, postgres://user@host/database, redis://host:6379'

/** Parses the address of a store. Its errors contain no password. */
export function parseStoreAddress(text: string, cwd: string): StoreAddress {
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(text) ?? []
  switch (scheme?.toLowerCase()) {
    case 'sqlite':
    case 'sqlite3':
      return sqliteAddress(rest, cwd)
    case 'postgres':
    case 'postgresql':
      return postgresAddress(text)
    case 'redis':
    case 'rediss':
    case 'redis-sentinel':
    case 'rediss-sentinel':
    case 'redis-cluster':
    case 'rediss-cluster':
    case 'unix':
      return redisAddress(text)
    case 'memory':
      return { kind: 'memory', label: 'memory:' }
  }
  // A path is recognized by its form.
  if (scheme === undefined && /[/\\]|\.(?:db|sqlite3?)$/.test(text)) return sqliteAddress(text, cwd)
  const got = oneLine(withoutPasswords(text))
  throw usageError(`'${got}' is not the address of a store; valid addresses look like ${forms}`)
}

function sqliteAddress(rest: string, cwd: string): StoreAddress {
  // `//` begins an authority, which a file does not have; the rest is the path, unchanged.
  const path = rest.replace(/^\/\/(?=.)/, '')
  if (path === '' || path === ':memory:' || path.includes('\0')) {
    throw usageError('sqlite: must be followed by the path of a file, as in sqlite:./queue.db')
  }
  return { kind: 'sqlite', file: resolve(cwd, path), label: `sqlite:${oneLine(path)}` }
}

/** An address without its parameters, and those; refused if the ? is in the password, parts of which would be shown. */
function partsOf(text: string) {
  const [base = '', query] = text.split(/\?(.*)/s)
  const parameters = new URLSearchParams(query ?? '')
  // What follows the user is neither a port nor the end.
  const isCut =
    query?.includes('@') === true && /^[a-z-]+:\/\/[^:@/[]*:(?!\d*(?:\/|$))[^@]*$/i.test(base)
  if (isCut || [...parameters.keys()].some((name) => name.includes('@'))) {
    throw usageError('the password of the address must be encoded, with %2F %23 %3F for / # ?')
  }
  return { base, query, parameters }
}

function postgresAddress(text: string): StoreAddress {
  // Not with URL, which rejects addresses that pg accepts, such as one without a host.
  const { base, parameters } = partsOf(text)
  const schema = parameters.get('schema') ?? 'sluice'
  if (!/^[a-z_][a-z0-9_]{0,47}$/.test(schema)) {
    throw usageError(
      `the schema must be lower-case letters, digits and _, at most 48; got '${oneLine(schema)}'`,
    )
  }
  parameters.delete('schema')
  const left = parameters.toString()
  // Up to the last @, whatever the password contains; parameters are never shown.
  const shownBase = base.replace(/^([a-z]+:\/\/[^:@/]*):.*@/is, '$1:***@')
  const connectionString = left === '' ? base : `${base}?${left}`
  return {
    kind: 'postgres',
    connectionString,
    schema,
    label: oneLine(schema === 'sluice' ? shownBase : `${shownBase}?schema=${schema}`),
  }
}

function redisAddress(text: string): StoreAddress {
  const { base: url, query, parameters } = partsOf(text)
  const {
    prefix = 'sluice:',
    'one-slot': oneSlot = 'false',
    ...unknown
  } = Object.fromEntries(parameters)
  const [name] = Object.keys(unknown)
  if (name !== undefined) {
    throw usageError(
      `'${oneLine(name)}' is no parameter of a Redis address; use prefix or one-slot`,
    )
  }
  if (oneSlot !== 'true' && oneSlot !== 'false') {
    throw usageError(`one-slot must be true or false; got '${oneLine(oneSlot)}'`)
  }
  if (/[{}]/.test(prefix)) throw usageError('the prefix must not contain { or }')
  const shown = url.replace(/^([a-z-]+:\/\/[^:@/]*):.*@/is, '$1:***@')
  return {
    kind: 'redis',
    url,
    prefix,
    oneSlot: oneSlot === 'true',
    label: oneLine(query === undefined ? shown : `${shown}?${query}`),
  }
}
