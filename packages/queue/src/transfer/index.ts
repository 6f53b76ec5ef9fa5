/**
 * Moves queues between stores, writes them as lines of JSON, and reads them back.
 *
 * @packageDocumentation
 */
export { exportQueue } from './export-queue.ts'
export { type ImportResult, importQueue } from './import-queue.ts'
export { type MovedQueue, type MoveQueuesOptions, moveQueues } from './move-queues.ts'
