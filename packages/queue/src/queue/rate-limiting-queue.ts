import { checkObject, type Limiter } from '@sluice/core'
import { defaultControllerLimiter } from '@sluice/limiters'
import type { Engine } from '../core/queue-core.ts'
import { AdaptedRateLimiting, checkAdaptOptions } from '../foreign/adapted-queue.ts'
import { checkQueue } from '../foreign/foreign-queue.ts'
import { isWrapping, type WrapOptions, wrapOptionNames } from './delaying-queue.ts'
import { LimiterInQueue } from './limiter-in-queue.ts'
import {
  type CheckedOptions,
  checkLimiter,
  checkQueueOptions,
  type JsonChecked,
  type QueueOptions,
} from './options.ts'
import { engineFor, PlainQueue } from './plain-queue.ts'
import type { RateLimitingQueue } from './queue.ts'
import { RateLimiting } from './rate-limiting.ts'

/** How a queue that exists is given a limiter. */
export interface WrapLimitedOptions<T> extends WrapOptions<T> {
  /** Default: `defaultControllerLimiter()`. */
  readonly limiter?: Limiter<T>
}

function limited<T>(
  options: CheckedOptions<T>,
  engine: Engine,
  limiter: Limiter<T>,
): RateLimitingQueue<T> {
  const inQueue = new LimiterInQueue(limiter, options.name, engine.plans.failed)
  engine.plans.follow(limiter)
  return new RateLimiting<T>(options, engine, inQueue)
}

/**
 * Makes a queue in which a limiter decides how long failed keys wait, or adds that to a queue there
 * is.
 *
 * Throws for bad options only.
 */
export function createRateLimitingQueue<T = string>(
  options: (QueueOptions<T> | WrapLimitedOptions<T>) & JsonChecked<T>,
): RateLimitingQueue<T> {
  checkObject('options', options)
  if (isWrapping<T>(options)) {
    checkObject('options', options, [...wrapOptionNames, 'limiter'])
    checkAdaptOptions(options)
    const { limiter: given } = options as WrapLimitedOptions<T>
    const limiter =
      given === undefined ? defaultControllerLimiter() : checkLimiter('limiter', given)
    const inner = checkQueue(options.queue)
    if (!(inner instanceof PlainQueue)) {
      return new AdaptedRateLimiting<T>(inner, limiter, options)
    }
    const { checkedOptions, engine } = inner as PlainQueue<T>
    return limited(checkedOptions, engine, given ?? checkedOptions.limiter ?? limiter)
  }
  const checked = checkQueueOptions<T>(options)
  return limited(checked, engineFor(checked), checked.limiter ?? defaultControllerLimiter())
}
