import { createHash } from 'node:crypto'
import { freePort, onFreePorts } from '@sluice/needs/free-port'
import { StoreProxy } from '@sluice/needs/store-proxy'
import { hasShardIds, RedisProcess } from './redis-process.ts'
import { type RedisOptions, synchronized } from './servers.ts'
import { until } from './until.ts'

const slotCount = 16_384

/** After how many milliseconds Redis has given up a failover by command. */
const failOverMs = 5_000

/** How long a node may be silent; while a promotion is awaited, and otherwise: a busy machine holds up healthy ones. */
const [alertMsDefault, calmMs] = [1_000, 60_000]

/** One process of a cluster. */
export interface ClusterNode {
  readonly process: RedisProcess
  /** Its name in the cluster, which it keeps. */
  readonly id: string
  /** The port that clients and the other nodes use. */
  readonly port: number
}

/** A cluster of Redis. */
export interface RedisCluster {
  /** At first the primaries, then the replicas, in the order of their primaries. */
  readonly nodes: readonly ClusterNode[]
  /** The address of every node, for a client to begin with. */
  readonly urls: readonly string[]
  /** The node that a running node takes for the primary of a key's slot. */
  primaryOf(key: string): Promise<ClusterNode>
  /** Every running node that serves slots. */
  primaries(): Promise<readonly ClusterNode[]>
  /** A replica of that primary. */
  replicaOf(primary: ClusterNode): Promise<ClusterNode>
  /**
   * Waits until every running node agrees that another node than `old`, which was killed, serves the
   * key's slot. Only meanwhile are nodes that do not answer soon taken for down.
   */
  promoted(key: string, old: ClusterNode): Promise<ClusterNode>
  /** Makes a replica the primary by command, in order: nothing is lost. */
  failOver(replica: ClusterNode): Promise<void>
  /** Waits until every slot is served, every running node agrees, and the replicas have followed. */
  healthy(): Promise<void>
  /**
   * Moves the slot of a key to another primary, as the tools of Redis do; `between` runs when some
   * keys have moved and others have not.
   */
  moveSlot(key: string, to: ClusterNode, between?: () => Promise<void>): Promise<void>
  /**
   * Cuts nodes off from the others. Clients reach both sides. Requires `isSplittable`.
   */
  split(minority: readonly ClusterNode[]): Promise<void>
  /** From now on nodes that do not answer for `alertMs` are taken for down, as after a split. */
  alert(): Promise<void>
  /** The opposite of {@link RedisCluster.split}: what was held back arrives. */
  join(): Promise<void>
  dispose(): Promise<void>
}

/** Options of {@link startCluster}. */
export interface ClusterOptions extends RedisOptions {
  /** Default: 3. */
  readonly primaries?: number
  /** Replicas of each primary. Default: 1. */
  readonly replicas?: number
  /** `cluster-node-timeout` while a promotion is awaited; a minute otherwise. Default: a second. */
  readonly alertMs?: number
  /** All connections to nodes go through proxies, so that the nodes can be cut off from each other. */
  readonly isSplittable?: boolean
}

interface Plan {
  readonly id: string
  readonly host: string
  readonly port: number
  readonly busPort: number
  /** The ports that other nodes use; those of proxies if there are any. */
  readonly shownPort: number
  readonly shownBusPort: number
  /** The id of its primary; undefined for a primary. */
  readonly primary: string | undefined
  readonly slots: string
}

/** The slot of a key, whose tag decides. */
export function slotOf(key: string): number {
  const tag = /^[^{]*\{([^}]+)\}/.exec(key)?.[1] ?? key
  let crc = 0
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit += 1) {
      crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff
    }
  }
  return crc % slotCount
}

/** The file from which each node knows all others when it starts, so that none has to be introduced. */
function nodesFile(plans: readonly Plan[], self: Plan): string {
  const lines = plans.map((plan, index) => {
    const { id, shownPort, shownBusPort, primary, slots } = plan
    const role = primary === undefined ? 'master' : 'slave'
    const flags = plan === self ? `myself,${role}` : role
    const epoch =
      primary === undefined ? index + 1 : plans.findIndex((one) => one.id === primary) + 1
    const fields = [
      id,
      `127.0.0.1:${shownPort}@${shownBusPort}${hasShardIds ? `,,tls-port=0,shard-id=${primary ?? id}` : ''}`,
      flags,
      primary ?? '-',
      0,
      0,
      epoch,
    ]
    return [...fields, 'connected', ...(slots === '' ? [] : [slots])].join(' ')
  })
  return `${lines.join('\n')}\nvars currentEpoch ${plans.length} lastVoteEpoch 0\n`
}

/** Starts a cluster; it serves after two seconds, the least that Redis waits. */
export async function startCluster(options: ClusterOptions = {}): Promise<RedisCluster> {
  const cluster = await onFreePorts(() => startNodes(options))
  await cluster.healthy()
  return cluster
}

