import type { Clock, Dedupe, Driver } from '@sluice/core'

/** What the suite needs of a key that a queue handed out. */
export interface PublicHeld<T> extends AsyncDisposable {
  readonly item: T
  readonly key: string
  readonly token: number
  readonly failures: number
  readonly crashes: number
  readonly priority: number
  readonly addedAt: number
  readonly signal: AbortSignal
  done(options?: { readonly forget?: boolean }): Promise<string>
  retry(error?: unknown): Promise<string>
  release(): Promise<string>
  park(error?: unknown): Promise<string>
  detach(): unknown
}

/** What the suite needs of a queue's transaction. */
export interface PublicWithin<T> {
  add(item: T): string | Promise<string>
  addAfter(item: T, ms: number): string | Promise<string>
  done(held: PublicHeld<T>): string | Promise<string>
}

/** What the suite needs of a queue. */
export interface PublicQueue<T> extends AsyncDisposable, AsyncIterable<PublicHeld<T>> {
  readonly shuttingDown: boolean
  add(item: T, options?: { readonly priority?: number }): Promise<string>
  addMany(items: readonly T[], options?: { readonly priority?: number }): Promise<string[]>
  addSoon(item: T): void
  get(options?: { readonly signal?: AbortSignal }): Promise<PublicHeld<T> | undefined>
  getMany(n: number, options?: { readonly signal?: AbortSignal }): Promise<PublicHeld<T>[]>
  done(heldOrItem: PublicHeld<T> | T): Promise<string>
  doneMany(helds: readonly PublicHeld<T>[]): Promise<string[]>
  within(transaction: object): PublicWithin<T>
  cancel(item: T): Promise<string>
  len(): Promise<number>
  shutDown(): Promise<void>
  shutDownWithDrain(options?: { readonly signal?: AbortSignal }): Promise<void>
  close(options?: { readonly graceMs?: number }): Promise<void>
}

/** What the suite needs of a delaying queue. */
export interface PublicDelayingQueue<T> extends PublicQueue<T> {
  addAfter(
    item: T,
    ms: number,
    options?: {
      readonly priority?: number
      readonly when?: 'earliest' | 'latest'
      readonly maxWaitMs?: number
    },
  ): Promise<string>
}

/** What the suite needs of a rate-limiting queue. */
export interface PublicRateLimitingQueue<T> extends PublicDelayingQueue<T> {
  addRateLimited(item: T): Promise<string>
  forget(item: T): Promise<string>
  numRequeues(item: T): Promise<number>
}

/** What the suite says of a queue it wants. */
export interface PublicOptions {
  readonly name?: string
  readonly driver: Driver
  readonly clock: Clock
  readonly onError?: (error: unknown) => void
  readonly dedupe?: Dedupe
  readonly leaseMs?: number
  readonly keyOf?: (item: unknown) => string
  readonly limiter?: PublicLimiter
  readonly maxPending?: number
  readonly maxCrashes?: number
  readonly prefetch?: number
}

/** A limiter as the suite writes its own. */
export interface PublicLimiter {
  when(item: unknown): number
  forget(item: unknown): void
  numRequeues(item: unknown): number
  /** A limiter that a store can follow says how, as plain data. */
  readonly plan?: unknown
}

/** What a worker is told besides the item. */
export interface PublicContext {
  readonly key: string
  readonly signal: AbortSignal
  readonly failures: number
}

/** What the suite needs of a worker. */
export interface PublicWorker {
  readonly running: number
  stop(options?: { readonly graceMs?: number }): Promise<void>
  runUntilIdle(): Promise<void>
}

/**
 * The functions that make queues, given by whoever runs the suite: the suite itself imports the
 * driver contract and nothing else.
 */
export interface QueueFactories {
  createQueue<T>(options: PublicOptions): PublicQueue<T>
  createDelayingQueue<T>(options: PublicOptions): PublicDelayingQueue<T>
  createRateLimitingQueue<T>(options: PublicOptions): PublicRateLimitingQueue<T>
  createWorker<T>(options: {
    readonly queue: PublicQueue<T>
    readonly handler: (item: T, context: PublicContext) => unknown
    readonly concurrency?: number
    readonly maxFailures?: number
    readonly onError?: (error: unknown) => void
  }): PublicWorker
}
