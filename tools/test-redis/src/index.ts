/**
 * Real Redis servers for tests: {@link startRedis}, {@link startReplicated}, {@link startSentinel},
 * {@link startCluster}. Every process has its own folder and port, is killed together with the process
 * that started it, and can be killed, paused and started again by a test.
 *
 * @packageDocumentation
 */
export type { Reply } from './admin-connection.ts'
export {
  type ClusterNode,
  type ClusterOptions,
  type RedisCluster,
  slotOf,
  startCluster,
} from './cluster.ts'
export { hasRedis, type RedisProcess } from './redis-process.ts'
export {
  onDisk,
  type RedisOptions,
  type ReplicatedRedis,
  type SentinelOptions,
  type SentinelRedis,
  startRedis,
  startReplicated,
  startSentinel,
  synchronized,
} from './servers.ts'
export { until } from './until.ts'
