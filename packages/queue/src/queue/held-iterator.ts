import type { QueueCore } from '../core/queue-core.ts'
import { Waiter } from '../core/waiters.ts'
import type { Held } from '../held/held.ts'
import type { HeldKey, HeldPolicy } from '../held/held-key.ts'

/**
 * Yields keys until the queue has ended and no key is held any more: a key that was added again
 * while it was held is ready again when it is given back, and must find an iterator.
 *
 * Going on to the next key finishes nothing. Leaving the loop releases the key it yielded last, if
 * that is unfinished and was not detached, and leaves the queue open.
 */
export class HeldIterator<T> implements AsyncIterator<Held<T>, undefined, undefined> {
  readonly #core: QueueCore
  readonly #policy: HeldPolicy
  #last: HeldKey<T> | undefined
  #isOver = false

  constructor(core: QueueCore, policy: HeldPolicy) {
    this.#core = core
    this.#policy = policy
  }

  async next(): Promise<IteratorResult<Held<T>, undefined>> {
    while (!this.#isOver) {
      const held = this.#core.claimDirect(this.#policy) ?? (await this.#wait())
      if (held !== undefined) {
        this.#last = held as HeldKey<T>
        return { done: false, value: this.#last }
      }
      const { helds, phase, lifecycle } = this.#core
      if (phase === 'closed' || helds.size === 0) break
      await lifecycle.nextGivenBack()
    }
    this.#isOver = true
    return { done: true, value: undefined }
  }

  #wait(): Promise<HeldKey<unknown> | undefined> {
    return new Promise((resolve, reject) => {
      this.#core.wait(Waiter.forOne(this.#policy, undefined, resolve, reject), undefined)
    })
  }

  async return(): Promise<IteratorResult<Held<T>, undefined>> {
    this.#isOver = true
    const last = this.#last
    this.#last = undefined
    if (last !== undefined && last.phase === 'held' && !last.isDetached && !last.isLost) {
      await last.release()
    }
    return { done: true, value: undefined }
  }
}
