import type { Awaitable } from '@sluice/core'
import type { QueueCore } from '../../core/queue-core.ts'
import { isPermanent } from '../../driver/retryable.ts'

/**
 * Repeats a call through transient errors until the store answers, spaced after the first time; rejects
 * with them once the queue is closed.
 */
export async function untilAnswered<R>(
  core: QueueCore,
  call: () => Awaitable<R>,
  isOver: () => boolean = () => core.phase === 'closed',
  again: () => Awaitable<R> = () => core.calls.attempt(call, core.calls.options.ref),
): Promise<R> {
  for (let send = call; ; send = again) {
    try {
      return await send()
    } catch (error) {
      if (isOver() || isPermanent(error)) throw error
      core.calls.reportTrouble(error)
    }
  }
}
