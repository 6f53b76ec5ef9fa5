import {
  checkFunction,
  checkNumber,
  checkObject,
  checkOneOf,
  concurrencyMax,
  delayMsMax,
  describeValue,
  SluiceTypeError,
} from '@sluice/core'
import { PlainQueue } from '../queue/plain-queue.ts'
import type { WorkerOptions } from './worker.ts'

/** How long a handler may run on after its signal was aborted. */
const abandonMsDefault = 30_000

/** How long the event loop may stand still where there are no leases to renew. */
const blockedMsDefault = 1_000

const optionNames: readonly string[] = [
  'queue',
  'handler',
  'concurrency',
  'timeoutMs',
  'abandonMs',
  'blockedMs',
  'maxFailures',
  'onExhausted',
  'onTerminal',
  'onError',
]

type Optional = 'timeoutMs' | 'maxFailures' | 'onError'

/** The options of a worker after checking. */
export type CheckedWorkerOptions<T> = Pick<WorkerOptions<T>, Optional> & {
  readonly [Name in Exclude<keyof WorkerOptions<T>, Optional | 'queue'>]-?: Exclude<
    WorkerOptions<T>[Name],
    undefined
  >
} & { readonly queue: PlainQueue<T> }

/** Checks the options of a worker, and fills in the defaults. */
export function checkWorkerOptions<T>(options: WorkerOptions<T>): CheckedWorkerOptions<T> {
  checkObject('options', options, optionNames)
  const { queue, concurrency = 1 } = options
  if (!(queue instanceof PlainQueue)) {
    throw new SluiceTypeError(
      'queue',
      `must be a queue of this copy of sluice, with a driver; take the keys of any other in a loop; got ${describeValue(queue)}`,
    )
  }
  checkNumber('concurrency', concurrency, { min: 1, max: concurrencyMax, integer: true })
  const { leaseMs } = queue.checkedOptions
  const { blockedMs = leaseMs === Infinity ? blockedMsDefault : leaseMs / 3 } = options
  checkNumber('blockedMs', blockedMs, { above: 0, max: delayMsMax })
  const { timeoutMs, maxFailures, onError } = options
  const { abandonMs = abandonMsDefault, onExhausted = 'park', onTerminal = 'forget' } = options
  if (timeoutMs !== undefined) checkNumber('timeoutMs', timeoutMs, { above: 0, max: delayMsMax })
  if (maxFailures !== undefined) checkNumber('maxFailures', maxFailures, { min: 1, integer: true })
  if (onError !== undefined) checkFunction('onError', onError)
  if (typeof onExhausted !== 'function') {
    checkOneOf('onExhausted', onExhausted, ['park', 'drop'])
  }
  return {
    queue: queue as PlainQueue<T>,
    concurrency,
    blockedMs,
    handler: checkFunction('handler', options.handler),
    abandonMs: checkNumber('abandonMs', abandonMs, { min: 0, max: delayMsMax }),
    onExhausted,
    onTerminal: checkOneOf('onTerminal', onTerminal, ['done', 'forget', 'park']),
    timeoutMs,
    maxFailures,
    onError,
  }
}
