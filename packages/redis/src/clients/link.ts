import type { Timer } from '@sluice/core'
import type { Environment } from '@sluice/core/driver'
import { ConnectionError, type Reply, ReplyError } from '../connection/connections.ts'
import { replyError } from '../connection/errors.ts'

/** A server's host and port, or the path of its socket. */
export type Address = { readonly host: string; readonly port: number } | { readonly path: string }

/** The events of a client of a library. */
export interface ClientEvents {
  /** It begins to open a connection, which `destroy` ends at once, open or not. */
  onMade(destroy: () => void): void
  /** The connection has ended. It is not opened again. */
  onClose(cause: unknown): void
  /** The server has ended a subscription: its slot has moved. */
  onUnsubscribed(): void
}

/** One connection of a client library, which never reconnects and sends nothing twice. */
export interface LibraryClient {
  /** Whether commands may be sent while it is subscribed. */
  readonly isShareable: boolean
  send(command: readonly string[]): Promise<unknown>
  subscribe(channel: string, isSharded: boolean, onMessage: (text: string) => void): Promise<void>
  unsubscribe(channel: string, isSharded: boolean): Promise<void>
  /** Whether it keeps the process alive. */
  hold(isHeld: boolean): void
}

/** Opens a connection; without an address, to the one that the client was configured for. */
export type OpenClient = (
  address: Address | undefined,
  events: ClientEvents,
) => Promise<LibraryClient>

/** How connections are opened. */
export interface LinkOptions {
  readonly environment: Environment
  /** How long a server may be silent while a reply is awaited, in milliseconds. */
  readonly timeoutMs: number
  readonly openClient: OpenClient
}

/** One connection to one process of Redis. It ends with the connection, and another takes its place. */
export class Link {
  /** The id of the server's process; undefined if the user may not read it. */
  runId: string | undefined
  /** Called once, when the connection has ended. */
  onClose: () => void = () => {}
  onUnsubscribed: () => void = () => {}
  readonly #timeoutMs: number
  readonly #timer: Timer
  #client: LibraryClient | undefined
  #destroy: () => void = () => {}
  #cause: unknown
  #isClosed = false
  #inFlight = 0
  #replies = 0
  #repliesBefore = 0
  #isSuspect = false

  private constructor({ environment, timeoutMs }: LinkOptions) {
    this.#timeoutMs = timeoutMs
    this.#timer = environment.clock.startTimer(timeoutMs, () => this.#checkProgress())
    this.#timer.stop()
  }

  /** Opens a connection, and reads which process it leads to. `onBegin` may keep it, and close it before. */
  static async open(
    options: LinkOptions,
    address?: Address,
    onBegin?: (link: Link) => void,
  ): Promise<Link> {
    const link = new Link(options)
    onBegin?.(link)
    link.#count(1)
    try {
      const opening = options.openClient(address, {
        onMade: (destroy) => {
          link.#destroy = destroy
        },
        onClose: (cause) => link.close(cause),
        onUnsubscribed: () => link.onUnsubscribed(),
      })
      const closed = new Promise<never>((_, reject) => {
        link.onClose = () => reject(link.#cause)
      })
      link.#client = await Promise.race([opening, closed])
      link.onClose = () => {}
      link.#client.hold(true)
      link.runId = await link.#readRunId()
      return link
    } catch (error) {
      const cause = withoutArguments(error)
      link.close(cause)
      throw new ConnectionError(`no connection${whyNone(cause, address)}`, false, cause)
    } finally {
      link.#count(-1)
    }
  }

  get isOpen(): boolean {
    return !this.#isClosed
  }

  get isShareable(): boolean {
    return this.#client?.isShareable ?? false
  }

  /** Sends a command. Rejects with a `ReplyError` or a `ConnectionError`. */
  async send(command: readonly string[]): Promise<Reply> {
    const client = this.#client
    if (client === undefined || this.#isClosed) throw this.#lost(false)
    this.#count(1)
    try {
      return (await client.send(command)) as Reply
    } catch (error) {
      throw replyError(error) ?? this.#lost(true, error)
    } finally {
      this.#count(-1)
    }
  }

  async subscribe(
    channel: string,
    isSharded: boolean,
    onMessage: (text: string) => void,
  ): Promise<void> {
    await this.#subscription((client) => client.subscribe(channel, isSharded, onMessage))
  }

  async unsubscribe(channel: string, isSharded: boolean): Promise<void> {
    await this.#subscription((client) => client.unsubscribe(channel, isSharded))
  }

  /** Ends the connection at once; replies that are awaited do not arrive. */
  close(cause: unknown = new Error('the connection was closed')): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#cause = cause
    this.#timer.stop()
    this.#destroy()
    this.onClose()
  }

  async #subscription(change: (client: LibraryClient) => Promise<void>): Promise<void> {
    const client = this.#client
    if (client === undefined || this.#isClosed) throw this.#lost(false)
    this.#count(1)
    try {
      await change(client)
    } catch (error) {
      throw replyError(error) ?? this.#lost(false, error)
    } finally {
      this.#count(-1)
    }
  }

  async #readRunId(): Promise<string | undefined> {
    try {
      const text = String(await this.#client?.send(['INFO', 'server']))
      return /^run_id:(\w+)/m.exec(text)?.[1]
    } catch (error) {
      const reply = replyError(error)
      if (reply === undefined) throw error
      if (!reply.isWithheld) throw reply
      return undefined
    }
  }

  #lost(wasSent: boolean, error?: unknown): ConnectionError {
    const cause = this.#cause ?? error
    return new ConnectionError(`the connection has ended: ${messageOf(cause)}`, wasSent, cause)
  }

  #count(change: 1 | -1): void {
    this.#inFlight += change
    if (change < 0) this.#replies += 1
    if (this.#isClosed) return
    const isBusy = this.#inFlight > 0
    if (this.#inFlight > 1 || (change < 0 && isBusy)) return
    this.#client?.hold(isBusy)
    if (isBusy) this.#watch()
    else this.#timer.stop()
  }

  #watch(): void {
    this.#repliesBefore = this.#replies
    this.#isSuspect = false
    this.#timer.reset(this.#timeoutMs / 2)
  }

  #checkProgress(): void {
    if (this.#replies > this.#repliesBefore) this.#watch()
    else if (this.#isSuspect) {
      this.close(new Error(`the server was silent for ${this.#timeoutMs} ms`))
    } else {
      // Where the process itself was held up, timers fire before the replies that have come are read.
      this.#isSuspect = true
      this.#timer.reset(this.#timeoutMs / 2)
    }
  }
}

/**
 * The error of connecting without the arguments of the command, one of which is the password: a server repeats them
 * where it does not know the command, and ioredis adds the command to each error.
 */
function withoutArguments(error: unknown): unknown {
  const reply = replyError(error)
  if (reply === undefined) return error
  return new ReplyError(reply.message.replace(/, with args beginning with: .*/s, ''))
}

/** Why there is no connection, and to what, unless only the user's client knows that. */
function whyNone(error: unknown, address: Partial<Address> = {}): string {
  const [why, to] = [messageOf(error), Object.values(address).join(':')]
  return why.includes(to) ? `: ${why}` : ` to ${to}: ${why}`
}

/** Not by `instanceof`: in a test of Jest, errors of Node are of another realm. */
export function messageOf(error: unknown): string {
  const { errors, message } = Object(error) as Partial<AggregateError>
  if (Array.isArray(errors) && errors.length > 0) {
    return [...new Set(errors.map(messageOf))].join('; ')
  }
  return typeof message === 'string' ? message : String(error)
}
