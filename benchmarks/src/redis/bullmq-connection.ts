import { createRequire } from 'node:module'
import type { Queue as BullQueue, Worker as BullWorker } from 'bullmq'
import type { Cluster as IoredisCluster } from 'ioredis'

const require = createRequire(import.meta.url)
const bull = require('bullmq') as { Queue: typeof BullQueue; Worker: typeof BullWorker }
const { Cluster } = require('ioredis') as { Cluster: typeof IoredisCluster }

export const { Queue, Worker } = bull

/** The tag that keeps BullMQ's keys in one slot of a cluster. */
export const prefix = '{bull}'

/** A connection to the cluster of a `redis-cluster:` address, with the settings that BullMQ asks for. */
export function clusterOf(url: string, isWorker: boolean): IoredisCluster {
  const hosts = url.replace('redis-cluster://', '').split(',')
  const nodes = hosts.map((host) => ({
    host: host.split(':')[0] ?? '',
    port: Number(host.split(':')[1]),
  }))
  return new Cluster(nodes, {
    redisOptions: isWorker ? { maxRetriesPerRequest: null } : { maxRetriesPerRequest: 1 },
    enableOfflineQueue: isWorker,
  })
}
