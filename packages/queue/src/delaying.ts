import { type AddOutcome, checkNumber, checkOneOf, delayMsMax, SluiceTypeError } from '@sluice/core'
import { checkAddOptions, checkMs, PlainQueue } from './plain-queue.ts'
import type { AddAfterOptions, DelayingQueue } from './queue.ts'

/** How long a debounced key can be put off unless something else is said: a day. */
const maxWaitMsDefault = 86_400_000

function checkMaxWait(options: AddAfterOptions | undefined): number | undefined {
  const when = checkOneOf('options.when', options?.when ?? 'earliest', ['earliest', 'latest'])
  const maxWaitMs = options?.maxWaitMs
  if (when === 'earliest') {
    if (maxWaitMs === undefined) return undefined
    throw new SluiceTypeError('options.maxWaitMs', "only means something with when: 'latest'")
  }
  return checkNumber('options.maxWaitMs', maxWaitMs ?? maxWaitMsDefault, {
    min: 0,
    max: delayMsMax,
  })
}

/** The second layer: adds for later. */
export class Delaying<T> extends PlainQueue<T> implements DelayingQueue<T> {
  addAfter(item: T, ms: number, options?: AddAfterOptions): Promise<AddOutcome> {
    try {
      const delayMs = checkMs(ms)
      const priority = checkAddOptions(options, ['priority', 'when', 'maxWaitMs'])
      const maxWaitMs = checkMaxWait(options)
      return this.ask(item, { priority, delayMs, maxWaitMs }, true)
    } catch (error) {
      return Promise.reject(error)
    }
  }
}
