import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { TokenBuckets } from '../src/driver/token-buckets.ts'
import type { BucketState } from '../src/limiter/bucket.ts'
import type { LimiterPlan } from '../src/limiter/plan.ts'

const bucket = (name: string, burst: number): LimiterPlan => ({
  kind: 'bucket',
  name,
  perSecond: 10,
  burst,
})

describe('token buckets of a batch', () => {
  test('a delay takes no token until it is charged', () => {
    const buckets = new TokenBuckets()
    const plan = bucket('b', 1)
    assert.equal(buckets.delay(plan, 0, 0, 1_000), 0)
    assert.equal(buckets.delay(plan, 0, 0, 1_000), 0)
    assert.deepEqual(buckets.charged(), [])
    buckets.charge()
    assert.equal(buckets.delay(plan, 0, 0, 1_000), 100)
    assert.deepEqual(buckets.charged(), [
      { name: 'b', perSecond: 10, burst: 1, tokens: 0, at: 1_000 },
    ])
  })

  test('each stored bucket is read once, and listed only if it was charged', () => {
    const reads: string[] = []
    const stored: Readonly<Record<string, BucketState>> = { b: { tokens: -1, lastMs: 1_000 } }
    const buckets = new TokenBuckets((name) => {
      reads.push(name)
      return stored[name]
    })
    assert.equal(buckets.delay(bucket('b', 1), 0, 0, 1_000), 200)
    assert.equal(buckets.delay(bucket('c', 1), 0, 0, 1_000), 0)
    buckets.charge()
    assert.equal(buckets.delay(bucket('b', 1), 0, 0, 1_000), 200)
    assert.deepEqual(reads, ['b', 'c'])
    assert.deepEqual(
      buckets.charged().map(({ name }) => name),
      ['c'],
    )
  })

  test('a bucket that never gives a token is not charged', () => {
    const buckets = new TokenBuckets()
    assert.ok(buckets.delay(bucket('b', 0), 0, 0, 1_000) > 0)
    buckets.charge()
    assert.deepEqual(buckets.charged(), [])
  })

  test('the rate of the last charge is the one that is listed', () => {
    const buckets = new TokenBuckets()
    for (const burst of [1, 2, 3]) {
      buckets.delay(bucket('b', burst), 0, 0, 1_000)
      if (burst < 3) buckets.charge()
    }
    assert.deepEqual(
      buckets.charged().map(({ burst }) => burst),
      [2],
    )
  })

  test('a plan with several buckets charges each of them once', () => {
    const buckets = new TokenBuckets()
    const plan: LimiterPlan = { kind: 'maxOf', of: [bucket('a', 1), bucket('b', 2)] }
    for (const expected of [0, 100]) {
      assert.equal(buckets.delay(plan, 0, undefined, 1_000), expected)
      buckets.charge()
    }
    assert.deepEqual(
      buckets.charged().map(({ name, tokens }) => [name, tokens]),
      [
        ['a', -1],
        ['b', 0],
      ],
    )
  })

  test('a bucket is put in unless its name has a state', () => {
    const buckets = new TokenBuckets()
    const row = { name: 'b', perSecond: 10, burst: 1, tokens: -2, at: 1_000 }
    assert.equal(buckets.put(row), true)
    assert.equal(buckets.put({ ...row, tokens: 1 }), false)
    assert.deepEqual(buckets.charged(), [row])
  })

  test('a bucket that was put in has its own rate, not that of a plan that took no token of it', () => {
    const buckets = new TokenBuckets()
    buckets.delay(bucket('b', 1), 0, 0, 1_000)
    const row = { name: 'b', perSecond: 0.5, burst: 9, tokens: 4, at: 1_000 }
    assert.equal(buckets.put(row), true)
    assert.deepEqual(buckets.charged(), [row])
  })

  test('delayOf takes the plan of an ask or a retry, or its delayMs', () => {
    const buckets = new TokenBuckets()
    const key = 'a'
    const plan = bucket('b', 1)
    const ask = { key, item: undefined, priority: 0, delayMs: 7 }
    assert.equal(buckets.delayOf({ ...ask, plan }, 0, 1_000), 0)
    buckets.charge()
    assert.equal(buckets.delayOf({ as: 'retry', key, token: 1, delayMs: 7, plan }, 0, 1_000), 100)
    assert.equal(buckets.delayOf(ask, 0, 1_000), 7)
    assert.equal(buckets.delayOf({ as: 'retry', key, token: 1, delayMs: 8 }, 0, 1_000), 8)
    assert.equal(buckets.delayOf({ as: 'release', key, token: 1 }, 0, 1_000), 0)
    buckets.charge()
    assert.equal(buckets.delayOf({ ...ask, plan }, 0, 1_000), 100, 'none of these took a token')
  })

  test('a finish without a plan takes no token that the retry before it was lost for', () => {
    const key = 'a'
    const plan = bucket('b', 1)
    for (const next of [
      { as: 'release', key, token: 1 },
      { as: 'retry', key, token: 1, delayMs: 8 },
    ] as const) {
      const buckets = new TokenBuckets()
      buckets.delayOf({ as: 'retry', key, token: 1, delayMs: 0, plan }, 0, 1_000)
      buckets.delayOf(next, 0, 1_000)
      buckets.charge()
      assert.deepEqual(buckets.charged(), [], next.as)
      buckets.delayOf({ as: 'retry', key, token: 1, delayMs: 0, plan }, 0, 1_000)
      buckets.charge()
      assert.equal(buckets.charged().length, 1, 'the same plan again')
    }
  })

  test('a bucket without a bound delays nothing, though one of its name and another rate did', () => {
    const buckets = new TokenBuckets()
    assert.ok(buckets.delay(bucket('b', 0), 0, 0, 1_000) > 0)
    const plan: LimiterPlan = { kind: 'bucket', name: 'b', perSecond: 'infinite', burst: 0 }
    assert.equal(buckets.delay(plan, 0, 0, 1_000), 0)
  })

  test('a stored bucket that gives no token keeps its rate, and is not listed', () => {
    const buckets = new TokenBuckets(() => ({ tokens: -1, lastMs: 1_000 }))
    assert.ok(buckets.delay(bucket('b', 0), 0, 0, 1_000) > 0)
    buckets.charge()
    assert.deepEqual(buckets.charged(), [])
  })
})