async function startNodes(options: ClusterOptions): Promise<Cluster> {
  const { primaries = 3, replicas = 1, isSplittable = false } = options
  const count = primaries * (1 + replicas)
  const proxies = new Map<string, StoreProxy[]>()
  const plans: Plan[] = []
  const seed = `${process.pid} ${performance.now()}`
  for (let index = 0; index < count; index += 1) {
    const id = createHash('sha1').update(`${seed} ${index}`).digest('hex')
    // An address of its own tells a proxy which node a connection comes from.
    const host = isSplittable ? `127.0.1.${index + 1}` : '127.0.0.1'
    const [port, busPort] = [await freePort(), await freePort()]
    let shown = [port, busPort]
    if (isSplittable) {
      const made = [await StoreProxy.start(port, host), await StoreProxy.start(busPort, host)]
      proxies.set(id, made)
      shown = made.map((proxy) => proxy.port)
    }
    const own = index < primaries
    const from = Math.floor((index * slotCount) / primaries)
    const to = Math.floor(((index + 1) * slotCount) / primaries) - 1
    plans.push({
      id,
      host,
      port,
      busPort,
      shownPort: shown[0] ?? 0,
      shownBusPort: shown[1] ?? 0,
      primary: own ? undefined : plans[index % primaries]?.id,
      slots: own ? `${from}-${to}` : '',
    })
  }
  const starts = await Promise.allSettled(
    plans.map(async (plan): Promise<ClusterNode> => {
      const settings = [
        'cluster-enabled yes',
        'cluster-config-file nodes.conf',
        `cluster-node-timeout ${calmMs}`,
        `cluster-port ${plan.busPort}`,
        'cluster-announce-ip 127.0.0.1',
        `cluster-announce-port ${plan.shownPort}`,
        `cluster-announce-bus-port ${plan.shownBusPort}`,
        // A replica that was cut off for long may stand for election, too.
        'cluster-replica-validity-factor 0',
        ...(isSplittable ? [`bind-source-addr ${plan.host}`] : []),
        ...(options.settings ?? []),
      ]
      const files = { 'nodes.conf': nodesFile(plans, plan) }
      const { port, host } = plan
      const process = await RedisProcess.start({ ...options, port, host, settings, files })
      return { process, id: plan.id, port: plan.shownPort }
    }),
  )
  const nodes = starts.flatMap((start) => (start.status === 'fulfilled' ? [start.value] : []))
  const cluster = new Cluster(nodes, plans, proxies, options.alertMs ?? alertMsDefault)
  const failed = starts.find((start) => start.status === 'rejected')
  if (failed === undefined) return cluster
  await cluster.dispose()
  throw failed.reason
}

class Cluster implements RedisCluster {
  readonly nodes: readonly ClusterNode[]
  readonly #plans: readonly Plan[]
  readonly #proxies: ReadonlyMap<string, readonly StoreProxy[]>
  readonly #alertMs: number

  constructor(
    nodes: readonly ClusterNode[],
    plans: readonly Plan[],
    proxies: ReadonlyMap<string, readonly StoreProxy[]>,
    alertMs: number,
  ) {
    this.nodes = nodes
    this.#plans = plans
    this.#proxies = proxies
    this.#alertMs = alertMs
  }

  get urls(): readonly string[] {
    return this.nodes.map(({ port }) => `redis://127.0.0.1:${port}`)
  }

  async primaryOf(key: string): Promise<ClusterNode> {
    const ids = new Set(await this.#seenOwners(slotOf(key)))
    const [id] = ids
    const node = this.nodes.find((one) => one.id === id)
    if (node === undefined || ids.size !== 1) {
      throw new Error(`the nodes do not agree who serves slot ${slotOf(key)}`)
    }
    return node
  }

  async primaries(): Promise<readonly ClusterNode[]> {
    const found: ClusterNode[] = []
    for (const node of this.nodes) {
      if (node.process.isRunning && (await node.process.info('role')) === 'master') found.push(node)
    }
    return found
  }

  async replicaOf(primary: ClusterNode): Promise<ClusterNode> {
    const lines = (await this.#table(primary)).map((line) => line.split(' '))
    const ids = lines.filter((line) => line[3] === primary.id).map(([id]) => id)
    const found = this.nodes.find((node) => ids.includes(node.id) && node.process.isRunning)
    if (found === undefined) throw new Error(`port ${primary.port} has no replica`)
    return found
  }

  async promoted(key: string, old: ClusterNode): Promise<ClusterNode> {
    return await this.#onAlert(async () => {
      await until('the promotion of a replica', async () => (await this.primaryOf(key)) !== old)
      return await this.primaryOf(key)
    })
  }

