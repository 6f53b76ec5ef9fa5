export { type MemoryDriverOptions, memoryDriver } from './memory-driver.ts'
export type { ReadyOrder } from './rows/ready-order.ts'
