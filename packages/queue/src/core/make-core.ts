import { batchedPart, checkRuntime, directPart } from '#parts'
import type { CheckedOptions } from '../queue/options.ts'
import type { Backend } from './backend.ts'
import { LateBackend } from './late-backend.ts'
import { QueueCore } from './queue-core.ts'

/** The backend for a driver that takes batches. */
function batchedBackend(core: QueueCore): Backend {
  const { loaded } = batchedPart
  if (loaded !== undefined) return new loaded.BatchedBackend(core)
  return new LateBackend(core, async () => {
    const { BatchedBackend } = await batchedPart.get()
    return new BatchedBackend(core)
  })
}

/** The backend for a driver that lives in this process. In a browser, that may open later. */
function directBackend(core: QueueCore): Backend {
  const { loaded, isPresent } = directPart
  if (loaded !== undefined && (isPresent || core.calls.handle.isOpen)) {
    return new loaded.DirectBackend(core)
  }
  return new LateBackend(core, async () => {
    const [{ DirectBackend }] = await Promise.all([directPart.get(), core.calls.open()])
    return new DirectBackend(core)
  })
}

/** Makes the core of a queue object, with the backend that suits its driver. */
export function makeCore<T>(options: CheckedOptions<T>): QueueCore {
  checkRuntime()
  const { driver, leaseMs } = options
  const isDirect = driver.direct !== undefined && leaseMs === Infinity
  // The core never looks into items, so that their type does not matter to it.
  return new QueueCore(options as unknown as CheckedOptions<unknown>, (core) =>
    isDirect ? directBackend(core) : batchedBackend(core),
  )
}
