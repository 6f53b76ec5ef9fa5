import {
  type Ask,
  checkDelay,
  checkNumber,
  checkOneOf,
  delayMsMax,
  SluiceTypeError,
} from '@sluice/core'
import { checkAddOptions } from './add-options.ts'
import type { AddAfterOptions } from './queue.ts'

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

/** Checks a delay, and how it meets what is owed already. */
export function checkAddAfter(
  ms: number,
  options: AddAfterOptions | undefined,
): Pick<Ask, 'delayMs' | 'priority' | 'maxWaitMs'> {
  const delayMs = checkDelay('ms', ms)
  const priority = checkAddOptions(options, ['priority', 'when', 'maxWaitMs'])
  return { delayMs, priority, maxWaitMs: checkMaxWait(options) }
}
