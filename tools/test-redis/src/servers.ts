import { freePort, onFreePorts } from '@sluice/needs/free-port'
import type { SteppedClock } from '@sluice/needs/stepped-clock'
import { RedisProcess, type RedisProcessOptions } from './redis-process.ts'
import { until } from './until.ts'

/** Options of every server. */
export interface RedisOptions {
  /** Lines of the configuration, such as `maxmemory 10mb`, after the usual ones. */
  readonly settings?: readonly string[]
  /** The password that the settings demand. */
  readonly password?: string
  /** The wall clock of the processes. */
  readonly clock?: SteppedClock
}

/** Starts a process on a free port. */
async function startProcess(options: Omit<RedisProcessOptions, 'port'>): Promise<RedisProcess> {
  return await onFreePorts(async () => RedisProcess.start({ ...options, port: await freePort() }))
}

/** Starts one Redis. With `appendfsync always` among its settings, every write waits for the disk. */
export async function startRedis(options: RedisOptions = {}): Promise<RedisProcess> {
  return await startProcess(options)
}

/** The settings of a Redis that has every acknowledged write on the disk. */
export const onDisk: readonly string[] = ['appendonly yes', 'appendfsync always']

/** A primary and its replicas. */
export interface ReplicatedRedis {
  readonly primary: RedisProcess
  readonly replicas: readonly RedisProcess[]
  readonly url: string
  dispose(): Promise<void>
}

/** Waits until a replica has everything that its primary had written before the call. */
export async function synchronized(replica: RedisProcess): Promise<void> {
  await until(
    `the synchronization of the replica on port ${replica.port}`,
    async () => (await replica.info('master_link_status')) === 'up',
  )
}

/** Starts a primary with replicas, without anything that would promote one of them. */
export async function startReplicated(
  options: RedisOptions & { readonly replicas?: number } = {},
): Promise<ReplicatedRedis> {
  const { replicas: count = 1 } = options
  const primary = await startProcess(options)
  const settings = [...(options.settings ?? []), `replicaof ${primary.host} ${primary.port}`]
  const replicas = await Promise.all(
    Array.from({ length: count }, () => startProcess({ ...options, settings })),
  )
  await Promise.all(replicas.map(synchronized))
  // The primary counts a replica only after its first report.
  await until('the primary seeing its replicas', async () => {
    return (await primary.command('WAIT', 0, 0)) === count
  })
  return {
    primary,
    replicas,
    url: primary.url,
    async dispose() {
      await Promise.all([primary, ...replicas].map((one) => one.dispose()))
    },
  }
}

/** A primary and its replicas, of which Sentinels promote one when the primary is gone. */
export interface SentinelRedis {
  /** The name under which the Sentinels know the primary. */
  readonly name: string
  /** Every process that holds data, whichever is the primary. */
  readonly nodes: readonly RedisProcess[]
  readonly sentinels: readonly RedisProcess[]
  /** The process that the Sentinels name as the primary. */
  primary(): Promise<RedisProcess>
  /**
   * Waits until the Sentinels name another primary than `old`, which was killed, and that one takes
   * writes. Only meanwhile is a process that does not answer soon taken for down.
   */
  promoted(old: RedisProcess): Promise<RedisProcess>
  /** Has the Sentinels name another primary than `old`, which is well, and waits until that one takes writes. */
  replaced(old: RedisProcess): Promise<RedisProcess>
  /** How many failovers the Sentinels have made, or tried to make. */
  failovers(): Promise<number>
  /** Starts a former primary again as a replica, without the wait that Sentinel makes before it does. */
  rejoin(node: RedisProcess): Promise<void>
  dispose(): Promise<void>
}

/** Options of {@link startSentinel}. */
export interface SentinelOptions extends RedisOptions {
  readonly replicas?: number
  readonly sentinels?: number
  /**
   * After how many milliseconds of silence a primary counts as down. Default: a minute, since a busy
   * machine holds up healthy ones, and a second while a promotion is awaited.
   */
  readonly downAfterMs?: number
}

