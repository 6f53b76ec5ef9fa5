import { fakeClock } from '@sluice/core/testing'
import { createRateLimitingQueue, exponential, memoryDriver } from '../../src/index.ts'

/** The ends of titles, and the leases of the queues. */
export const leases = [
  ['without a lease', Infinity],
  ['with leases', 30_000],
] as const

/** A queue in memory whose clock is stepped, and how its keys and errors are seen. */
export function setUp(leaseMs: number) {
  const clock = fakeClock()
  const driver = memoryDriver()
  const errors: unknown[] = []
  const queue = createRateLimitingQueue<string>({
    name: 'orders',
    driver,
    clock,
    leaseMs,
    limiter: exponential({ baseMs: 10, maxMs: 1_000 }),
    onError: (error) => errors.push(error),
  })
  const row = async (key: string) =>
    (await driver.list('orders', { keys: [key], limit: 1 })).rows[0]
  return { clock, driver, queue, errors, row }
}
