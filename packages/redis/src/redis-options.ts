import { checkBoolean, checkNumber, checkObject, checkString } from '@sluice/core'
import { type Environment, systemEnvironment } from '@sluice/core/driver'
import {
  type ConnectionOptions,
  checkConnectionOptions,
  isClusterOf,
} from './connection/open-connections.ts'

/** Where the servers are, and how they are used. */
export interface RedisOptions extends ConnectionOptions {
  /** What the names of all keys begin with, without braces. Default `sluice:`. */
  readonly prefix?: string
  /**
   * Whether all queues are in one hash slot of a cluster: they can then share token buckets, and the
   * cluster does not spread them. Every process of a store has to agree. Default false.
   */
  readonly oneSlot?: boolean
  /**
   * Whether a server is accepted that deletes keys when its memory is full (`maxmemory-policy` other than
   * `noeviction`), and with them acknowledged adds. Default false.
   */
  readonly acceptsEviction?: boolean
  /** How long a server may be silent while a reply is awaited, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number
}

/** Options after the check, with defaults. */
export interface Settings {
  readonly connection: ConnectionOptions
  readonly isCluster: boolean
  readonly prefix: string
  readonly oneSlot: boolean
  readonly acceptsEviction: boolean
  readonly timeoutMs: number
  readonly environment: Environment
}

const members = [
  'url',
  'client',
  'library',
  'tls',
  'sentinelUsername',
  'sentinelPassword',
  'prefix',
  'oneSlot',
  'acceptsEviction',
  'timeoutMs',
]

/** Checks options, and fills in defaults. */
export function checkOptions(given: RedisOptions): Settings {
  const options = checkObject('options', given, members) as RedisOptions
  const { prefix = 'sluice:', oneSlot = false, timeoutMs = 10_000, ...others } = options
  const { acceptsEviction = false, ...connection } = others
  checkConnectionOptions(connection)
  checkNumber('timeoutMs', timeoutMs, { min: 100, max: 3_600_000 })
  return {
    connection,
    isCluster: isClusterOf(connection),
    prefix: checkString('prefix', prefix, { empty: true }),
    oneSlot: checkBoolean('oneSlot', oneSlot),
    acceptsEviction: checkBoolean('acceptsEviction', acceptsEviction),
    timeoutMs,
    environment: systemEnvironment,
  }
}
