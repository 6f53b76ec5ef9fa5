import {
  type Ask,
  checkDelay,
  checkNumber,
  checkOneOf,
  delayMsMax,
  SluiceTypeError,
} from '@sluice/core'
import { checkAddOptions } from './check-add.ts'
import type { AddAfterOptions } from './queue.ts'

/** How long a debounced key can be put off unless something else is said: a day. */
const maxWaitMsDefault = 86_400_000

function checkMaxWait(options: AddAfterOptions | undefined): number | undefined {
  const { when = 'earliest', maxWaitMs } = options ?? {}
  if (checkOneOf('options.when', when, ['earliest', 'latest']) === 'earliest') {
    if (maxWaitMs === undefined) return undefined
    throw new SluiceTypeError('options.maxWaitMs', "only means something with when: 'latest'")
  }
  if (maxWaitMs === undefined) return maxWaitMsDefault
  return checkNumber('options.maxWaitMs', maxWaitMs, { min: 0, max: delayMsMax })
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
