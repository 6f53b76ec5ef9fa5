import type { AddOutcome, BucketRow, Capabilities, Clock, EpochMs, Limiter } from '@sluice/core'
import type { Inspect } from './inspect.ts'

/** How to inspect a store. */
export interface InspectStoreOptions {
  /** The clock that the store obeys. Default: its own. */
  readonly clock?: Clock | undefined
  /**
   * The limiter of the queues, to explain delays by. Default: the limiters that their workers
   * register.
   */
  readonly limiter?: Limiter<unknown> | undefined
}

/** An add by an operator. */
export interface OperatorAsk {
  /**
   * The key. Without an item, a key that is stored is added again with its stored item, and one
   * that is not is its own item. Default: the item's own key, which is right for queues without
   * `keyOf`.
   */
  readonly key?: string | undefined
  /** The item, as JSON. It replaces the stored item of the key. */
  readonly item?: unknown | undefined
  /** How late. Default: now. */
  readonly afterMs?: number | undefined
  /** How important. Default 0. */
  readonly priority?: number | undefined
}

/**
 * Inspects and operates a whole store: what dashboards and tools are built
 * on. It takes no keys, and other processes do not notice it.
 */
export interface StoreInspection extends AsyncDisposable {
  /** The kind of store. */
  readonly driver: string
  readonly capabilities: Capabilities
  /**
   * The names of all queues that have keys, are paused, or have had a worker recently, sorted;
   * refused where the driver has no list.
   */
  queues(): Promise<readonly string[]>
  /** Sees into one queue, whether it is there or not. */
  queue(name: string): Inspect
  /** The buckets that limiters take tokens from, by name; none where the driver has no list. */
  buckets(): Promise<readonly BucketRow[]>
  /** The store's time. */
  now(): Promise<EpochMs>
  /**
   * Adds a key. It is merged with a delayed run as the workers of the queue do (`dedupe`).
   *
   * If a producer adds the same key with another item at the very moment at which it is asked for
   * again without one, the older item may be the one that stays.
   */
  add(queue: string, ask: OperatorAsk): Promise<AddOutcome>
  /** Closes the inspection. May be called more than once. */
  close(): Promise<void>
}