  async failOver({ process }: ClusterNode): Promise<void> {
    let askedAt = -Infinity
    // How soon an election may be repeated depends on the timeout.
    await this.#onAlert(() =>
      until('a replica taking over by command', async () => {
        if ((await process.info('role')) === 'master') return true
        if (performance.now() < askedAt + failOverMs) return false
        // Refused while the primary seems to be down, as it does for a moment after the machine stood still.
        await process.command('CLUSTER', 'FAILOVER')
        askedAt = performance.now()
        return false
      }),
    )
  }

  async healthy(): Promise<void> {
    const running = this.nodes.filter(({ process }) => process.isRunning)
    await until('the cluster serving all slots', async () => {
      const tables = await Promise.all(
        running.map(async ({ process }) => {
          const state = await process.command('CLUSTER', 'INFO')
          return String(state).includes('cluster_state:ok')
        }),
      )
      return tables.every((isOk) => isOk)
    })
    await until('the nodes knowing each other', async () => {
      const seen = await Promise.all(running.map((node) => this.#view(node)))
      return new Set(seen).size === 1
    })
    await Promise.all(
      running.map(async ({ process }) => {
        if ((await process.info('role')) === 'slave') await synchronized(process)
      }),
    )
    // A primary counts a replica only after its first report.
    for (const { process } of await this.primaries()) {
      await until('a primary seeing its replicas', async () => {
        const connected = Number(await process.info('connected_slaves'))
        return (await process.command('WAIT', 0, 0)) === connected
      })
    }
  }

  async moveSlot(key: string, to: ClusterNode, between?: () => Promise<void>): Promise<void> {
    const slot = slotOf(key)
    const from = await this.primaryOf(key)
    await to.process.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', from.id)
    await from.process.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', to.id)
    let isBegun = false
    for (;;) {
      const names = await from.process.command('CLUSTER', 'GETKEYSINSLOT', slot, 1)
      const [name] = names as string[]
      if (name === undefined) break
      await from.process.command('MIGRATE', '127.0.0.1', to.port, name, 0, 60_000)
      if (!isBegun) await between?.()
      isBegun = true
    }
    for (const node of [to, from]) {
      await node.process.command('CLUSTER', 'SETSLOT', slot, 'NODE', to.id)
    }
    await until('all nodes knowing the move', async () => (await this.primaryOf(key)) === to)
  }

  async split(minority: readonly ClusterNode[]): Promise<void> {
    const hosts = (isIn: boolean): Set<string> =>
      new Set(
        this.#plans
          .filter((plan) => minority.some(({ id }) => id === plan.id) === isIn)
          .map(({ host }) => host),
      )
    for (const { id } of this.#plans) {
      const others = hosts(!minority.some((node) => node.id === id))
      for (const proxy of this.#proxiesOf(id)) proxy.hold((host) => others.has(host))
    }
  }

  async join(): Promise<void> {
    for (const { id } of this.#plans) {
      for (const proxy of this.#proxiesOf(id)) proxy.hold(() => false)
    }
  }

  async alert(): Promise<void> {
    await this.#setNodeTimeout(this.#alertMs)
  }

  async dispose(): Promise<void> {
    await Promise.all(this.nodes.map(({ process }) => process.dispose()))
    await Promise.all([...this.#proxies.values()].flat().map((proxy) => proxy.stop()))
  }

  async #onAlert<Result>(act: () => Promise<Result>): Promise<Result> {
    await this.alert()
    try {
      return await act()
    } finally {
      await this.#setNodeTimeout(calmMs)
    }
  }

  async #setNodeTimeout(ms: number): Promise<void> {
    const running = this.nodes.filter(({ process }) => process.isRunning)
    await Promise.all(
      running.map(({ process }) => process.command('CONFIG', 'SET', 'cluster-node-timeout', ms)),
    )
  }

  #proxiesOf(id: string): readonly StoreProxy[] {
    const found = this.#proxies.get(id)
    if (found === undefined) throw new Error('the cluster was not started with isSplittable')
    return found
  }

  async #table({ process }: ClusterNode): Promise<string[]> {
    const text = String(await process.command('CLUSTER', 'NODES'))
    return text.split('\n').filter((line) => line !== '')
  }

  /** What a node knows of the others that has to be the same on all of them. */
  async #view(node: ClusterNode): Promise<string> {
    const lines = (await this.#table(node)).map((line) => {
      const [id, address, flags = '', primary, , , , link, ...slots] = line.split(' ')
      const kept = flags.split(',').filter((flag) => flag !== 'myself')
      return [id, address, kept, primary, link, ...slots].join(' ')
    })
    return lines.sort().join('\n')
  }

  async #seenOwners(slot: number): Promise<string[]> {
    const running = this.nodes.filter(({ process }) => process.isRunning)
    return await Promise.all(
      running.map(async ({ process }) => {
        const ranges = (await process.command('CLUSTER', 'SLOTS')) as [number, number, string[]][]
        const range = ranges.find(([from, to]) => from <= slot && slot <= to)
        return String(range?.[2][2])
      }),
    )
  }
}
