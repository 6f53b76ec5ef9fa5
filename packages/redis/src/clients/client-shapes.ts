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
  on(event: string, listener: (value: never) => void): unknown
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
  readonly options: object
  readonly status: string
  readonly stream?: { destroy(): void; ref(): void; unref(): void } | undefined
  connect(): Promise<void>
  duplicate(overrides: object): IoredisClient
  call(command: string, args: string[]): Promise<unknown>
  subscribe(channel: string): Promise<unknown>
  ssubscribe(channel: string): Promise<unknown>
  unsubscribe(channel: string): Promise<unknown>
  sunsubscribe(channel: string): Promise<unknown>
  on(event: string, listener: (...values: never[]) => void): unknown
  disconnect(): void
}

/** A client of ioredis: `Cluster`. */
export interface IoredisCluster {
  readonly options: object
  readonly isCluster: boolean
  nodes(role: 'master'): readonly IoredisClient[]
  connect(): Promise<void>
}

/** A client that the driver accepts. */
export type RedisClient = NodeRedisClient | NodeRedisCluster | IoredisClient | IoredisCluster

/** Which client a value is; undefined if it is none that the driver knows. */
export function kindOf(
  client: object,
): 'node-redis' | 'node-redis-cluster' | 'ioredis' | 'ioredis-cluster' | 'sentinel' | undefined {
  if ('getSentinelNode' in client) return 'sentinel'
  if ('nodeClient' in client) return 'node-redis-cluster'
  if ('sSubscribe' in client && 'duplicate' in client) return 'node-redis'
  if ('ssubscribe' in client)
    return 'isCluster' in client && client.isCluster === true ? 'ioredis-cluster' : 'ioredis'
  return undefined
}
