import type { FakeClock } from '@sluice/core/testing'
import { type MovedQueue, type MoveQueuesOptions, moveQueues } from 'sluice/transfer'

/**
 * Moves queues, and steps the clock of their source while the move waits, no further than it must: on a busy machine
 * a server may not answer in time, and the move then tries again a little later.
 */
export async function move(
  clock: FakeClock,
  options: MoveQueuesOptions,
): Promise<readonly MovedQueue[]> {
  const timers = clock.waiters()
  let isOver = false
  const moving = moveQueues(options).finally(() => {
    isOver = true
  })
  while (!isOver) {
    await Promise.race([moving, clock.waitForWaiters(timers + 1)])
    if (!isOver) await clock.step(Math.max(0, (clock.nextAt() ?? 0) - clock.now()))
  }
  return await moving
}
