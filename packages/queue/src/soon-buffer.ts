import { addSoonKeysMax, SluiceError } from '@sluice/core'
import { jitteredMs } from './patience.ts'
import { isTrouble } from './trouble.ts'

/** An add that nobody waits for. */
export interface SoonAdd {
  readonly key: string
  run(): Promise<unknown>
}

/** How long to wait between tries to store what was added soon. */
const patience = { first: 50, longest: 5_000 }

/** What the buffer needs of its queue. */
export interface SoonOptions {
  report(error: unknown): void
  pause(ms: number): Promise<void>
}

/**
 * Adds from event handlers, on their way to the store. Bounded; each is tried until it is stored or
 * refused for good.
 */
export class SoonBuffer {
  readonly #options: SoonOptions
  readonly #underWay = new Set<Promise<void>>()
  #isFinal = false

  constructor(options: SoonOptions) {
    this.#options = options
  }

  push(add: SoonAdd): void {
    if (this.#underWay.size >= addSoonKeysMax) {
      this.#options.report(
        new SluiceError(
          'ERR_QUEUE_FULL',
          `cannot keep the add of key ${JSON.stringify(add.key)}: ${addSoonKeysMax} adds are waiting ` +
            'to be stored already; it is dropped',
        ),
      )
      return
    }
    const stored = this.#store(add)
    this.#underWay.add(stored)
    void stored.finally(() => this.#underWay.delete(stored))
  }

  async #store(add: SoonAdd): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        await add.run()
        return
      } catch (error) {
        const isOver = this.#isFinal || !isTrouble(error)
        // Told at the first try and at the last, not at every one of an outage.
        if (tries === 1 || isOver) this.#options.report(error)
        if (isOver) return
        await this.#options.pause(jitteredMs(tries, patience))
      }
    }
  }

  /** Resolves when everything that was pushed is stored, or has failed once more. */
  async flush(): Promise<void> {
    this.#isFinal = true
    while (this.#underWay.size > 0) await Promise.all(this.#underWay)
  }
}
