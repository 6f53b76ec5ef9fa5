import type { Link, LinkOptions } from '../clients/link.ts'
import { BarrierLine } from '../replicas/barrier-line.ts'
import { ReplicaCount } from '../replicas/replica-count.ts'
import { replicationOf, unlessWithheld } from '../replicas/replication.ts'
import {
  type Command,
  ConnectionError,
  type Progress,
  type Reply,
  ReplyError,
} from './connections.ts'
import { OpenLink, type Resolve } from './open-link.ts'
import { Subscriptions } from './subscriptions.ts'

/** How long replicas have to report, if they cannot be counted in any other way, in milliseconds. */
const countMs = 300

/** One primary: its connections for commands, for barriers, and for messages. */
export class Server {
  /** Changes with every process that takes its place; see `Connections.primaryOf`. */
  id = ''
  /** Called when {@link Server.id} has changed. */
  onChange: () => void = () => {}
  /** Called when the connection has ended, and when an attempt to open one has failed. */
  onFailure: () => void = () => {}
  readonly barrier: BarrierLine
  readonly replicas: ReplicaCount = new ReplicaCount()
  readonly subscriptions: Subscriptions
  readonly #link: OpenLink
  /** Its id in a cluster, otherwise ''. */
  readonly name: string
  readonly #options: LinkOptions
  #opened = 0
  /** How often the process was found to have been a replica in between. */
  #demotions = 0
  /** The state of the server at the last look. */
  #seen: { readonly primary: string; readonly history: string; readonly offset: number } | undefined

  /** `name` is its id in a cluster, otherwise ''. */
  constructor(options: LinkOptions, resolve: Resolve, name: string, isSharded: boolean) {
    this.name = name
    this.#options = options
    this.#link = new OpenLink(options, resolve)
    // A server that is away is tried by the connection for commands alone.
    const resolveOnceOpen: Resolve = async (signal) => {
      await this.#link.get()
      return await resolve(signal)
    }
    this.barrier = new BarrierLine(
      this,
      new OpenLink(options, resolveOnceOpen),
      options.environment,
    )
    this.subscriptions = new Subscriptions(this.#link, options, resolveOnceOpen, isSharded)
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

  /** The id of the process, as scripts get it. */
  get runId(): string | undefined {
    return this.link?.runId
  }

  /** Connects, unless it is connected. */
  async connect(): Promise<void> {
    await this.#link.get()
  }

  async send(command: Command): Promise<Reply> {
    const link = this.#link.current ?? (await this.#link.get())
    return await link.send(commandFor(link, command))
  }

  /** Sends two commands right after each other. */
  async sendPair(first: readonly string[], second: Command): Promise<Reply> {
    const link = this.#link.current ?? (await this.#link.get())
    const [, reply] = await Promise.all([link.send(first), link.send(commandFor(link, second))])
    return reply
  }

  /** Counts the replicas, before anything is asked of them. */
  async countReplicas(): Promise<void> {
    try {
      const [, info] = await Promise.all([
        this.send(['WAIT', '0', '0']).catch(unlessWithheld),
        this.send(['INFO', 'replication']).catch(unlessWithheld),
      ])
      // At once, WAIT counts only those that already have what any client has just written.
      const connected =
        replicationOf(info)?.connected ??
        (await this.send(['WAIT', '100', String(countMs)]).catch(unlessWithheld))
      this.#noteReplicas(Number(connected))
    } catch (error) {
      if (!(error instanceof ReplyError)) throw error
      throw new ReplyError(`READONLY the server is a replica: ${error.message}`, { cause: error })
    }
  }

  /** Asks how far the replicas are. `key` is in a slot of this server. */
  async progress(key: string): Promise<Progress> {
    await this.connect()
    const primary = this.id
    try {
      const { following, counted, history, offset, connected } = await this.barrier.look(key)
      if (this.id !== primary) throw new ConnectionError('the primary has changed', false)
      this.#noteReplicas(counted)
      const before = this.#seen
      this.#seen = { primary, history, offset }
      if (before?.primary !== primary) return { primary, following: 0, connected }
      if (history === '' || before.history === history) {
        return { primary, following: following(before.offset), connected }
      }
    } catch (error) {
      if (!(error instanceof ReplyError) || !error.message.includes('replica instances'))
        throw error
    }
    // The process was a replica, and has dropped what the other primary did not have.
    this.demoted()
    throw new ConnectionError('the server was a replica in between', false)
  }

  /** The process is a replica, or was one: what it answered before may be lost. */
  demoted(): void {
    this.#demotions += 1
    if (this.link !== undefined) this.#identify(this.link)
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

  #noteReplicas(connected: number): void {
    this.replicas.note(connected, this.#options.environment.clock.monotonicMs())
  }

  #identify({ runId }: Link): void {
    const id = `${runId ?? `${this.name}#${this.#opened}`}~${this.#demotions}`
    if (id === this.id) return
    const isFirst = this.id === ''
    this.id = id
    if (!isFirst) this.onChange()
  }
}

function commandFor({ runId = '' }: Link, command: Command): readonly string[] {
  return typeof command === 'function' ? command(runId) : command
}
