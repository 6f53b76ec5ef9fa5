import { SluiceError } from '@sluice/core'
import type { DriverCalls } from '../driver/driver-calls.ts'
import { textOf } from '../environment/environment.ts'
import { giveBack, mayStart } from '../held/give-back.ts'
import type { HeldKey } from '../held/held-key.ts'
import { accepted, type StandardSchema, validate } from '../queue/schema.ts'
import type { Claims } from './backend.ts'
import type { Phase } from './queue-errors.ts'
import type { Waiter, Waiters } from './waiters.ts'

/** The queue object whose items are checked. */
export interface InspectedQueue {
  readonly calls: DriverCalls
  readonly phase: Phase
  readonly waiters: Waiters
  readonly claims: Claims
}

/**
 * Validates items when they are handed out: a stored item may be older than the schema. A key whose
 * item does not match is parked, so that it blocks no other key.
 */
export class ItemInspection {
  readonly #queue: InspectedQueue
  readonly #schema: StandardSchema<unknown>
  readonly #deliveries = new Map<Promise<void>, Waiter>()

  constructor(queue: InspectedQueue, schema: StandardSchema<unknown>) {
    this.#queue = queue
    this.#schema = schema
  }

  /** Hands over the keys whose items match; if none does, the waiter keeps waiting. */
  deliver(waiter: Waiter, helds: HeldKey<unknown>[]): void {
    const delivery = this.#deliver(waiter, helds)
      .catch((error: unknown) => waiter.fail(error))
      .finally(() => this.#deliveries.delete(delivery))
    this.#deliveries.set(delivery, waiter)
  }

  /** The queue closes: answers the waiters whose keys are being checked, which are given back then. */
  dismiss(): void {
    for (const waiter of this.#deliveries.values()) waiter.answer([])
  }

  /** Whether items are being checked. */
  get isBusy(): boolean {
    return this.#deliveries.size > 0
  }

  /** Resolves when the items that are being checked now have been. */
  async answered(): Promise<void> {
    await Promise.all(this.#deliveries.keys())
  }

  async #deliver(waiter: Waiter, helds: HeldKey<unknown>[]): Promise<void> {
    const fitting: HeldKey<unknown>[] = []
    for (const held of helds) {
      if (await this.#fits(held)) fitting.push(held)
    }
    // Checking may have taken long.
    const good = fitting.filter(mayStart)
    const { phase } = this.#queue
    if (waiter.isAborted || phase === 'closing' || phase === 'closed') {
      for (const held of good) void giveBack(held)
      // The abort, or the close, has answered the call of the waiter; the loop of a worker gets this.
      waiter.answer([])
    } else if (good.length > 0) {
      waiter.answer(good)
    } else {
      this.#queue.waiters.addFirst(waiter)
      this.#queue.claims.handOut()
    }
  }

  async #fits(held: HeldKey<unknown>): Promise<boolean> {
    try {
      const { timeoutMs } = this.#queue.calls.options
      held.setItem(accepted(await validate(this.#schema, held.item, timeoutMs)))
      return true
    } catch (cause) {
      const code = SluiceError.is(cause) ? cause.code : 'ERR_INVALID_INPUT'
      // Errors of the library end with their code, as this one will.
      const reason = textOf(cause).replace(` [${code}]`, '')
      const problem = new SluiceError(
        code,
        `cannot hand out key ${JSON.stringify(held.key)}: ${reason}; it was parked`,
        { cause },
      )
      this.#queue.calls.report(problem)
      // Trouble with the store ends neither the waiter nor the keys that came with this one.
      void giveBack(held, () => held.park(problem))
      return false
    }
  }
}
