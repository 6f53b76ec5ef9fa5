import {
  type Ask,
  batchKeysMax,
  checkDelay,
  checkNumber,
  checkObject,
  checkOneOf,
  checkPriority,
  delayMsMax,
  priorityDefault,
  SluiceTypeError,
} from '@sluice/core'
import type { AddAfterOptions, AddOptions } from './queue.ts'

/** Checks the options of an add; the priority. */
export function checkAddOptions(
  options: AddOptions | undefined,
  known: readonly string[] = ['priority'],
): number {
  if (options === undefined) return priorityDefault
  checkObject('options', options, known)
  return options.priority === undefined
    ? priorityDefault
    : checkPriority('priority', options.priority)
}

/** Checks how many keys a call may take. */
export function checkCount(n: number): number {
  return checkNumber('n', n, { min: 1, max: batchKeysMax, integer: true })
}

/** How long a debounced key can be put off by default: a day. */
const maxWaitMsDefault = 86_400_000

function checkMaxWait(options: AddAfterOptions | undefined): number | undefined {
  const { when = 'earliest', maxWaitMs } = options ?? {}
  if (checkOneOf('when', when, ['earliest', 'latest']) === 'earliest') {
    if (maxWaitMs === undefined) return undefined
    throw new SluiceTypeError('maxWaitMs', "only means something with when: 'latest'")
  }
  if (maxWaitMs === undefined) return maxWaitMsDefault
  return checkNumber('maxWaitMs', maxWaitMs, { min: 0, max: delayMsMax })
}

/** Checks a delay, and how it is merged with a pending run. */
export function checkAddAfter(
  ms: number,
  options: AddAfterOptions | undefined,
): Pick<Ask, 'delayMs' | 'priority' | 'maxWaitMs'> {
  const delayMs = checkDelay('ms', ms)
  if (options === undefined) return { delayMs, priority: priorityDefault, maxWaitMs: undefined }
  const priority = checkAddOptions(options, ['priority', 'when', 'maxWaitMs'])
  return { delayMs, priority, maxWaitMs: checkMaxWait(options) }
}
