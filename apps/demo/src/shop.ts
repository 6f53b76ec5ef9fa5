import type { Clock, Driver, Held, QueueOptions, RateLimitingQueue, Worker } from 'sluice'
import {
  createRateLimitingQueue,
  createWorker,
  exponential,
  jittered,
  maxOf,
  tokenBucket,
} from 'sluice'
import type { Life } from './lives.ts'

/** What an item of the shop is. */
export interface Change {
  readonly key: string
  readonly revision: number
  readonly reason: string
}

/** Numbers that look random and are the same each time. */
export function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

class CodedError extends Error {
  readonly code: string

  constructor(code: string, message: string) {
    super(message)
    this.name = 'ReconcileError'
    this.code = code
  }
}

function waiting(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = clock.startTimer(ms, resolve)
    signal.addEventListener('abort', () => {
      timer.stop()
      reject(signal.reason as Error)
    })
  })
}

/** A queue of the shop. */
export function queueOf(
  { name, backoffMs = 250, bucket }: Life,
  driver: Driver,
  options: Partial<QueueOptions<Change>> = {},
): RateLimitingQueue<Change> {
  const own = exponential({ baseMs: backoffMs, maxMs: 120_000 })
  // In a Redis cluster, a bucket belongs to one queue, and has no name.
  const bucketName = driver.capabilities.sharedBuckets ? 'cluster-api' : undefined
  return createRateLimitingQueue<Change>({
    name,
    driver,
    limiter:
      bucket === undefined
        ? jittered(own, 0.2)
        : maxOf(own, tokenBucket({ name: bucketName, ...bucket })),
    keyOf: ({ key }) => key,
    onError: () => undefined,
    ...options,
  })
}

/** What a worker of the shop needs in addition to its queue. */
export interface WorkOptions {
  readonly clock: Clock
  readonly chance: () => number
  /** Calls the server of the customers; rejects if it refuses. */
  readonly call?: (key: string, signal: AbortSignal) => Promise<void>
  readonly onRun?: (held: Pick<Held<Change>, 'key' | 'crashes'>) => void
}

/** Starts a worker of a queue. Some keys take long, and some keep failing. */
export function workOn(life: Life, queue: RateLimitingQueue<Change>, options: WorkOptions): Worker {
  const { concurrency, workMs, failing, errors = [], maxFailures, calls } = life
  const { clock, chance, call, onRun } = options
  return createWorker({
    queue,
    concurrency,
    ...(maxFailures === undefined ? {} : { maxFailures }),
    handler: async ({ key }, { signal, crashes }) => {
      onRun?.({ key, crashes })
      const slow = chance() < 0.02 ? 9 : 1
      await waiting(clock, workMs * slow * (0.4 + 1.4 * chance() ** 2), signal)
      if (calls === true) await call?.(key, signal)
      const isBadKey = key.length % 7 === 0 && /[37]/.test(key.at(-1) ?? '')
      if (chance() < failing * (isBadKey ? 5 : 0.6)) {
        const [code, message] = errors[Math.floor(chance() * errors.length)] ?? ['E', 'failed']
        throw new CodedError(code, message)
      }
    },
    onError: () => undefined,
  })
}

/** Adds what changes in one second of a queue's life; resolves to how many changes there were. */
export async function addChanges(
  life: Life,
  queue: RateLimitingQueue<Change>,
  second: number,
  chance: () => number,
): Promise<number> {
  const { addsPerSecond, keys, keyOf, delayed } = life
  const count = Math.max(0, Math.round(addsPerSecond(second) + chance() - 0.5))
  const adds = Array.from({ length: count }, () => {
    const item = {
      key: keyOf(Math.floor(chance() ** 3 * keys)),
      revision: second,
      reason: 'changed',
    }
    return delayed !== undefined && chance() < delayed.share
      ? queue.addAfter(item, chance() ** 3 * delayed.maxMs)
      : queue.add(item, chance() < 0.05 ? { priority: 10 } : {})
  })
  await Promise.all(adds)
  return count
}
