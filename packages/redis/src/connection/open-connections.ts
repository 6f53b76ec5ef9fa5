import { checkObject, checkOneOf, checkString, SluiceError, SluiceTypeError } from '@sluice/core'
import { type Environment, packageError } from '@sluice/core/driver'
import { type ParsedAddress, parseAddress } from '../clients/address.ts'
import { checkClient, checkNodeRedis } from '../clients/check-client.ts'
import {
  type IoredisClient,
  type IoredisCluster,
  kindOf,
  type NodeRedisClient,
  type NodeRedisCluster,
  type RedisClient,
} from '../clients/client-shapes.ts'
import { ioredisOpener } from '../clients/ioredis.ts'
import { Link, type LinkOptions, type OpenClient } from '../clients/link.ts'
import { nodeRedisOpener } from '../clients/node-redis.ts'
import { Cluster } from './cluster.ts'
import type { Connections } from './connections.ts'
import { storeError } from './errors.ts'
import { OnePrimary } from './one-primary.ts'
import { RedisConnections } from './redis-connections.ts'
import { askSentinels } from './sentinel.ts'
import type { NodeAddress } from './slots.ts'
import type { Topology } from './topology.ts'

/** Where the servers are. Exactly one of `url` and `client` is required. */
export interface ConnectionOptions {
  /**
   * `redis://user:password@host:port/database`, `rediss://` for TLS, `unix:///path`,
   * `redis-sentinel://host:port,host:port/name`, or `redis-cluster://host:port,host:port`. Needs the
   * package `redis` or `ioredis`.
   */
  readonly url?: string | undefined
  /**
   * A client of node-redis or ioredis, single or cluster, or of ioredis with Sentinels. The driver opens
   * its own connections with the client's settings, and neither uses nor closes the client's own.
   */
  readonly client?: RedisClient | undefined
  /** The package to connect with. Default: `redis` if it is installed, otherwise `ioredis`. */
  readonly library?: 'redis' | 'ioredis' | undefined
  /** Options of connections to a `rediss` address, as in `tls.connect` of Node: `ca`, … Default: those of Node. */
  readonly tls?: object | undefined
  /** The user and password of the Sentinels, if they have any. Default: none. */
  readonly sentinelUsername?: string | undefined
  readonly sentinelPassword?: string | undefined
}

/** {@link ConnectionOptions} after the check, and what connections take from the machine. */
export interface ConnectionSettings extends ConnectionOptions {
  readonly environment: Environment
  /** How long a server may be silent while a reply is awaited, in milliseconds. */
  readonly timeoutMs: number
}

interface Credentials {
  readonly isTls: boolean
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly database?: number
}

/** Refuses options that are wrong or contradict each other, and clients with unsafe settings. */
export function checkConnectionOptions(options: ConnectionOptions): void {
  const { url, client, library, tls, sentinelUsername, sentinelPassword } = options
  if (library !== undefined) checkOneOf('library', library, ['redis', 'ioredis'])
  if (tls !== undefined) checkObject('tls', tls)
  if (sentinelUsername !== undefined) checkString('sentinelUsername', sentinelUsername)
  if (sentinelPassword !== undefined) checkString('sentinelPassword', sentinelPassword)
  if ((url === undefined) === (client === undefined)) {
    throw new SluiceTypeError('options', 'must have exactly one of url and client')
  }
  if (url !== undefined) {
    // A connection that is meant to be encrypted must not be open without a word.
    if (!parseAddress(checkString('url', url)).isTls && tls !== undefined) {
      throw new SluiceTypeError(
        'tls',
        'needs an address of TLS: write rediss instead of redis in url',
      )
    }
  } else checkClient(checkObject('client', client as RedisClient))
}

/** Whether the options name a cluster, whose primaries share the slots. */
export function isClusterOf({ url, client }: ConnectionOptions): boolean {
  if (client !== undefined) return kindOf(client)?.endsWith('cluster') === true
  return parseAddress(url as string).kind === 'cluster'
}

/** Connects to the primaries. Rejects with a `SluiceError`. */
export async function openConnections(settings: ConnectionSettings): Promise<Connections> {
  const topology = await topologyOf(settings)
  try {
    await topology.refresh()
    const connections = new RedisConnections(topology)
    await connections.countReplicas()
    return connections
  } catch (error) {
    topology.close()
    throw storeError(error)
  }
}

