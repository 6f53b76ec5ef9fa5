import type { Clock, Dedupe, Driver } from '@sluice/core'

/** The part of a `Held` that the suite uses. */
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

/** The part of a queue's transaction that the suite uses. */
export interface PublicWithin<T> {
  add(item: T): string | Promise<string>
  addAfter(item: T, ms: number): string | Promise<string>
  done(held: PublicHeld<T>): string | Promise<string>
}

/** The part of a queue that the suite uses. */
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
  wake(): void
  len(): Promise<number>
  shutDown(): Promise<void>
  shutDownWithDrain(options?: { readonly signal?: AbortSignal }): Promise<void>
  close(options?: { readonly graceMs?: number }): Promise<void>
}

/** The part of a delaying queue that the suite uses. */
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

/** The part of a rate-limiting queue that the suite uses. */
export interface PublicRateLimitingQueue<T> extends PublicDelayingQueue<T> {
  addRateLimited(item: T): Promise<string>
  forget(item: T): Promise<string>
  numRequeues(item: T): Promise<number>
}

/** The options of a queue that the suite sets. */
export interface PublicOptions {
  readonly name?: string | undefined
  readonly driver: Driver
  readonly clock: Clock
  readonly onError?: ((error: unknown) => void) | undefined
  readonly dedupe?: Dedupe | undefined
  readonly leaseMs?: number | undefined
  readonly keyOf?: ((item: unknown) => string) | undefined
  readonly limiter?: PublicLimiter | undefined
  readonly maxPending?: number | undefined
  readonly maxCrashes?: number | undefined
  readonly prefetch?: number | 'auto' | undefined
  readonly quietAfterMs?: number | undefined
}

/** A limiter that the suite implements. */
export interface PublicLimiter {
  when(item: unknown): number
  forget(item: unknown): void
  numRequeues(item: unknown): number
  /** The plan of a limiter that a store can follow, as plain data. */
  readonly plan?: unknown
}

/** The context of a handler. */
export interface PublicContext {
  readonly key: string
  readonly signal: AbortSignal
  readonly failures: number
}

/** The part of a worker that the suite uses. */
export interface PublicWorker {
  readonly running: number
  readonly finishing: number
  stop(options?: { readonly graceMs?: number }): Promise<void>
  runUntilIdle(): Promise<void>
}

/**
 * The functions that create queues, passed by the caller: the suite itself imports the driver
 * contract and nothing else.
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
