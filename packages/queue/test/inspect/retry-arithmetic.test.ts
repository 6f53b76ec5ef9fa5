import type { LimiterPlan } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import {
  createRateLimitingQueue,
  createWorker,
  exponential,
  fastSlow,
  inspectStore,
  jittered,
  type KeyInfo,
  maxOf,
  memoryDriver,
  type RateLimitingQueue,
  tokenBucket,
  withMaxWait,
} from '../../src/index.ts'
import { retryArithmetic } from '../../src/inspect/retry-arithmetic.ts'
import { Scene, setups, take } from '../support/setups.ts'

const now = 1_000_000

/** A key that failed so often, and waits so long since. */
function backingOff(failures: number, waitsMs: number, more: Partial<KeyInfo> = {}): KeyInfo {
  const row = { key: 'k', item: 'k', priority: 0, crashes: 0, parked: false } as const
  const due = { dueAt: now + waitsMs, why: 'backoff', failedAt: now } as const
  return { ...row, ...due, state: 'backoff', failures, ...more }
}

const doubling = exponential({ baseMs: 5, maxMs: 1_000_000 }).plan
const slowing = fastSlow({ fastMs: 500, slowMs: 10_000, maxFast: 3 }).plan
const bucket = tokenBucket({ name: 'shared', perSecond: 1, burst: 1 })
const both = maxOf(exponential({ baseMs: 5, maxMs: 1_000_000 }), bucket)

describe('the arithmetic of a delay, in words', () => {
  const table: [string, LimiterPlan | undefined, number, number, string][] = [
    ['a doubling', doubling, 9, 1_280, '5 ms x 2^8 = 1.28 s'],
    ['a fraction', exponential({ baseMs: 0.25, maxMs: 9 }).plan, 2, 0.5, '0.25 ms x 2^1 = 0.5 ms'],
    ['a cap', doubling, 30, 1_000_000, '5 ms x 2^29, but no more than 1000 s'],
    ['the last fast one', slowing, 3, 500, '500 ms after each of the first 3 failures'],
    ['a slow one', slowing, 4, 10_000, '10 s after every failure but the first 3'],
    [
      'a bucket that is slower',
      both.plan,
      9,
      128_000,
      '5 ms x 2^8 = 1.28 s; the bucket "shared" asked for 128 s, which is more',
    ],
    ['a bucket that is not', both.plan, 9, 1_280, '5 ms x 2^8 = 1.28 s'],
    [
      'one of several buckets',
      maxOf(both, tokenBucket({ name: 'other', perSecond: 1, burst: 1 })).plan,
      1,
      3_000,
      '5 ms x 2^0 = 5 ms; one of the buckets asked for 3 s, which is more',
    ],
    [
      'a longest wait for a bucket',
      withMaxWait(both, 60_000).plan,
      1,
      60_000,
      '5 ms x 2^0 = 5 ms; the bucket "shared" asked for more, of which 60 s are waited',
    ],
    [
      'a longest wait for the key itself',
      withMaxWait(exponential({ baseMs: 5, maxMs: 1_000_000 }), 1_000).plan,
      9,
      1_000,
      '5 ms x 2^8 = 1.28 s, but no more than 1 s',
    ],
    [
      'chance',
      jittered(exponential({ baseMs: 100, maxMs: 1_000 }), 0.5).plan,
      1,
      130,
      '100 ms x 2^0 = 100 ms, and up to 50 % more by chance',
    ],
    [
      'another limiter, long ago',
      doubling,
      1,
      7_000,
      '5 ms x 2^0 = 5 ms; it waits 7 s, as was decided by another limiter, or before',
    ],
    [
      'an earlier promise',
      doubling,
      9,
      40,
      '5 ms x 2^8 = 1.28 s; it waits 40 ms, as was decided by another limiter, or before',
    ],
    ['nobody knows the limiter', undefined, 2, 700, '700 ms, by a limiter that is not known here'],
  ]
  test.each(table)('%s', (_, plan, failures, waitsMs, words) => {
    expect(retryArithmetic(backingOff(failures, waitsMs), plan)?.words).toBe(words)
  })

  test('a lost holder was detected late, which shortens the rest of the delay', () => {
    const info = backingOff(9, 300, { crashes: 1 })
    expect(retryArithmetic(info, doubling)?.words).toBe('5 ms x 2^8 = 1.28 s')
  })

  test('there is none for a key that is ready, or was delayed by its caller', () => {
    const { why: _, ...plain } = backingOff(2, 5_000)
    expect(retryArithmetic({ ...plain, state: 'ready' }, doubling)).toBeUndefined()
    expect(retryArithmetic({ ...plain, state: 'delayed' }, doubling)).toBeUndefined()
    expect(retryArithmetic({ ...plain, state: 'parked' }, doubling)).toBeUndefined()
  })
})

