/**
 * The parts of node-redis and ioredis that this package uses, as structures: a client may come from
 * another copy of either, and neither is part of the exported types.
 */

/** A client of node-redis, made by `createClient`. */
export interface NodeRedisClient {
  readonly options?: object | undefined
  readonly isOpen: boolean
  connect(): Promise<unknown>
  duplicate(overrides: object): NodeRedisClient
  sendCommand(args: string[], options?: object): Promise<unknown>
  subscribe(channel: string, listener: (message: string) => void): Promise<void>
  sSubscribe(channel: string, listener: (message: string) => void): Promise<void>
  unsubscribe(channel: string): Promise<void>
  sUnsubscribe(channel: string): Promise<void>
  on(event: string, listener: (value: unknown) => void): unknown
  destroy(): void
  ref(): void
  unref(): void
}

/** A client of node-redis, made by `createCluster`. */
export interface NodeRedisCluster {
  /** The primaries, once it is connected. */
  readonly masters: readonly object[]
  nodeClient(node: object): NodeRedisClient | Promise<NodeRedisClient>
}

/** A client of ioredis: `Redis`. */
export interface IoredisClient {
  readonly options: { readonly db?: number; readonly tls?: object | null | undefined }
  readonly stream?: { destroy(): void; ref(): void; unref(): void } | undefined
  connect(): Promise<void>
  duplicate(overrides: object): IoredisClient
  call(command: string, args: string[]): Promise<unknown>
  subscribe(channel: string): Promise<unknown>
  ssubscribe(channel: string): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  sunsubscribe(channel: string): Promise<unknown>
  on(event: string, listener: (...values: unknown[]) => void): unknown
  disconnect(): void
  readonly constructor: {
    /** The commands that the library knows. */
    readonly Command?: { checkFlag?(flag: string, command: string): boolean }
  }
}

/** A client of ioredis: `Cluster`. */
export interface IoredisCluster {
  readonly options: object
  nodes(role: 'master'): readonly IoredisClient[]
  connect(): Promise<void>
}

/**
 * A client that the driver accepts: of node-redis, made by `createClient` or `createCluster`, or of ioredis,
 * `Redis` or `Cluster`. Only what tells them apart, so that the types of every version are assignable.
 */
export type RedisClient =
  | { readonly sSubscribe: unknown; readonly duplicate: unknown }
  | { readonly nodeClient: unknown; readonly masters: unknown }
  | { readonly call: unknown; readonly duplicate: unknown }

/** Which client a value is; undefined if it is none that the driver knows. */
export function kindOf(
  client: object,
): 'node-redis' | 'node-redis-cluster' | 'ioredis' | 'ioredis-cluster' | 'sentinel' | undefined {
  if ('getSentinelNode' in client) return 'sentinel'
  // Version 4 of node-redis has neither `destroy` nor version 3 of the protocol.
  const isNodeRedis = 'destroy' in client
  if (isNodeRedis && 'nodeClient' in client) return 'node-redis-cluster'
  if (isNodeRedis && 'sSubscribe' in client && 'duplicate' in client) return 'node-redis'
  if ('ssubscribe' in client) return 'nodes' in client ? 'ioredis-cluster' : 'ioredis'
  return undefined
}
