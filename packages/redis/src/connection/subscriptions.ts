import type { Ticker } from '@sluice/core'
import type { Link, LinkOptions } from '../clients/link.ts'
import { ReplyError, type Subscription } from './connections.ts'
import { OpenLink, type Resolve } from './open-link.ts'

/** How often a connection that only receives messages is asked for a sign of life, in milliseconds. */
const pingMs = 60_000

interface Channel {
  readonly all: Set<Subscription>
  /** The same for every connection: a client that subscribes twice calls it once. */
  readonly listener: (message: string) => void
}

/**
 * The channels of one server. Their messages come over the connection for commands where that is
 * possible, since its replies prove that messages would arrive; otherwise over one of their own, which
 * has to be asked.
 */
export class Subscriptions {
  /** Called when the server has ended a subscription, because it no longer has the slot. */
  onMoved: () => void = () => {}
  readonly #main: OpenLink
  readonly #options: LinkOptions
  readonly #resolve: Resolve
  readonly #isSharded: boolean
  readonly #channels = new Map<string, Channel>()
  /** Subscriptions that the server has been asked to end. */
  readonly #ending = new Map<string, Promise<void>>()
  #own: OpenLink | undefined
  /** The server has ended subscriptions, and does not say of which channels. */
  #hasLost = false
  #ticker: Ticker | undefined

  constructor(main: OpenLink, options: LinkOptions, resolve: Resolve, isSharded: boolean) {
    this.#main = main
    this.#options = options
    this.#resolve = resolve
    this.#isSharded = isSharded
    main.onUnsubscribed = () => this.#lost()
  }

  /** Resolves when the messages of the channel arrive. */
  async add(channel: string, subscription: Subscription): Promise<void> {
    const isNew = this.#register(channel, subscription)
    if (!isNew) return
    try {
      const link = await this.#carrier()
      await this.#subscribe(link, channel)
    } catch (error) {
      this.#channels.delete(channel)
      throw error
    }
  }

  /** Takes over a subscription from another server: it begins as soon as this one can be reached. */
  adopt(channel: string, subscription: Subscription): void {
    this.#register(channel, subscription)
    const link = this.#main.current
    if (link !== undefined) this.mainOpened(link)
  }

  async remove(channel: string, subscription: Subscription): Promise<void> {
    const known = this.#channels.get(channel)
    known?.all.delete(subscription)
    if (known === undefined || known.all.size > 0) return
    this.#channels.delete(channel)
    const link = this.#own?.current ?? this.#main.current
    if (link === undefined) return
    // A connection that has ended has no subscription left.
    const ending = link.unsubscribe(channel, this.#isSharded).catch(() => {})
    this.#ending.set(channel, ending)
    await ending
    if (this.#ending.get(channel) === ending) this.#ending.delete(channel)
  }

  /** The connection for commands was opened again. */
  mainOpened(link: Link): void {
    if (this.#isCarriedBy(link)) this.#subscribeAll(link)
    else if (this.#own?.current !== undefined) this.#subscribeAll(this.#own.current)
    else if (this.#own !== undefined) this.#own.openNow()
    else if (this.#channels.size > 0) this.#carrier().catch(() => {})
  }

  /** The channels that are still here are subscribed again: their slot may have come back meanwhile. */
  restore(): void {
    if (!this.#hasLost) return
    this.#hasLost = false
    const link = this.#own?.current ?? this.#main.current
    // Without a connection, the next one subscribes.
    if (link !== undefined) this.#subscribeAll(link)
  }

  close(): void {
    this.#ticker?.stop()
    this.#own?.close()
    this.#channels.clear()
  }

  /** Whether nothing was subscribed to the channel before. */
  #register(channel: string, subscription: Subscription): boolean {
    const known = this.#channels.get(channel)
    if (known !== undefined) {
      known.all.add(subscription)
      return false
    }
    const all = new Set([subscription])
    const listener = (message: string): void => {
      for (const { onMessage } of all) onMessage(message)
    }
    this.#channels.set(channel, { all, listener })
    return true
  }

  /** node-redis does not notice the end of a subscription by the server while it waits for a reply. */
  #isCarriedBy(main: Link): boolean {
    return main.isShareable && !this.#isSharded
  }

  async #carrier(): Promise<Link> {
    const main = await this.#main.get()
    if (this.#isCarriedBy(main)) return main
    if (this.#own === undefined) {
      const own = new OpenLink(this.#options, this.#resolve)
      own.onOpen = (link) => this.#subscribeAll(link)
      own.onUnsubscribed = () => this.#lost()
      this.#own = own
      this.#ticker = this.#options.environment.clock.startTicker(pingMs, () => {
        if (this.#channels.size > 0) own.current?.send(['PING']).catch(() => {})
      })
    }
    return await this.#own.get()
  }

  /** Messages may have been missed until now. */
  #subscribeAll(link: Link): void {
    for (const [channel, { all }] of this.#channels) {
      const report = (): void => {
        for (const { onGap } of all) onGap()
      }
      // If it fails, the connection has ended, and the next one subscribes; or the slot has moved.
      this.#subscribe(link, channel).then(report, (error: unknown) => {
        this.#hasLost = true
        // Any other refusal would be repeated at once, again and again.
        if (error instanceof ReplyError && error.code === 'MOVED') this.onMoved()
      })
    }
  }

  #lost(): void {
    this.#hasLost = true
    this.onMoved()
  }

  async #subscribe(link: Link, channel: string): Promise<void> {
    // Until the reply, a client takes the channel for subscribed, and sends nothing.
    while (this.#ending.has(channel)) await this.#ending.get(channel)
    const known = this.#channels.get(channel)
    if (known !== undefined) await link.subscribe(channel, this.#isSharded, known.listener)
  }
}