describe.each(setups)('whose limiter a delay is explained by, over $way', (setup) => {
  async function backOff(queue: RateLimitingQueue<string>): Promise<void> {
    await queue.add('k')
    const held = await take(queue)
    await held.retry(new Error('no'))
  }

  test('the one that this queue object was given, then that of the workers', async () => {
    const scene = new Scene(setup)
    const slow = scene.limited<string>({ limiter: exponential({ baseMs: 7_000, maxMs: 70_000 }) })
    const plain = scene.queue()
    await backOff(slow)
    // Nothing is known of the other queue object: it is taken to be like this one.
    expect((await plain.inspect.explain('k')).retry?.words).toMatch(/^5 ms x 2\^0 = 5 ms; it waits/)
    expect((await slow.inspect.explain('k')).retry?.words).toBe('7 s x 2^0 = 7 s')
    const worker = createWorker({ queue: slow, handler: () => undefined })
    await scene.quiet()
    expect((await plain.inspect.explain('k')).retry?.words).toBe('7 s x 2^0 = 7 s')
    await worker.stop()
    await scene.quiet()
    expect((await plain.inspect.explain('k')).retry?.words).toBe('7 s x 2^0 = 7 s')
  })

  test('none, where the error of the run asked for it', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited<string>({
      limiter: both,
      redactError: ({ name }) => ({ name, message: '' }),
    })
    await queue.add('k')
    const busy = Object.assign(new Error('busy'), { retryAfterMs: 30_000 })
    await (await take(queue)).retry(busy)
    const { retry, blockedBy } = await queue.inspect.explain('k')
    expect(retry).toEqual({
      failures: 1,
      words: '30 s, which the error of the run asked for by retryAfterMs',
    })
    expect(blockedBy).toBe('BACKOFF_ITEM')
    expect(await queue.inspect.get('k')).toMatchObject({
      lastError: { name: 'Error', message: '', retryAfterMs: 30_000 },
    })
    // An add of the same key ends the delay, and the error is no reason for the next one.
    await queue.inspect.runNow('k')
    await (await take(queue)).retry(new Error('no'))
    expect((await queue.inspect.explain('k')).retry?.words).toBe('5 ms x 2^1 = 10 ms')
  })

  test('none that only a function of the user knows', async () => {
    const scene = new Scene(setup)
    const limiter = { when: () => 3_000, forget: () => undefined, numRequeues: () => 0 }
    const queue = scene.limited<string>({ limiter })
    await backOff(queue)
    const { retry, blockedBy } = await queue.inspect.explain('k')
    expect(retry).toEqual({ failures: 1, words: '3 s, by a limiter that is not known here' })
    expect(blockedBy).toBe('BACKOFF_ITEM')
  })
})

test('settings that make no sense are as if they were not there', async () => {
  const driver = memoryDriver()
  const queue = createRateLimitingQueue({ name: 'orders', driver })
  await queue.addRateLimited('k')
  for (const limiter of ['{', '{"kind":"odd"}', 7]) {
    const worker = { holder: 'w', host: 'h', pid: 1, concurrency: 1, settings: { limiter } }
    await driver.tick('orders', { holder: 'w', limit: 1, failuresExpireMs: Infinity, worker })
    await using store = inspectStore(driver)
    const { retry } = await store.queue('orders').explain('k')
    expect(retry?.perKeyMs).toBeUndefined()
  }
  await queue.close()
})
