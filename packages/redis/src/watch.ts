import { type Connections, ReplyError } from './connection/connections.ts'
import { storeError } from './connection/errors.ts'
import type { Layout } from './rows/layout.ts'
import type { Store } from './store.ts'

type OnWake = (queue: string | undefined) => void
type Unsubscribe = () => Promise<void>

/**
 * Wakes the workers that watch, after a message of a script that made a key due earlier than waiting
 * processes know. On one primary all queues share a channel; in a cluster each has its own.
 */
export class Watch {
  readonly #connections: Connections
  readonly #layout: Layout
  readonly #id: string
  readonly #watchers: Set<OnWake> = new Set()
  readonly #subscriptions: Map<string, Promise<Unsubscribe>> = new Map()

  constructor({ connections, layout, id }: Store) {
    this.#connections = connections
    this.#layout = layout
    this.#id = id
  }

  /** This process has changed a queue; its own messages are ignored. */
  wake(queue: string | undefined): void {
    for (const watcher of this.#watchers) watcher(queue)
  }

  /**
   * To be called before a claim or tick of a queue: from its reply on, messages arrive. That is why the
   * first subscription wakes no worker.
   */
  async use(queue: string): Promise<void> {
    if (this.#watchers.size === 0) return
    await this.#subscribe(this.#layout.of(queue).channel)
  }

  /**
   * From now on `onWake` is called. Returns a function that ends that. Rejects if the user may not
   * subscribe: then this process still notices its own changes, and finds those of others when it polls.
   */
  async watch(onWake: OnWake): Promise<Unsubscribe> {
    const each: OnWake = (queue) => onWake(queue)
    this.#watchers.add(each)
    // In a cluster nothing arrives there, but whether the user may subscribe is known at once.
    const error = await this.#subscribe(this.#layout.of('').channel)
    if (error instanceof ReplyError && error.isWithheld) throw storeError(error)
    return async () => {
      this.#watchers.delete(each)
      if (this.#watchers.size === 0) this.stop()
    }
  }

  /** Ends all subscriptions, without a wait for the server: one that is silent would hold up a close. */
  stop(): void {
    for (const subscription of this.#subscriptions.values()) {
      subscription.then((unsubscribe) => unsubscribe()).catch(() => {})
    }
    this.#subscriptions.clear()
  }

  /** Returns the error if it fails. */
  async #subscribe(channel: string): Promise<unknown> {
    const known = this.#subscriptions.get(channel)
    let isFirst = true
    const subscription =
      known ??
      this.#connections.subscribe(channel, {
        onMessage: (message) => this.#onMessage(message),
        onGap: () => {
          if (!isFirst) this.wake(undefined)
        },
      })
    this.#subscriptions.set(channel, subscription)
    try {
      await subscription
      isFirst = false
      return undefined
    } catch (error) {
      // The next claim or tick of the queue subscribes again; until then, queues poll. A watch that has begun since
      // has a subscription of its own.
      if (this.#subscriptions.get(channel) === subscription) this.#subscriptions.delete(channel)
      return error
    }
  }

  /** A message is the name of the process that sent it, and the queue. */
  #onMessage(message: string): void {
    const end = message.indexOf(' ')
    if (message.slice(0, end) !== this.#id) this.wake(message.slice(end + 1))
  }
}
