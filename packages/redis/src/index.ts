/**
 * The driver that keeps keys in Redis or Valkey, which any number of processes and machines may share.
 * Call `redisDriver` with a `url` or a `client`, and pass the result to a queue.
 *
 * @packageDocumentation
 */
export type {
  IoredisClient,
  IoredisCluster,
  NodeRedisClient,
  NodeRedisCluster,
  RedisClient,
} from './clients/client-shapes.ts'
export type { ConnectionOptions } from './connection/open-connections.ts'
export { doctor, type Finding } from './doctor.ts'
export type { Durability } from './durability.ts'
export type { Replayed } from './journal-keeper.ts'
export { redisDriver } from './redis-driver.ts'
export type { RedisOptions } from './redis-options.ts'
