import { setTimeout as passes } from 'node:timers/promises' // real time: writes that a paused replica misses
import type { ClusterNode, RedisProcess } from '@sluice/test-redis'
import { startCluster, startSentinel, until } from '@sluice/test-redis'

/** Servers of which the primary is killed again and again. */
export interface FailingServers {
  /** The address for the driver. */
  readonly url: string
  /** Stops the replica for a while, kills the primary, and waits until the replica has taken over. */
  failOver(stoppedMs: number, atKill: () => void): Promise<void>
  /** How many primaries were replaced that nothing had killed, as far as the servers tell. */
  unaskedFailovers(): Promise<number>
  /** Starts the server that was killed as a replica of the new primary. */
  repair(): Promise<void>
  dispose(): Promise<void>
}

/** How a failover is made. */
export interface FailingOptions {
  readonly kind: 'cluster' | 'sentinel'
  /**
   * `cluster-node-timeout` while a promotion is awaited, or at all times `down-after-milliseconds` of Sentinel.
   */
  readonly timeoutMs: number
  /** A key of the queue. */
  readonly key: string
}

/** How many bytes of writes the replica misses at least: some ten keys. */
const missedMin = 50_000

/** While the replica stands still, the primary takes writes that the replica never receives. */
async function killBehind(
  primary: RedisProcess,
  replica: RedisProcess,
  stoppedMs: number,
  atKill: () => void,
): Promise<void> {
  replica.pause()
  // What is in the buffers of the connection would reach the replica after all.
  await primary.command('CLIENT', 'KILL', 'TYPE', 'replica')
  const offset = async (): Promise<number> => Number(await primary.info('master_repl_offset'))
  const missedFrom = await offset()
  await passes(stoppedMs)
  // However slowly the processes work.
  await until('writes to be lost', async () => (await offset()) > missedFrom + missedMin)
  await primary.kill()
  atKill()
  replica.resume()
}

/** Starts the servers. */
export async function startFailingServers(options: FailingOptions): Promise<FailingServers> {
  return options.kind === 'cluster' ? await cluster(options) : await sentinel(options)
}

async function cluster({ timeoutMs, key }: FailingOptions): Promise<FailingServers> {
  const servers = await startCluster({ alertMs: timeoutMs })
  let killed: ClusterNode | undefined
  let promoted: ClusterNode | undefined
  return {
    url: `redis-cluster://${servers.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
    async failOver(stoppedMs, atKill) {
      killed = await servers.primaryOf(key)
      const replica = await servers.replicaOf(killed)
      await killBehind(killed.process, replica.process, stoppedMs, atKill)
      promoted = await servers.promoted(key, killed)
    },
    async unaskedFailovers() {
      return (await servers.primaryOf(key)) === promoted ? 0 : 1
    },
    async repair() {
      await killed?.process.start()
      await servers.healthy()
    },
    dispose: () => servers.dispose(),
  }
}

async function sentinel({ timeoutMs }: FailingOptions): Promise<FailingServers> {
  const servers = await startSentinel({ downAfterMs: timeoutMs })
  const ports = servers.sentinels.map(({ port }) => `127.0.0.1:${port}`)
  let killed: RedisProcess | undefined
  let made = 0
  return {
    url: `redis-sentinel://${ports.join(',')}/${servers.name}`,
    async failOver(stoppedMs, atKill) {
      const primary = await servers.primary()
      const replica = servers.nodes.find((node) => node !== primary)
      if (replica === undefined) throw new Error('there is no replica')
      killed = primary
      await killBehind(primary, replica, stoppedMs, atKill)
      await servers.promoted(primary)
      made += 1
    },
    async unaskedFailovers() {
      return (await servers.failovers()) - made
    },
    async repair() {
      if (killed === undefined) return
      await servers.rejoin(killed)
    },
    dispose: () => servers.dispose(),
  }
}
