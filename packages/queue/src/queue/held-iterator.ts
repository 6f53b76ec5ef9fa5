import { nextTurn } from '@sluice/core'
import type { QueueCore } from '../core/queue-core.ts'
import { Waiter, type WaiterGroup } from '../core/waiters.ts'
import type { Held } from '../held/held.ts'
import type { HeldKey, HeldPolicy } from '../held/held-key.ts'

/**
 * How many keys are yielded before the event loop turns. Memory answers at once: without turns, a loop
 * that adds keys again and awaits nothing else would keep timers and signals waiting for ever.
 */
const keysPerTurn = 1_000

/**
 * Yields keys until the queue has ended and no key is held any more: a key that was added again
 * while it was held is ready again when it is given back, and must find an iterator.
 *
 * Going on to the next key finishes nothing. Leaving the loop releases the key it yielded last, if
 * that is unfinished and was not detached, and leaves the queue open. A `next` that waits meanwhile, as
 * that of a stream which is destroyed, ends without a key: the caller would not look at it.
 */
export class HeldIterator<T>
  implements AsyncIterableIterator<Held<T>, undefined, undefined>, WaiterGroup
{
  readonly #core: QueueCore
  readonly #policy: HeldPolicy
  #last: HeldKey<T> | undefined
  #yielded = 0
  isStopping = false

  constructor(core: QueueCore, policy: HeldPolicy) {
    this.#core = core
    this.#policy = policy
  }

  /** Itself, like the iterators of the language: a loop goes on where calls of `next` have ended. */
  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Held<T>, undefined>> {
    this.#yielded += 1
    if (this.#yielded % keysPerTurn === 0) await new Promise<void>(nextTurn)
    while (!this.isStopping) {
      const held =
        this.#core.claimDirect(this.#policy) ??
        (await new Promise<HeldKey<unknown> | undefined>((resolve, reject) => {
          this.#core.wait(Waiter.forGroup(this.#policy, this, resolve, reject), undefined)
        }))
      if (held !== undefined) {
        this.#last = held as HeldKey<T>
        if (!this.isStopping) return { done: false, value: this.#last }
      }
      const { helds, phase, lifecycle } = this.#core
      if (this.isStopping || phase === 'closed' || helds.size === 0) break
      await lifecycle.nextGivenBack()
    }
    return this.return()
  }

  async return(): Promise<IteratorResult<Held<T>, undefined>> {
    this.isStopping = true
    this.#core.dismiss(this)
    const last = this.#last
    if (last?.phase === 'held' && !last.isDetached && !last.isLost) await last.release()
    return { done: true, value: undefined }
  }
}