async function topologyOf(settings: ConnectionSettings): Promise<Topology> {
  const { url, client, environment, timeoutMs } = settings
  const linked = (openClient: OpenClient): LinkOptions => ({ environment, timeoutMs, openClient })
  if (client !== undefined) return await topologyLike(client, linked)
  const parsed = parseAddress(url as string)
  const options = linked(await openerFor(settings, parsed))
  if (parsed.kind === 'cluster') return new Cluster(options, parsed.hosts)
  if (parsed.kind === 'single') return new OnePrimary(options, async () => parsed.address)
  const { isTls, hosts, name } = parsed
  const { sentinelUsername: username, sentinelPassword: password } = settings
  const sentinels = linked(await openerFor(settings, { isTls, username, password }))
  const open = (address: NodeAddress, onBegin: (link: Link) => void): Promise<Link> =>
    Link.open(sentinels, address, onBegin)
  return new OnePrimary(options, (signal) =>
    askSentinels(environment.clock, hosts, name, open, signal),
  )
}

async function topologyLike(
  client: RedisClient,
  linked: (open: OpenClient) => LinkOptions,
): Promise<Topology> {
  switch (kindOf(client)) {
    case 'node-redis':
      return new OnePrimary(
        linked(nodeRedisOpener(client as unknown as NodeRedisClient)),
        async () => undefined,
      )
    case 'ioredis':
      return new OnePrimary(
        linked(ioredisOpener(client as unknown as IoredisClient)),
        async () => undefined,
      )
    case 'node-redis-cluster': {
      const { masters, nodeClient } = client as unknown as NodeRedisCluster
      const [first] = masters
      if (first === undefined) throw notConnected()
      const node = await nodeClient.call(client, first)
      checkNodeRedis(node)
      return new Cluster(linked(nodeRedisOpener(node)), [rootOf(node.options, 'socket')])
    }
    default: {
      const cluster = client as unknown as IoredisCluster
      if (cluster.nodes('master').length === 0) await cluster.connect().catch(() => {})
      const [node] = cluster.nodes('master')
      if (node === undefined) throw notConnected()
      return new Cluster(linked(ioredisOpener(node)), [rootOf(node.options)])
    }
  }
}

function notConnected(): SluiceError {
  const message = 'the cluster client is not connected; connect it before the queue is opened'
  return new SluiceError('ERR_STORE', message, { retryable: true })
}

function rootOf(options: object | undefined, member?: string): NodeAddress {
  const all = (options ?? {}) as Readonly<Record<string, unknown>>
  const { host = '127.0.0.1', port = 6_379 } = (member === undefined ? all : all[member]) as {
    host?: string
    port?: number
  }
  return { host, port }
}

async function openerFor(
  { library, tls = {} }: ConnectionSettings,
  { isTls, username, password, database = 0 }: Credentials | ParsedAddress,
): Promise<OpenClient> {
  const withTls = isTls ? tls : undefined
  const credentials = {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  }
  if (library !== 'ioredis') {
    try {
      // Imported only here: a client that is handed in needs neither.
      const { createClient } = await import('redis')
      const socket = withTls === undefined ? {} : { ...withTls, tls: true }
      const template = createClient({ ...credentials, database, socket } as object)
      return nodeRedisOpener(template as unknown as NodeRedisClient)
    } catch (error) {
      const failure = missing('redis', error)
      // A package that may load later is there: another library would be used by chance.
      if (library === 'redis' || failure.retryable) throw failure
    }
  }
  try {
    // Before version 5.3, the class is the default export alone.
    const module = await import('ioredis')
    type Module = Partial<Pick<typeof module, 'Redis'>> & Pick<typeof module, 'default'>
    const { default: byDefault, Redis = byDefault as unknown as typeof module.Redis } =
      module as Module
    const secure = withTls === undefined ? {} : { tls: withTls }
    const template = new Redis({ ...credentials, ...secure, db: database, lazyConnect: true })
    return ioredisOpener(template as unknown as IoredisClient)
  } catch (error) {
    throw missing(library ?? 'redis', error)
  }
}

function missing(name: string, cause: unknown): SluiceError {
  return packageError(name, 'hand in a client', cause)
}
