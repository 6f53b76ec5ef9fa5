import { Link, type LinkOptions } from '../clients/link.ts'
import { type Command, type Reply, ReplyError } from './connections.ts'
import type { Resolve } from './open-link.ts'
import { Server } from './server.ts'
import type { Topology } from './topology.ts'

/** The least time between two looks for another primary, in milliseconds. */
const lookRestMs = 1_000

/** A store with one primary: a single Redis, or the one that Sentinel names. */
export class OnePrimary implements Topology {
  readonly isCluster = false
  onChange: () => void = () => {}
  readonly #server: Server
  readonly #options: LinkOptions
  readonly #resolve: Resolve
  #lookedAt = -Infinity
  readonly #closed = new AbortController()
  /** The connection over which another primary is looked for. */
  #asked: Link | undefined

  constructor(options: LinkOptions, resolve: Resolve) {
    this.#options = options
    this.#resolve = resolve
    this.#server = new Server(options, resolve, '', false)
    this.#server.onChange = () => this.onChange()
  }

  serverOf(): Server {
    return this.#server
  }

  servers(): readonly Server[] {
    return [this.#server]
  }

  async send(_key: string, command: Command): Promise<Reply> {
    try {
      return await this.#server.send(command)
    } catch (error) {
      // The primary has become a replica: its name, or Sentinel, leads to another one by now.
      if (error instanceof ReplyError && error.code === 'READONLY') this.doubt(this.#server, error)
      if (error instanceof ReplyError && error.code === 'NOREPLICAS') this.suspect()
      throw error
    }
  }

  doubt(server: Server, cause: unknown): void {
    server.demoted()
    server.replace(cause)
  }

  suspect(): void {
    const now = this.#options.environment.clock.monotonicMs()
    if (this.#closed.signal.aborted || now - this.#lookedAt < lookRestMs) return
    this.#lookedAt = now
    // If no server can be reached where the primary should be, none has taken its place.
    this.#look().catch(() => {})
  }

  async refresh(): Promise<void> {
    await this.#server.connect()
  }

  /** Goes to the server that its name, or Sentinel, leads to, if that is another primary by now. */
  async #look(): Promise<void> {
    const before = this.#server.link
    // Where the run id may not be read, nothing tells two servers apart.
    if (before?.runId === undefined) return
    const { signal } = this.#closed
    const address = await this.#resolve(signal)
    if (signal.aborted) return
    const found = await Link.open(this.#options, address, (begun) => {
      this.#asked = begun
    })
    try {
      if (found.runId === before.runId) return
      const replication = await found.send(['INFO', 'replication'])
      if (!/^role:master/m.test(String(replication)) || this.#server.link !== before) return
      this.#server.replace(new Error('another server is the primary now'))
    } finally {
      found.close()
    }
  }

  close(): void {
    this.#closed.abort()
    this.#asked?.close()
    this.#server.close()
  }
}
