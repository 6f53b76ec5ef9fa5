import {
  checkBoolean,
  checkFunction,
  checkNumber,
  checkObject,
  checkOneOf,
  checkString,
  SluiceTypeError,
} from '@sluice/core'
import { type Environment, systemEnvironment } from '@sluice/core/driver'
import { isPgliteLike, type PgliteLike, type PgPool } from './connection/client-shapes.ts'
import { checkSchemaName } from './schema/schema-name.ts'

/** Whether opening brings the schema up to date, or only checks that it is. */
export type MigrateMode = 'apply' | 'verify'

/** Where the database is, and how it is used. Exactly one of the first three is required. */
export interface PostgresOptions {
  /**
   * Where to connect to, with a pool of the driver's own, as `postgres://user:password@host:5432/database`.
   * Needs the package `pg`.
   */
  readonly connectionString?: string | undefined
  /**
   * A pool of `pg` that is used, and left open by `close`. Give it `connectionTimeoutMillis`: a new connection
   * that is never answered keeps its place in the pool.
   */
  readonly pool?: PgPool | undefined
  /** PGlite, or another client with `query` and `exec`: one connection in this process. */
  readonly client?: PgliteLike | undefined
  /** The schema for all tables and functions. Default `sluice`. */
  readonly schema?: string | undefined
  /** Whether opening brings the schema up to date (default) or only checks that it is. */
  readonly migrate?: MigrateMode | undefined
  /** How many connections the driver's own pool has, without the one that listens. Default 10. */
  readonly poolSize?: number | undefined
  /**
   * How long the server may be silent after a statement, in milliseconds; then the connection is
   * destroyed. Default 10,000: less than `timeoutMs` of a queue, so that the queue can repeat the
   * statement on another connection.
   */
  readonly timeoutMs?: number | undefined
  /**
   * How often waiting queues poll, in milliseconds, while notices of other processes have not been
   * proven to arrive. Default 1,000.
   */
  readonly pollMs?: number | undefined
  /** Whether processes wake each other by NOTIFY and LISTEN. Default true. */
  readonly notify?: boolean | undefined
  /**
   * Called with problems that are not fatal, such as a pooler through which notices do not arrive; at
   * most once in ten seconds for each kind. Default: a warning on the console.
   */
  readonly onWarning?: ((message: string, cause: unknown) => void) | undefined
}

/** Options after the check, with defaults. */
export interface Settings {
  readonly connectionString: string | undefined
  readonly pool: PgPool | undefined
  readonly client: PgliteLike | undefined
  readonly schema: string
  readonly migrate: MigrateMode
  readonly poolSize: number
  readonly timeoutMs: number
  readonly pollMs: number
  readonly notify: boolean
  readonly onWarning: (message: string, cause: unknown) => void
  readonly environment: Environment
}

const members = [
  'connectionString',
  'pool',
  'client',
  'schema',
  'migrate',
  'poolSize',
  'timeoutMs',
  'pollMs',
  'notify',
  'onWarning',
]

/** Several hosts, as libpq accepts them: pg takes them for the name of one. */
const severalHosts = /^\w+:\/\/(?:[^/?#]*@)?[^/?#@]*,(?![^/?#]*@)|[?&]host=[^&]*(?:,|%2c)/i

/**
 * Refuses what pg would reject with each connection, or take for a database on a host named `base`. Empty: the
 * variables of libpq, such as PGHOST. A path: a Unix socket. After `@`, the host may be left out.
 */
function checkAddress(address: string): void {
  checkString('connectionString', address)
  if (severalHosts.test(address)) {
    throw new SluiceTypeError(
      'connectionString',
      'must name one host, since pg tries no others: one that leads to the primary, such as a name, a proxy or a pooler that follows it',
    )
  }
  const url = address.replace('@/', '@host/')
  if (/^($|\/|socket:|postgres(ql)?:\/\/)/.test(address) && URL.canParse(url, 'pg://host')) return
  throw new SluiceTypeError(
    'connectionString',
    'must be like postgres://user:password@host/database, with %2F %23 %3F for / # ?',
  )
}

function warn(message: string): void {
  console.warn(`sluice: ${message}`)
}

/** Checks options, and fills in defaults. */
export function checkOptions(given: PostgresOptions): Settings {
  const options = checkObject('options', given, members) as PostgresOptions
  const { connectionString, pool, client, schema = 'sluice', migrate = 'apply' } = options
  const {
    poolSize = 10,
    timeoutMs = 10_000,
    pollMs = 1_000,
    notify = true,
    onWarning = warn,
  } = options
  const ways = [connectionString, pool, client].filter((way) => way !== undefined)
  if (ways.length !== 1) {
    throw new SluiceTypeError('options', 'must have exactly one of connectionString, pool, client')
  }
  if (connectionString !== undefined) checkAddress(connectionString)
  // A client connects too, but is one connection: only clients have a process of the server.
  if (pool !== undefined && (typeof pool?.connect !== 'function' || 'processID' in pool)) {
    throw new SluiceTypeError('pool', 'must be a pool of pg')
  }
  if (
    client !== undefined &&
    !(isPgliteLike(checkObject('client', client)) && 'transaction' in client)
  ) {
    throw new SluiceTypeError('client', 'must be PGlite; of pg, hand in a pool')
  }
  checkOneOf('migrate', migrate, ['apply', 'verify'])
  checkNumber('poolSize', poolSize, { min: 1, max: 1_000, integer: true })
  checkNumber('timeoutMs', timeoutMs, { min: 100, max: 3_600_000 })
  checkNumber('pollMs', pollMs, { min: 10, max: 60_000 })
  checkBoolean('notify', notify)
  checkFunction('onWarning', onWarning)
  return {
    connectionString,
    pool,
    client,
    schema: checkSchemaName(schema),
    migrate,
    poolSize,
    timeoutMs,
    pollMs,
    notify,
    onWarning,
    environment: systemEnvironment,
  }
}
