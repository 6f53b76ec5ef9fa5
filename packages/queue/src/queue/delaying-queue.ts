import { type AddOutcome, checkObject, SluiceTypeError } from '@sluice/core'
import { makeCore } from '../core/make-core.ts'
import {
  AdaptedDelayingQueue,
  type AdaptOptions,
  checkAdaptOptions,
} from '../foreign/adapted-queue.ts'
import { checkQueue, type ForeignQueue } from '../foreign/foreign-queue.ts'
import { checkAddAfter } from './check-add.ts'
import { releasePolicy } from './limiter-in-queue.ts'
import {
  type CheckedOptions,
  checkQueueOptions,
  givenOptions,
  type JsonChecked,
  type QueueOptions,
} from './options.ts'
import { PlainQueue } from './plain-queue.ts'
import type { AddAfterOptions, DelayingQueue } from './queue.ts'

/** How a queue that exists is wrapped. */
export interface WrapOptions<T> extends AdaptOptions<T> {
  /**
   * The queue to add delays to: a queue of this package, whose driver is shared, or any object with
   * the methods of client-go's interface, whose delays then live in this process, unless a limiter is
   * put around a queue that has delays. The other options are for the latter; around a queue of this
   * package they must be those of that queue.
   */
  readonly queue: ForeignQueue<T>
}

/** Whether the options wrap a queue instead of making one. */
export function isWrapping<T>(options: object): options is WrapOptions<T> {
  return 'queue' in options && options.queue !== undefined
}

const adaptOptionNames = ['name', 'clock', 'keyOf', 'onError', 'ref'] as const

/** The options of a wrap. */
export const wrapOptionNames: readonly string[] = ['queue', ...adaptOptionNames]

/** Rejects options that the queue inside does not have: a layer around one of ours has its options. */
export function checkLayerOptions<T>(given: AdaptOptions<T>, inside: CheckedOptions<T>): void {
  for (const name of adaptOptionNames) {
    if (given[name] !== undefined && given[name] !== inside[name]) {
      throw new SluiceTypeError(name, 'must be that of the queue inside: give it to that one')
    }
  }
}

/** Makes a delaying queue in memory. */
export function createDelayingQueue<T = string>(
  ...none: unknown extends JsonChecked<T> ? [] : [JsonChecked<T>]
): DelayingQueue<T>
/**
 * Makes a queue that takes adds for a later time, or adds that to a queue that exists.
 *
 * Throws for bad options only.
 */
export function createDelayingQueue<T = string>(
  options: (QueueOptions<T> | WrapOptions<T>) & JsonChecked<T>,
): DelayingQueue<T>
export function createDelayingQueue<T = string>(
  ...args: [(QueueOptions<T> | WrapOptions<T>)?]
): DelayingQueue<T> {
  const options = givenOptions(args)
  checkObject('options', options)
  if (isWrapping<T>(options)) {
    checkObject('options', options, wrapOptionNames)
    checkAdaptOptions(options)
    const inner = checkQueue(options.queue)
    if (!(inner instanceof PlainQueue)) return new AdaptedDelayingQueue<T>(inner, options)
    const { checkedOptions: checked, core } = inner as PlainQueue<T>
    checkLayerOptions(options, checked)
    return new PlainDelayingQueue<T>(checked, core, releasePolicy(checked, core))
  }
  const checked = checkQueueOptions<T>(options)
  const core = makeCore(checked)
  return new PlainDelayingQueue<T>(checked, core, releasePolicy(checked, core))
}

/** The second layer: adds for later. */
export class PlainDelayingQueue<T> extends PlainQueue<T> implements DelayingQueue<T> {
  addAfter(item: T, ms: number, options?: AddAfterOptions): Promise<AddOutcome> {
    try {
      const { delayMs, maxWaitMs, priority } = checkAddAfter(ms, options)
      return this.ask(item, { key: '', item: undefined, priority, delayMs, maxWaitMs }, true)
    } catch (error) {
      return Promise.reject(error)
    }
  }
}
