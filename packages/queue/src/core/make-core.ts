import { BatchedBackend } from '../batched/batched-backend.ts'
import type { CheckedOptions } from '../queue/options.ts'
import { DirectBackend } from './direct-backend.ts'
import { QueueCore } from './queue-core.ts'

/** Makes the core of a queue object, with the backend that suits its driver. */
export function makeCore<T>(options: CheckedOptions<T>): QueueCore {
  const { driver, leaseMs } = options
  const isDirect = driver.direct !== undefined && leaseMs === Infinity
  // The core never looks into items, so that their type does not matter to it.
  return new QueueCore(options as unknown as CheckedOptions<unknown>, (core) =>
    isDirect ? new DirectBackend(core) : new BatchedBackend(core),
  )
}
