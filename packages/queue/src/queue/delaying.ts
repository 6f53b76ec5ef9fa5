import type { AddOutcome } from '@sluice/core'
import { checkAddAfter } from './add-after-options.ts'
import { PlainQueue } from './plain-queue.ts'
import type { AddAfterOptions, DelayingQueue } from './queue.ts'

/** The second layer: adds for later. */
export class Delaying<T> extends PlainQueue<T> implements DelayingQueue<T> {
  addAfter(item: T, ms: number, options?: AddAfterOptions): Promise<AddOutcome> {
    try {
      const { delayMs, maxWaitMs, priority } = checkAddAfter(ms, options)
      return this.ask(item, { key: '', item: undefined, priority, delayMs, maxWaitMs }, true)
    } catch (error) {
      return Promise.reject(error)
    }
  }
}
