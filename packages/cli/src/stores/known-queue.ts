import { closest, keyStateWords, SluiceError } from '@sluice/core'
import type { Inspect, StoreInspection } from 'sluice'
import { notFoundError } from '../command-error.ts'
import type { Context } from '../context.ts'
import { shown } from '../output/escape.ts'

/** A queue that the command line names, if {@link refuseUnknown} lets it pass. */
export async function knownQueue(
  context: Pick<Context, 'input'>,
  inspection: StoreInspection,
  queue: string,
): Promise<Inspect> {
  await refuseUnknown(context, inspection, [queue])
  return inspection.queue(queue)
}

/**
 * Throws if the store does not know one of the queues that the command line names, unless `--force`
 * is given: a typing error must neither make a queue nor pass for an empty one.
 */
export async function refuseUnknown(
  { input }: Pick<Context, 'input'>,
  inspection: StoreInspection,
  queues: readonly string[],
): Promise<void> {
  if (queues.length === 0 || input.flag('force') || !inspection.capabilities.queues) return
  // A store may have a hundred thousand queues, which Redis reads one by one.
  const isSeen = await Promise.all(queues.map((queue) => isInUse(inspection, queue)))
  const unsure = queues.filter((_, at) => isSeen[at] === false)
  if (unsure.length === 0) return
  const names = await inspection.queues()
  const unknown = unsure.find((queue) => !names.includes(queue))
  if (unknown !== undefined) throw notFoundError(unknownQueue(unknown, names))
}

/** Whether a queue has keys or is paused. Others may be known for their workers. */
async function isInUse(inspection: StoreInspection, queue: string): Promise<boolean> {
  try {
    const counts = await inspection.queue(queue).counts({ cap: 1 })
    return counts.paused || keyStateWords.some((word) => counts[word] > 0)
  } catch (error) {
    // It is there, and the command says what is wrong, or repairs it.
    if (isOfDamage(error)) return true
    throw error
  }
}

/** Whether an error may be that of one queue, and does not pass without a repair. */
export function isOfDamage(error: unknown): error is SluiceError {
  return SluiceError.is(error, 'ERR_STORE_DAMAGED') || SluiceError.is(error, 'ERR_SCHEMA_NEWER')
}

function unknownQueue(queue: string, names: readonly string[]): string {
  const near = closest(queue, names)
  const advice =
    near === undefined ? '`sluice queues` lists those there are' : `did you mean ${shown(near)}?`
  return (
    `there is no queue ${shown(queue)}: none of that name has keys, is paused or has workers; ` +
    `${advice} (--force goes on without one)`
  )
}
