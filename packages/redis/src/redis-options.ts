import {
  checkBoolean,
  checkFunction,
  checkNumber,
  checkObject,
  checkOneOf,
  checkString,
} from '@sluice/core'
import { type Environment, systemEnvironment } from '@sluice/core/driver'
import {
  type ConnectionOptions,
  checkConnectionOptions,
  isClusterOf,
} from './connection/open-connections.ts'
import type { Durability } from './durability.ts'
import type { Replayed } from './journal-keeper.ts'

/** Where the servers are, and how they are used. */
export interface RedisOptions extends ConnectionOptions {
  /** The prefix of the names of all keys, without braces. Default `sluice:`. */
  readonly prefix?: string | undefined
  /**
   * Whether all queues are in one hash slot of a cluster: they can then share token buckets, and the
   * cluster does not spread them. Every process of a store has to agree. Default false.
   */
  readonly oneSlot?: boolean | undefined
  /**
   * Whether a server is accepted that deletes keys of queues when its memory is full (`maxmemory-policy
   * allkeys-…`), and with them acknowledged adds; a queue that lost a part may have to be purged. Default false.
   */
  readonly acceptsEviction?: boolean | undefined
  /** The failures that an acknowledged write has survived. Default: as your server is set. */
  readonly durability?: Durability | undefined
  /**
   * `'by-me'`: do not check `appendonly`, `appendfsync` and `no-appendfsync-on-rewrite` when
   * `durability.disk` is set, because the user may not read them. Default: they are checked.
   */
  readonly diskChecked?: 'by-me' | undefined
  /** Called after a failover, with how many adds and finishes of this process were repeated. */
  readonly onReplay?: ((replayed: Replayed) => void) | undefined
  /** How long a server may be silent while a reply is awaited, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined
}

/** Options after the check, with defaults. */
export interface Settings {
  readonly connection: ConnectionOptions
  readonly isCluster: boolean
  readonly prefix: string
  readonly oneSlot: boolean
  readonly acceptsEviction: boolean
  readonly timeoutMs: number
  readonly replicas: number
  readonly disk: boolean
  readonly diskChecked: 'by-me' | undefined
  readonly onReplay: (replayed: Replayed) => void
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
  'durability',
  'diskChecked',
  'onReplay',
]

/** Checks options, and fills in defaults. */
export function checkOptions(given: RedisOptions): Settings {
  const options = checkObject('options', given, members) as RedisOptions
  const { prefix = 'sluice:', oneSlot = false, timeoutMs = 10_000, ...more } = options
  const {
    acceptsEviction = false,
    durability = {},
    diskChecked,
    onReplay = () => {},
    ...connection
  } = more
  checkObject('durability', durability, ['replicas', 'disk'])
  const { replicas = 0, disk = false } = durability
  checkNumber('durability.replicas', replicas, { min: 0, max: 100, integer: true })
  checkBoolean('durability.disk', disk)
  if (diskChecked !== undefined) checkOneOf('diskChecked', diskChecked, ['by-me'])
  checkConnectionOptions(connection)
  checkNumber('timeoutMs', timeoutMs, { min: 100, max: 3_600_000 })
  return {
    connection,
    isCluster: isClusterOf(connection),
    prefix: checkString('prefix', prefix, { empty: true }),
    oneSlot: checkBoolean('oneSlot', oneSlot),
    acceptsEviction: checkBoolean('acceptsEviction', acceptsEviction),
    timeoutMs,
    replicas,
    disk,
    diskChecked,
    onReplay: checkFunction('onReplay', onReplay),
    environment: systemEnvironment,
  }
}
