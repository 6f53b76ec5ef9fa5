// This folder is the demo: a shop whose queues are in one file, and the processes that work on it.

/** How one queue of the shop lives. */
export interface Life {
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
  /** Each run calls the server of the customers, which can be broken. */
  readonly calls?: boolean
}

const padded = (index: number, digits: number): string => String(index).padStart(digits, '0')
const part = (index: number, of: readonly string[]): string => of[index % of.length] as string

/** The queues of a shop: some are healthy, some need attention. */
export const lives: readonly Life[] = [
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
    addsPerSecond: (second) => (second % 25 === 3 ? 1 : 0),
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
    calls: true,
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
