import type { QueueFactories } from '@sluice/conformance'
import { createDelayingQueue, createQueue, createRateLimitingQueue, createWorker } from 'sluice'

/** The factories of the public queue, as the suite takes them. */
export const factories = {
  createQueue,
  createDelayingQueue,
  createRateLimitingQueue,
  createWorker,
} as unknown as QueueFactories
