import {
  type Clock,
  createRateLimitingQueue,
  createWorker,
  type Driver,
  exponential,
  jittered,
  maxOf,
  type RateLimitingQueue,
  tokenBucket,
} from 'sluice'

/** How one queue of the store lives. */
interface Life {
  readonly name: string
  /** How many keys there are, and how they are called. */
  readonly keys: number
  readonly keyOf: (index: number) => string
  readonly addsPerSecond: (second: number) => number
  readonly delayed?: { readonly share: number; readonly maxMs: number }
  readonly workers: number
  readonly concurrency: number
  readonly workMs: number
  readonly failing: number
  readonly errors?: readonly (readonly [code: string, message: string])[]
  readonly maxFailures?: number
  readonly backoffMs?: number
  readonly bucket?: { readonly perSecond: number; readonly burst: number }
  readonly pauseAtSecond?: number
}

const padded = (index: number, digits: number): string => String(index).padStart(digits, '0')
const part = (index: number, of: readonly string[]): string => of[index % of.length] as string

const lives: readonly Life[] = [
  {
    name: 'pods',
    keys: 2_400,
    keyOf: (index) =>
      `${part(index, ['shop', 'staging', 'default'])}/${part(index * 7, ['web', 'api', 'cache', 'mail', 'search'])}-${padded(index, 3)}`,
    addsPerSecond: (second) => 44 + 12 * Math.sin(second / 21) + (second > 262 ? 44 : 0),
    workers: 2,
    concurrency: 4,
    workMs: 190,
    failing: 0.16,
    errors: [
      ['ECONNREFUSED', 'connect ECONNREFUSED 10.2.0.14:8443'],
      ['ECONNREFUSED', 'connect ECONNREFUSED 10.2.0.14:8443'],
      ['ETIMEDOUT', 'the API server did not answer within 5 s'],
      ['CONFLICT', 'the object has been modified; apply the change to its latest version'],
    ],
    maxFailures: 5,
    backoffMs: 1_500,
    bucket: { perSecond: 10, burst: 100 },
  },
  {
    name: 'certificates',
    keys: 14,
    keyOf: (index) => `${part(index, ['shop', 'mail', 'docs', 'api'])}-${index}.example.com`,
    addsPerSecond: (second) => (second % 25 === 0 ? 1 : 0),
    workers: 0,
    concurrency: 1,
    workMs: 0,
    failing: 0,
  },
  {
    name: 'webhooks',
    keys: 400,
    keyOf: (index) => `customer/${1_000 + index * 37}`,
    addsPerSecond: (second) => 6 + 3 * Math.cos(second / 13),
    workers: 1,
    concurrency: 8,
    workMs: 520,
    failing: 0.24,
    errors: [
      ['HTTP_503', 'POST https://hooks.example.com/in answered 503'],
      ['HTTP_410', 'POST https://old.example.net/hook answered 410: gone'],
    ],
  },
  {
    name: 'deployments',
    keys: 120,
    keyOf: (index) => `${part(index, ['shop', 'staging'])}/deploy-${padded(index, 2)}`,
    addsPerSecond: (second) => 9 + 5 * Math.sin(second / 9),
    workers: 2,
    concurrency: 8,
    workMs: 60,
    failing: 0,
  },
  {
    name: 'reminders',
    keys: 3_000,
    keyOf: (index) => `user/${20_000 + index * 13}`,
    addsPerSecond: () => 4,
    delayed: { share: 0.9, maxMs: 3_600_000 },
    workers: 1,
    concurrency: 2,
    workMs: 35,
    failing: 0.004,
    errors: [['EMAIL_BOUNCED', 'the mailbox is full']],
  },
  {
    name: 'thumbnails',
    keys: 2_000,
    keyOf: (index) => `image/${padded(index * 7_919, 8)}.jpg`,
    addsPerSecond: (second) => 12 + 4 * Math.sin(second / 17),
    workers: 1,
    concurrency: 6,
    workMs: 240,
    failing: 0.01,
    errors: [['BAD_IMAGE', 'the file ends in the middle']],
  },
  {
    name: 'search-index',
    keys: 80,
    keyOf: (index) => `doc/${padded(index, 4)}`,
    addsPerSecond: () => 22,
    workers: 1,
    concurrency: 4,
    workMs: 45,
    failing: 0,
    pauseAtSecond: 282,
  },
]

/** Numbers that look random and are the same each time. */
function dice(seed: number): () => number {
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

function queueOf(life: Life, driver: Driver, clock: Clock): RateLimitingQueue<unknown> {
  const own = exponential({ baseMs: life.backoffMs ?? 250, maxMs: 120_000 })
  return createRateLimitingQueue<unknown>({
    name: life.name,
    driver,
    clock,
    limiter:
      life.bucket === undefined
        ? jittered(own, 0.2)
        : maxOf(own, tokenBucket({ name: 'cluster-api', ...life.bucket })),
    keyOf: (item) => (item as { key: string }).key,
    onError: () => undefined,
  })
}

/** A busy store. */
export interface LivelyStore {
  /** To be called once a second. */
  second(): Promise<void>
}

/** Fills a store with queues in use: some are healthy, some need attention. */
export function livelyStore(driver: Driver, clock: Clock): LivelyStore {
  const chance = dice(7)
  let second = 0
  const running = lives.map((life) => {
    let queue = queueOf(life, driver, clock)
    for (let worker = 0; worker < life.workers; worker += 1) {
      // A worker is a process of its own in real life: it has its own queue object. One of them
      // adds keys as well, and tells how many adds were merged.
      queue = queueOf(life, driver, clock)
      createWorker({
        queue,
        concurrency: life.concurrency,
        ...(life.maxFailures === undefined ? {} : { maxFailures: life.maxFailures }),
        handler: async (item, { signal }) => {
          const { key } = item as { key: string }
          // Some keys take long, and some keep failing.
          const slow = chance() < 0.02 ? 9 : 1
          await waiting(clock, life.workMs * slow * (0.4 + 1.4 * chance() ** 2), signal)
          const isBadKey = key.length % 7 === 0 && /[37]/.test(key.at(-1) ?? '')
          if (chance() < life.failing * (isBadKey ? 5 : 0.6)) {
            const kinds = life.errors ?? []
            const [code, message] = kinds[Math.floor(chance() * kinds.length)] ?? ['E', 'failed']
            throw new CodedError(code, message)
          }
        },
        onError: () => undefined,
      })
    }
    return { life, queue }
  })

  const add = async ({ life, queue }: (typeof running)[number]): Promise<void> => {
    const adds = Math.max(0, Math.round(life.addsPerSecond(second) + chance() - 0.5))
    const asked = Array.from({ length: adds }, () => {
      const index = Math.floor(chance() ** 3 * life.keys)
      const item = { key: life.keyOf(index), revision: second, reason: 'changed' }
      const { delayed } = life
      return delayed !== undefined && chance() < delayed.share
        ? queue.addAfter(item, chance() ** 3 * delayed.maxMs)
        : queue.add(item, chance() < 0.05 ? { priority: 10 } : {})
    })
    await Promise.all(asked)
    if (second === life.pauseAtSecond) await queue.inspect.pause()
  }

  return {
    second: async () => {
      second += 1
      for (const one of running) await add(one)
    },
  }
}
