import {
  checkDelay,
  checkPriority,
  describeValue,
  SluiceError,
  SluiceTypeError,
} from '@sluice/core'

/** A result of a handler as it may come, also against its type. */
interface Returned {
  readonly priority?: unknown
  readonly requeue?: unknown
  readonly requeueAfterMs?: unknown
}

/** How a run that succeeded ends. */
export type RunEnd =
  | { readonly as: 'done' }
  | { readonly as: 'requeue'; readonly priority: number }
  | { readonly as: 'requeue_after'; readonly priority: number; readonly delayMs: number }

/**
 * Reads the result of a handler, by the rules of controller-runtime: a delay above zero wins over
 * `requeue`, and one that is not above zero means the same as a `requeue` of false: the key is done. Throws
 * for a result that means nothing, or that cannot be read. `own` is the priority that the key has.
 */
export function readHandlerResult(result: unknown, own: number): RunEnd {
  let details = {}
  try {
    const end = endOf(result as Returned | null, own)
    if (end !== undefined) return end
  } catch (cause) {
    if (SluiceError.is(cause)) throw cause
    details = { cause }
  }
  throw new SluiceTypeError(
    'handler(item)',
    'must return nothing, { requeueAfterMs } or { requeue }, with or without priority; got ' +
      describeValue(result),
    details,
  )
}

function endOf(result: Returned | null, own: number): RunEnd | undefined {
  if (result === null) return { as: 'done' }
  // A result that is not an object has none of these.
  const { priority: wish = own, requeue, requeueAfterMs: ms } = result
  const priority = checkPriority('handler(item).priority', wish)
  const isAtOnce = ms === undefined || ms === -Infinity
  const delayMs = isAtOnce ? ms : checkDelay('handler(item).requeueAfterMs', ms)
  if (delayMs !== undefined && delayMs > 0) return { as: 'requeue_after', priority, delayMs }
  if (requeue === true) return { as: 'requeue', priority }
  // A delay that is not above zero means the same as a requeue of false.
  return (requeue ?? delayMs === undefined) === false ? { as: 'done' } : undefined
}
