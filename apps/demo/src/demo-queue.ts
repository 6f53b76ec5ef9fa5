import { createRateLimitingQueue, type Driver, exponential, type RateLimitingQueue } from 'sluice'

/** Short, so that one can watch a dead worker's key come back. */
const leaseMs = 2_000

/** The queue that all processes of the demo share: one file, one name. */
export function demoQueue(driver: Driver): RateLimitingQueue<string> {
  return createRateLimitingQueue<string>({
    name: 'objects',
    driver,
    leaseMs,
    limiter: exponential({ baseMs: 200, maxMs: 5_000 }),
    onError: (error) => console.error('demo:', error instanceof Error ? error.message : error),
  })
}
