/**
 * The driver that keeps keys in this process; nothing survives it. Call `memoryDriver` and pass the
 * result to a queue; queues without a `driver` have one. It takes the place of a database in tests, with
 * the same promises except durability. A `ReadyOrder` replaces the order of ready keys.
 *
 * @packageDocumentation
 */

export { type MemoryDriverOptions, memoryDriver } from './memory-driver.ts'
export type { ReadyOrder } from './rows/ready-order.ts'
