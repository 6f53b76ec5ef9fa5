import { closest } from '@sluice/core'
import type { Inspect, StoreInspection } from 'sluice'
import { notFoundError } from '../command-error.ts'
import type { Context } from '../context.ts'
import { shown } from '../output/escape.ts'

/**
 * A queue that the command line names. Throws if the store does not know it, unless `--force` is
 * given: a typing error must neither make a queue nor pass for an empty one.
 */
export async function knownQueue(
  { input }: Pick<Context, 'input'>,
  inspection: StoreInspection,
  queue: string,
): Promise<Inspect> {
  if (!input.flag('force') && inspection.capabilities.queues) {
    const names = await inspection.queues()
    if (!names.includes(queue)) throw notFoundError(unknownQueue(queue, names))
  }
  return inspection.queue(queue)
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
