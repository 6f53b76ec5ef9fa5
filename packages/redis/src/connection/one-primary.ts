import type { LinkOptions } from '../clients/link.ts'
import { type Command, type Reply, ReplyError } from './connections.ts'
import type { Resolve } from './open-link.ts'
import { Server } from './server.ts'
import type { Topology } from './topology.ts'

/** A store with one primary: a single Redis, or the one that Sentinel names. */
export class OnePrimary implements Topology {
  readonly isCluster = false
  onChange: () => void = () => {}
  readonly #server: Server

  constructor(options: LinkOptions, resolve: Resolve) {
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
      throw error
    }
  }

  doubt(server: Server, cause: unknown): void {
    server.demoted()
    server.replace(cause)
  }

  async refresh(): Promise<void> {
    await this.#server.connect()
  }

  close(): void {
    this.#server.close()
  }
}
