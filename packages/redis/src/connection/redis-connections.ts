import {
  type Barrier,
  ConnectionError,
  type Connections,
  type Reply,
  ReplyError,
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
  replicas = 0
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

  /** Connects to every primary, and counts the replicas that it has. */
  async countReplicas(): Promise<void> {
    // On a new connection, WAIT counts every replica that is connected.
    const counts = this.#topology.servers().map(async (server) => {
      try {
        return Number(await server.send(['WAIT', '0', '0']))
      } catch (error) {
        if (!(error instanceof ReplyError)) throw error
        // The user may not send it, so that nothing can be confirmed.
        if (error.code === 'NOPERM') return 0
        throw new ReplyError(`READONLY the server is a replica: ${error.message}`, { cause: error })
      }
    })
    this.replicas = Math.min(...(await Promise.all(counts)))
  }

  async send(key: string, command: readonly string[]): Promise<Reply> {
    return await this.#topology.send(key, command)
  }

  async sendToAll(command: readonly string[]): Promise<readonly Reply[]> {
    return await Promise.all(this.#topology.servers().map((server) => server.send(command)))
  }

  primaryOf(key: string): string {
    return this.#topology.serverOf(key).id
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
    const barrier = await server.barrier.before()
    const isStill = (): boolean => this.#topology.serverOf(key) === server
    return {
      confirmed: async (replicas, withinMs) => {
        if (isStill()) await barrier.confirmed(replicas, withinMs)
        if (!isStill()) throw new ConnectionError('the slot has another primary', true)
      },
      count: async () => (isStill() ? await barrier.count() : 0),
    }
  }

  async subscribe(channel: string, subscription: Subscription): Promise<() => Promise<void>> {
    const one: Subscribed = { channel, subscription, server: this.#topology.serverOf(channel) }
    await one.server.subscriptions.add(channel, subscription)
    this.#subscribed.add(one)
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

  /** The slot of the channel may have another primary now. */
  #follow(one: Subscribed): void {
    const { channel, subscription, server } = one
    const now = this.#topology.serverOf(channel)
    if (now === server) return
    one.server = now
    void server.subscriptions.remove(channel, subscription)
    now.subscriptions.adopt(channel, subscription)
  }
}
