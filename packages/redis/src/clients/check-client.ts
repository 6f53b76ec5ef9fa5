import { SluiceTypeError } from '@sluice/core'
import {
  type IoredisClient,
  type IoredisCluster,
  kindOf,
  type NodeRedisClient,
  type NodeRedisCluster,
  type RedisClient,
} from './client-shapes.ts'

type Options = Readonly<Record<string, unknown>>

/** A setting with which the driver could not keep its promises. */
function refuse(setting: string, why: string, instead: string): SluiceTypeError {
  return new SluiceTypeError('client', `cannot be used with ${setting}: ${why}; ${instead}`)
}

const offline = 'commands would be sent long after their callers have given up'
const again = 'a command whose reply was lost would be executed twice'
const silence = 'a connection that has silently broken would never be noticed'
const replicas = 'a replica does not have what was written last'
const prefix = 'a script names its keys itself'

/** Refuses what is no client, and clients with unsafe settings. */
export function checkClient(client: RedisClient): void {
  switch (kindOf(client)) {
    case 'node-redis':
      checkNodeRedis(client as unknown as NodeRedisClient)
      break
    case 'node-redis-cluster':
      checkNodeRedisCluster(client as unknown as NodeRedisCluster)
      break
    case 'ioredis':
      checkIoredis(client as unknown as IoredisClient)
      break
    case 'ioredis-cluster':
      checkIoredisCluster(client as unknown as IoredisCluster)
      break
    case 'sentinel':
      throw new SluiceTypeError(
        'client',
        'cannot be a Sentinel client of node-redis: it sends commands again whose replies were lost; use url: redis-sentinel://host:port/name',
      )
    default:
      throw new SluiceTypeError(
        'client',
        'must be a client of node-redis or ioredis, version 5 or newer',
      )
  }
}

/** Refuses a client of node-redis with unsafe settings. */
export function checkNodeRedis(client: NodeRedisClient): void {
  const options = (client.options ?? {}) as Options
  const socket = (options['socket'] ?? {}) as Options
  if (options['disableOfflineQueue'] !== true) {
    throw refuse('an offline queue', offline, 'set disableOfflineQueue: true')
  }
  if (!(Number(socket['socketTimeout']) > 0)) {
    throw refuse('no socket timeout', silence, 'set socket.socketTimeout, such as 5000')
  }
  if (options['readonly'] === true) throw refuse('readonly: true', replicas, 'remove readonly')
  checkPrefix(options)
}

/** Refuses a cluster of node-redis with unsafe settings, as far as they can be seen. */
function checkNodeRedisCluster(cluster: NodeRedisCluster): void {
  const options = ((cluster as { _options?: Options })._options ?? {}) as Options
  if (options['useReplicas'] === true) throw refuse('useReplicas: true', replicas, 'remove it')
}

/** Refuses a client of ioredis with unsafe settings. */
function checkIoredis(client: IoredisClient): void {
  const options = client.options as Options
  if (options['enableOfflineQueue'] !== false) {
    throw refuse('enableOfflineQueue: true', offline, 'set enableOfflineQueue: false')
  }
  checkIoredisConnection(options)
  if (options['role'] === 'slave') throw refuse("role: 'slave'", replicas, 'remove it')
}

/** Refuses a cluster of ioredis with unsafe settings. */
function checkIoredisCluster(cluster: IoredisCluster): void {
  const options = cluster.options as Options
  const scaleReads = options['scaleReads'] ?? 'master'
  if (scaleReads !== 'master') throw refuse('scaleReads', replicas, "set scaleReads: 'master'")
  if (options['enableOfflineQueue'] !== false) {
    throw refuse('enableOfflineQueue: true', offline, 'set enableOfflineQueue: false')
  }
  if (Number(options['retryDelayOnFailover'] ?? 100) > 0) {
    throw refuse('retryDelayOnFailover', again, 'set retryDelayOnFailover: 0')
  }
  checkPrefix(options)
  checkIoredisConnection((options['redisOptions'] ?? {}) as Options)
}

function checkIoredisConnection(options: Options): void {
  if (options['autoResendUnfulfilledCommands'] !== false) {
    const instead = 'set autoResendUnfulfilledCommands: false'
    throw refuse('autoResendUnfulfilledCommands: true', again, instead)
  }
  if (!(Number(options['socketTimeout']) > 0)) {
    throw refuse('no socketTimeout', silence, 'set socketTimeout, such as 5000')
  }
  if (options['readOnly'] === true) throw refuse('readOnly: true', replicas, 'remove readOnly')
  checkPrefix(options)
}

function checkPrefix(options: Options): void {
  if (typeof options['keyPrefix'] === 'string' && options['keyPrefix'] !== '') {
    throw refuse('keyPrefix', prefix, 'remove it, and use the prefix option of the driver')
  }
}
