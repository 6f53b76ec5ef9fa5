import {
  type Barrier,
  type Command,
  ConnectionError,
  type Connections,
  type Progress,
  type Reply,
  type Subscription,
} from './connections.ts'
import type { Server } from './server.ts'
import type { Topology } from './topology.ts'

interface Subscribed {
  readonly channel: string
  readonly subscription: Subscription
  server: Server
}

/** The servers of a store, wherever they are. */
export class RedisConnections implements Connections {
  readonly isCluster: boolean
  readonly #topology: Topology
  readonly #watchers = new Set<() => void>()
  readonly #subscribed = new Set<Subscribed>()

  constructor(topology: Topology) {
    this.isCluster = topology.isCluster
    this.#topology = topology
    topology.onChange = () => {
      for (const one of this.#subscribed) this.#follow(one)
      for (const watcher of this.#watchers) watcher()
    }
  }

  get replicas(): number {
    return Math.min(...this.#topology.servers().map(({ replicas }) => replicas.expected))
  }

  replicasOf(key: string): number {
    return this.#knownServerOf(key)?.replicas.expected ?? 0
  }

  /** Connects to every primary, and counts the replicas that it has. */
  async countReplicas(): Promise<void> {
    await Promise.all(this.#topology.servers().map((server) => server.countReplicas()))
  }

  async send(key: string, command: Command): Promise<Reply> {
    return await this.#topology.send(key, command)
  }

  async sendToAll(command: readonly string[]): Promise<readonly Reply[]> {
    return await Promise.all(this.#topology.servers().map((server) => server.send(command)))
  }

  primaryOf(key: string): string {
    return this.#knownServerOf(key)?.id ?? ''
  }

  idOf(start: string): string | undefined {
    return this.#topology.servers().find(({ id }) => id.startsWith(start))?.id
  }

  watchPrimaries(onChange: () => void): () => void {
    const watcher = (): void => onChange()
    this.#watchers.add(watcher)
    return () => {
      this.#watchers.delete(watcher)
    }
  }

  async barrier(key: string): Promise<Barrier> {
    const server = this.#topology.serverOf(key)
    await server.connect()
    const barrier = await server.barrier.before(key)
    const isStill = (): boolean => this.#knownServerOf(key) === server
    return {
      confirmed: async (replicas, withinMs) => {
        try {
          if (isStill()) await barrier.confirmed(replicas, withinMs)
        } catch (error) {
          this.#topology.suspect?.()
          throw error
        }
        if (!isStill()) throw new ConnectionError('the slot has another primary', true)
      },
    }
  }

  async progress(key: string): Promise<Progress> {
    const server = this.#topology.serverOf(key)
    const { id } = server
    try {
      const progress = await server.progress(key)
      if (progress.connected < server.replicas.expected) this.#topology.suspect?.()
      return progress
    } catch (error) {
      if (server.id !== id) this.#topology.doubt(server, error)
      throw error
    }
  }

  async subscribe(channel: string, subscription: Subscription): Promise<() => Promise<void>> {
    const one: Subscribed = { channel, subscription, server: this.#topology.serverOf(channel) }
    await one.server.subscriptions.add(channel, subscription)
    this.#subscribed.add(one)
    // The slot may have got another primary meanwhile; the former one is closed soon.
    this.#follow(one)
    return async () => {
      this.#subscribed.delete(one)
      await one.server.subscriptions.remove(channel, subscription)
    }
  }

  async close(): Promise<void> {
    this.#subscribed.clear()
    this.#watchers.clear()
    this.#topology.close()
  }

  /** Undefined while no primary has the slot, which a call reports that needs one. */
  #knownServerOf(key: string): Server | undefined {
    try {
      return this.#topology.serverOf(key)
    } catch {
      return undefined
    }
  }

  /** The slot of the channel may have another primary now. */
  #follow(one: Subscribed): void {
    const { channel, subscription, server } = one
    const now = this.#knownServerOf(channel)
    if (now === undefined || now === server) return
    one.server = now
    void server.subscriptions.remove(channel, subscription)
    now.subscriptions.adopt(channel, subscription)
  }
}
