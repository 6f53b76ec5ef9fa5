import type { Link, LinkOptions } from '../clients/link.ts'
import { BarrierLine } from './barrier-line.ts'
import type { Reply } from './connections.ts'
import { OpenLink, type Resolve } from './open-link.ts'
import { Subscriptions } from './subscriptions.ts'

/** One primary: its connections for commands, for barriers, and for messages. */
export class Server {
  /** Changes with every process that takes its place; see `Connections.primaryOf`. */
  id = ''
  /** Called when {@link Server.id} has changed. */
  onChange: () => void = () => {}
  /** Called when the connection has ended, and when an attempt to open one has failed. */
  onFailure: () => void = () => {}
  readonly barrier: BarrierLine
  readonly subscriptions: Subscriptions
  readonly #link: OpenLink
  /** Its id in a cluster, otherwise ''. */
  readonly name: string
  #opened = 0

  /** `name` is its id in a cluster, otherwise ''. */
  constructor(options: LinkOptions, resolve: Resolve, name: string, isSharded: boolean) {
    this.name = name
    this.#link = new OpenLink(options, resolve)
    this.barrier = new BarrierLine(this, new OpenLink(options, resolve), options.environment)
    this.subscriptions = new Subscriptions(this.#link, options, resolve, isSharded)
    this.#link.onFailure = () => this.onFailure()
    this.#link.onOpen = (link) => {
      this.#opened += 1
      this.#identify(link)
      this.barrier.openNow()
      this.subscriptions.mainOpened(link)
    }
  }

  get link(): Link | undefined {
    return this.#link.current
  }

  /** Connects, unless it is connected. */
  async connect(): Promise<void> {
    await this.#link.get()
  }

  async send(command: readonly string[]): Promise<Reply> {
    const link = this.#link.current ?? (await this.#link.get())
    return await link.send(command)
  }

  /** Sends two commands right after each other. */
  async sendPair(first: readonly string[], second: readonly string[]): Promise<Reply> {
    const link = this.#link.current ?? (await this.#link.get())
    const [, reply] = await Promise.all([link.send(first), link.send(second)])
    return reply
  }

  /** The server is no longer a primary. */
  replace(cause: unknown): void {
    this.#link.replace(cause)
  }

  close(): void {
    this.#link.close()
    this.barrier.close()
    this.subscriptions.close()
  }

  #identify({ runId }: Link): void {
    const id = runId ?? `${this.name}#${this.#opened}`
    if (id === this.id) return
    const isFirst = this.id === ''
    this.id = id
    if (!isFirst) this.onChange()
  }
}
