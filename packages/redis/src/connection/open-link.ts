import type { Timer } from '@sluice/core'
import type { Environment } from '@sluice/core/driver'
import { type Address, Link, type LinkOptions, messageOf } from '../clients/link.ts'
import { ConnectionError, closedMeanwhile } from './connections.ts'

/**
 * The time between two attempts to connect, in milliseconds: none after a connection has ended, then the first,
 * then the second for as long as it takes.
 */
const restMinMs = 500
const restMaxMs = 1_000

/**
 * Where a server is; undefined for the one that the client was configured for. The signal ends the connections over
 * which that is asked.
 */
export type Resolve = (signal: AbortSignal) => Promise<Address | undefined>

/** Keeps one connection to an address open: after one has ended, it opens another. */
export class OpenLink {
  /** Called when a connection has been opened, the first one too. */
  onOpen: (link: Link) => void = () => {}
  /** Called when the connection has ended, and when an attempt to open one has failed. */
  onFailure: () => void = () => {}
  onUnsubscribed: () => void = () => {}
  readonly #options: LinkOptions
  readonly #resolve: Resolve
  readonly #environment: Environment
  #link: Link | undefined
  #opening: Promise<Link> | undefined
  /** The connection that is being opened. */
  #attempted: Link | undefined
  #error: unknown
  #restMs = 0
  #timer: Timer | undefined
  readonly #closed = new AbortController()

  constructor(options: LinkOptions, resolve: Resolve) {
    this.#options = options
    this.#resolve = resolve
    this.#environment = options.environment
  }

  get #isClosed(): boolean {
    return this.#closed.signal.aborted
  }

  /** The open connection, if there is one. */
  get current(): Link | undefined {
    return this.#link
  }

  /**
   * The open connection, or the one that is being opened. Between two attempts it rejects at once, so
   * that nothing is queued while the server is away.
   */
  get(): Promise<Link> {
    if (this.#link !== undefined) return Promise.resolve(this.#link)
    if (this.#opening !== undefined) return this.#opening
    if (this.#isClosed) return Promise.reject(new ConnectionError('the driver is closed', false))
    if (this.#timer !== undefined) {
      return Promise.reject(new ConnectionError(messageOf(this.#error), false, this.#error))
    }
    return this.#open()
  }

  /** Ends the rest between two attempts: the server was reached over another connection. */
  openNow(): void {
    if (this.#timer?.stop() === true) this.#open().catch(() => {})
  }

  /** Gives up the connection, since the server is no longer the right one, and opens another. */
  replace(cause: unknown): void {
    this.#link?.close(cause)
  }

  close(): void {
    this.#closed.abort()
    this.#timer?.stop()
    this.#attempted?.close()
    this.#link?.close()
  }

  #open(): Promise<Link> {
    this.#timer = undefined
    const opening = this.#attempt()
    this.#opening = opening
    opening
      .catch((error: unknown) => {
        this.#error = error
        this.onFailure()
      })
      .finally(() => {
        this.#opening = undefined
        if (this.#link === undefined) this.#openLater()
      })
    return opening
  }

  async #attempt(): Promise<Link> {
    const address = await this.#resolve(this.#closed.signal)
    // A connection that begins now would be closed by nothing until it is open.
    if (this.#isClosed) throw closedMeanwhile()
    const link = await Link.open(this.#options, address, (begun) => {
      this.#attempted = begun
    })
    if (this.#isClosed) {
      link.close()
      throw closedMeanwhile()
    }
    this.#link = link
    this.#restMs = restMinMs
    link.onClose = () => {
      this.#link = undefined
      this.#error = new Error('the connection has ended')
      this.onFailure()
      // At once, not by a timer: until that fires, what is sent is rejected, such as a command that is repeated.
      this.get().catch(() => {})
    }
    link.onUnsubscribed = () => this.onUnsubscribed()
    this.onOpen(link)
    return link
  }

  #openLater(): void {
    if (this.#isClosed || this.#timer !== undefined || this.#opening !== undefined) return
    const { clock, random } = this.#environment
    const restMs = this.#restMs * (0.75 + random() / 2)
    this.#restMs = Math.min(restMaxMs, Math.max(restMinMs, this.#restMs * 2))
    this.#timer = clock.startTimer(restMs, () => {
      this.#open().catch(() => {})
    })
  }
}