/** Starts a primary, one replica and one Sentinel, or more of them. */
export async function startSentinel(options: SentinelOptions = {}): Promise<SentinelRedis> {
  const { sentinels: count = 1, downAfterMs } = options
  const [calmMs, alertMs] = [downAfterMs ?? 60_000, downAfterMs ?? 1_000]
  const { primary: first, replicas, dispose } = await startReplicated(options)
  const name = 'sluice'
  const nodes = [first, ...replicas]
  const settings = [
    `sentinel monitor ${name} ${first.host} ${first.port} ${Math.floor(count / 2) + 1}`,
    `sentinel down-after-milliseconds ${name} ${calmMs}`,
    `sentinel failover-timeout ${name} ${Math.max(3_000, alertMs)}`,
    `sentinel parallel-syncs ${name} ${replicas.length}`,
  ]
  const sentinels = await Promise.all(
    Array.from({ length: count }, () => startProcess({ settings, isSentinel: true })),
  )
  // A Sentinel that the machine held up for two seconds does not trust what it sees for thirty, and
  // promotes nothing. Two are enough to hear from the others.
  await Promise.all(sentinels.map((one) => one.command('SENTINEL', 'DEBUG', 'tilt-period', 2_000)))
  const primary = async (): Promise<RedisProcess> => {
    const [sentinel] = sentinels
    const reply = await sentinel?.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name)
    const port = Number(Array.isArray(reply) ? reply[1] : undefined)
    const found = nodes.find((one) => one.port === port)
    if (found === undefined) throw new Error(`the Sentinel names port ${port}, which is no node`)
    return found
  }
  for (const sentinel of sentinels) {
    await until('Sentinel seeing the others', async () => {
      const [, ...fields] = (await sentinel.command('SENTINEL', 'MASTER', name)) as string[]
      const field = (of: string): number => Number(fields[fields.indexOf(of) + 1])
      return field('num-slaves') === replicas.length && field('num-other-sentinels') === count - 1
    })
  }
  const setDownAfter = async (ms: number): Promise<void> => {
    const setting = ['SENTINEL', 'SET', name, 'down-after-milliseconds', ms]
    await Promise.all(sentinels.map((one) => one.command(...setting)))
  }
  /** A replica that a Sentinel takes for down is not promoted. */
  const seesReplicas = async (sentinel: RedisProcess): Promise<void> => {
    await until('Sentinel seeing the replicas', async () => {
      const known = (await sentinel.command('SENTINEL', 'REPLICAS', name)) as string[][]
      const flags = known.map((fields) => String(fields[fields.indexOf('flags') + 1]))
      const well = flags.filter((flag) => flag === 'slave').length
      return well === replicas.length
    })
  }
  return {
    name,
    nodes,
    sentinels,
    primary,
    async promoted(old) {
      await setDownAfter(alertMs)
      try {
        await until('the promotion of a replica', async () => {
          const now = await primary()
          return now !== old && (await now.info('role')) === 'master'
        })
        return await primary()
      } finally {
        await setDownAfter(calmMs)
      }
    },
    async replaced(old) {
      const [sentinel] = sentinels
      await until('the promotion of a replica', async () => {
        const fields = (await sentinel?.command('SENTINEL', 'MASTER', name)) as string[]
        const field = (of: string): string => String(fields[fields.indexOf(of) + 1])
        if (field('port') !== String(old.port))
          return (await (await primary()).info('role')) === 'master'
        // Refused until the state of the replica is known; and one that the machine holds up is aborted.
        const isUnderWay = field('flags').includes('failover_in_progress')
        if (!isUnderWay) await sentinel?.command('SENTINEL', 'FAILOVER', name)
        return false
      })
      return await primary()
    },
    async failovers() {
      const [sentinel] = sentinels
      const fields = (await sentinel?.command('SENTINEL', 'MASTER', name)) as string[]
      return Number(fields[fields.indexOf('config-epoch') + 1])
    },
    async rejoin(node) {
      await node.start()
      const { host, port } = await primary()
      await node.command('REPLICAOF', host, port)
      await synchronized(node)
      await Promise.all(sentinels.map((one) => seesReplicas(one)))
    },
    async dispose() {
      await Promise.all(sentinels.map((one) => one.dispose()))
      await dispose()
    },
  }
}
