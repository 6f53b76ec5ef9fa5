import type { Awaitable } from '@sluice/core'
import type { DriverCalls } from '../../driver/driver-calls.ts'
import { isPermanent } from '../../driver/retryable.ts'

/** Repeats a call through transient errors until the store answers; rejects with them once `isOver`. */
export async function untilAnswered<R>(
  calls: DriverCalls,
  call: () => Awaitable<R>,
  isOver: () => boolean,
  again: () => Awaitable<R> = call,
): Promise<R> {
  for (let send = call; ; send = again) {
    try {
      return await send()
    } catch (error) {
      if (isOver() || isPermanent(error)) throw error
      calls.reportTrouble(error)
    }
  }
}
