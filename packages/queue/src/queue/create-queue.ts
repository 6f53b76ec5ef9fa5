import { makeCore } from '../core/make-core.ts'
import { releasePolicy } from './limiter-in-queue.ts'
import { checkQueueOptions, givenOptions, type JsonChecked, type QueueOptions } from './options.ts'
import { PlainQueue } from './plain-queue.ts'
import type { Queue } from './queue.ts'

/** Makes a queue in memory. */
export function createQueue<T = string>(
  ...none: unknown extends JsonChecked<T> ? [] : [JsonChecked<T>]
): Queue<T>
/**
 * Makes a queue: add, get, done. Nothing is opened until it is used.
 *
 * Throws for bad options only.
 */
export function createQueue<T = string>(options: QueueOptions<T> & JsonChecked<T>): Queue<T>
export function createQueue<T = string>(...args: [QueueOptions<T>?]): Queue<T> {
  const checked = checkQueueOptions<T>(givenOptions(args))
  const core = makeCore(checked)
  return new PlainQueue<T>(checked, core, releasePolicy(checked, core))
}
