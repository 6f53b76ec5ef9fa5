import { describe, expect, test } from 'vitest'
import { every, type Reservation, TokenBucket } from '../src/index.ts'

/** Some instant; whole milliseconds from here on are exact. */
const t = 1_735_689_600_000

function delays(bucket: TokenBucket, times: number, at = t): number[] {
  return Array.from({ length: times }, () => bucket.reserve(1, at).delayMs(at))
}

describe('golden sequences', () => {
  test('limit 10, burst 2, all at one instant', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 2 })
    const seen = Array.from({ length: 6 }, () => [
      bucket.reserve(1, t).delayMs(t),
      bucket.tokens(t),
    ])
    expect(seen).toEqual([
      [0, 1],
      [0, 0],
      [100, -1],
      [200, -2],
      [300, -3],
      [400, -4],
    ])
  })

  test('limit 3, burst 1: cut to whole nanoseconds', () => {
    const bucket = new TokenBucket({ perSecond: 3, burst: 1 })
    expect(delays(bucket, 5)).toEqual([0, 333.333333, 666.666666, 1_000, 1_333.333333])
  })

  test('limit 7 over two seconds, one call each 100 ms', () => {
    const bucket = new TokenBucket({ perSecond: 7, burst: 1 })
    const seen = Array.from({ length: 5 }, (_, index) => {
      const at = index * 100
      return bucket.reserve(1, at).delayMs(at)
    })
    // The n-th token is there after n/7 s; 100 ms pass between the calls.
    expect(seen).toEqual([0, 42.857142, 85.714285, 128.571428, 171.428571])
  })
})

describe('allow', () => {
  test('a new bucket is full', () => {
    const bucket = new TokenBucket({ perSecond: 1, burst: 3 })
    expect(Array.from({ length: 4 }, () => bucket.allow(1, t))).toEqual([true, true, true, false])
  })

  test('tokens flow in while nobody looks, up to the burst', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 3 })
    bucket.allow(3, t)
    expect([0, 50, 100, 250, 300, 10_000].map((ms) => bucket.tokens(t + ms))).toEqual([
      0, 0.5, 1, 2.5, 3, 3,
    ])
  })

  test('several at once: all or nothing, and never more than the burst', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 5 })
    expect(bucket.allow(6, t)).toBe(false)
    expect(bucket.allow(4, t)).toBe(true)
    expect(bucket.allow(2, t)).toBe(false)
    expect(bucket.tokens(t)).toBe(1)
    expect(bucket.allow(2, t + 100)).toBe(true)
  })

  test('taking none is allowed, except in debt', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 1 })
    delays(bucket, 1)
    expect(bucket.allow(0, t)).toBe(true)
    delays(bucket, 1)
    expect(bucket.allow(0, t)).toBe(false)
    expect(bucket.allow(0, t + 100)).toBe(true)
  })

  test('what is refused leaves no trace', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 1 })
    bucket.allow(1, t)
    for (let again = 0; again < 100; again += 1) bucket.allow(1, t + 50)
    expect(bucket.allow(1, t + 100)).toBe(true)
  })
})

describe('limits at the edge', () => {
  test('an infinite rate allows everything at once, and ignores the burst', () => {
    const bucket = new TokenBucket({ perSecond: Infinity, burst: 0 })
    expect(bucket.allow(1_000_000, t)).toBe(true)
    const reservation = bucket.reserve(5, t)
    expect([reservation.ok, reservation.delayMs(t)]).toEqual([true, 0])
    reservation.cancel(t)
    expect(bucket.tokens(t)).toBe(0)
  })

  test('limit 0: the burst once, then reservations that never come due', () => {
    const bucket = new TokenBucket({ perSecond: 0, burst: 2 })
    expect(delays(bucket, 2)).toEqual([0, 0])
    expect(bucket.allow(1, t + 1e9)).toBe(false)
    const reservation = bucket.reserve(1, t)
    expect([reservation.ok, reservation.delayMs(t)]).toEqual([true, Infinity])
    expect(bucket.tokens(t)).toBe(-1)
    reservation.cancel(t + 5)
    expect(bucket.tokens(t)).toBe(0)
  })

  test('burst 0 with a finite rate gives nothing, but allows nothing to be taken', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 0 })
    expect([bucket.allow(1, t), bucket.allow(0, t)]).toEqual([false, true])
    expect(bucket.reserve(1, t).ok).toBe(false)
  })

  test('a rate made of an interval', () => {
    const bucket = new TokenBucket({ perSecond: every(250), burst: 1 })
    expect(delays(bucket, 3)).toEqual([0, 250, 500])
    expect(new TokenBucket({ perSecond: every(0), burst: 0 }).allow(9, t)).toBe(true)
  })

  test('a rate so low that a token takes centuries is one that never comes', () => {
    const bucket = new TokenBucket({ perSecond: 1e-12, burst: 1 })
    expect(delays(bucket, 3)).toEqual([0, Infinity, Infinity])
    const last = bucket.reserve(1, t)
    last.cancel(t)
    expect(bucket.tokens(t)).toBe(-2)
  })
})

describe('reserve', () => {
  test('the delay is the remaining time at any instant', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 1 })
    delays(bucket, 1)
    const reservation = bucket.reserve(1, t)
    expect([-50, 0, 60, 100, 5_000].map((ms) => reservation.delayMs(t + ms))).toEqual([
      150, 100, 40, 0, 0,
    ])
  })

  test('what is not ok never comes due, and cannot be cancelled', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 2 })
    const reservation = bucket.reserve(3, t)
    expect([reservation.ok, reservation.delayMs(t)]).toEqual([false, Infinity])
    reservation.cancel(t)
    expect(bucket.tokens(t)).toBe(2)
  })

  test('the nanoseconds of a delay survive in epoch milliseconds, which are too coarse for them', () => {
    const bucket = new TokenBucket({ perSecond: 1e6, burst: 1 })
    expect(delays(bucket, 4)).toEqual([0, 0.001, 0.002, 0.003])
    const last = bucket.reserve(1, t)
    expect(last.delayMs(t)).toBe(0.004)
    last.cancel(t)
    expect(bucket.tokens(t)).toBeCloseTo(-3, 9)
  })
})

describe('time that goes backwards', () => {
  test('adds nothing and takes nothing', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 5 })
    bucket.allow(4, t)
    expect(bucket.tokens(t - 60_000)).toBe(1)
    expect(bucket.allow(1, t - 60_000)).toBe(true)
    expect(bucket.allow(1, t - 60_000)).toBe(false)
  })

  test('becomes the time of the bucket, so that it goes on filling', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 1 })
    bucket.allow(1, t)
    bucket.reserve(0, t - 60_000)
    expect(bucket.allow(1, t - 60_000 + 100)).toBe(true)
  })

  test('a look does not change anything, however far in the future it is', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 5 })
    bucket.allow(5, t)
    expect(bucket.tokens(t + 1e9)).toBe(5)
    expect(bucket.tokens(t)).toBe(0)
  })
})

describe('cancel', () => {
  test('a reservation of an infinite bucket gives back its tokens once the bucket is finite', () => {
    const bucket = new TokenBucket({ perSecond: Infinity, burst: 10 })
    const reservation = bucket.reserve(3, t)
    bucket.setLimit(1, t)
    expect([bucket.reserve(10, t), bucket.reserve(1, t)].map((each) => each.delayMs(t))).toEqual([
      0, 1_000,
    ])
    reservation.cancel(t)
    expect(bucket.tokens(t)).toBe(2)
  })

  function reserveSome(bucket: TokenBucket, ...counts: number[]): Reservation[] {
    return counts.map((n) => bucket.reserve(n, t))
  }

  test('the last reservation is given back whole', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 2 })
    const [, , , last] = reserveSome(bucket, 1, 1, 1, 1)
    last?.cancel(t)
    expect(bucket.tokens(t)).toBe(-1)
    expect(bucket.reserve(1, t).delayMs(t)).toBe(200)
  })

  test('what was promised to others on top is not given back', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 5 })
    const [, early, late] = reserveSome(bucket, 5, 3, 1)
    expect([early?.delayMs(t), late?.delayMs(t)]).toEqual([300, 400])
    early?.cancel(t)
    // 3 were taken, 1 was promised on top of them.
    expect(bucket.tokens(t)).toBe(-2)
  })

  test('a reservation less than a millisecond before the latest one is not the latest', () => {
    const bucket = new TokenBucket({ perSecond: 10_000, burst: 3 })
    const [, early, latest] = reserveSome(bucket, 3, 3, 1)
    early?.cancel(t)
    latest?.cancel(t)
    expect(bucket.tokens(t)).toBeCloseTo(-1)
  })

  test('nothing is given back once others were promised as many', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 5 })
    const [, early] = reserveSome(bucket, 5, 2, 1, 1)
    early?.cancel(t)
    expect(bucket.tokens(t)).toBe(-4)
  })

  test('from the last to the first, everything is given back', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 5 })
    const all = reserveSome(bucket, 5, 1, 2, 3)
    expect(bucket.tokens(t)).toBe(-6)
    for (const reservation of all.reverse()) reservation.cancel(t)
    expect(bucket.tokens(t)).toBe(5)
  })

  test('never beyond the burst', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 2 })
    const [first] = reserveSome(bucket, 2)
    bucket.setBurst(1, t)
    first?.cancel(t)
    expect(bucket.tokens(t)).toBe(1)
  })

  test('too late once its time has passed; at that time it is not', () => {
    const late = new TokenBucket({ perSecond: 10, burst: 1 })
    const [, passed] = reserveSome(late, 1, 1)
    passed?.cancel(t + 101)
    expect(late.tokens(t + 101)).toBeCloseTo(0.01)

    const justInTime = new TokenBucket({ perSecond: 10, burst: 1 })
    const [, pinned] = reserveSome(justInTime, 1, 1)
    pinned?.cancel(t + 100)
    expect(justInTime.tokens(t + 100)).toBe(1)
  })

  test('one that could be used at once must be cancelled with the same instant', () => {
    const moved = new TokenBucket({ perSecond: 10, burst: 5 })
    moved.reserve(3, t).cancel(t + 1)
    expect(moved.tokens(t + 1)).toBeCloseTo(2.01)

    const pinned = new TokenBucket({ perSecond: 10, burst: 5 })
    pinned.reserve(3, t).cancel(t)
    expect(pinned.tokens(t)).toBe(5)
  })

  test('nothing to give back: for no token, or once the rate is infinite', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 2 })
    const [, , nothing, one] = reserveSome(bucket, 1, 1, 0, 1)
    nothing?.cancel(t)
    expect(bucket.tokens(t)).toBe(-1)
    bucket.setLimit(Infinity, t)
    one?.cancel(t)
    bucket.setLimit(10, t)
    expect(bucket.tokens(t)).toBe(-1)
  })

  test('the rate that counts is that of the time of the reservation', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 5 })
    const [, early] = reserveSome(bucket, 5, 3)
    bucket.setLimit(1, t)
    // Promised on top: 1 token, at t + 4 s; by the early rate that is 37 tokens.
    bucket.reserve(1, t)
    early?.cancel(t)
    expect(bucket.tokens(t)).toBe(-4)
  })
})

describe('setLimit and setBurst', () => {
  test('what flowed in before counts by the old rate, what comes after by the new one', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 10 })
    bucket.allow(10, t)
    bucket.setLimit(1, t + 200)
    expect(bucket.limit).toBe(1)
    expect([200, 700, 1_200].map((ms) => bucket.tokens(t + ms))).toEqual([2, 2.5, 3])
  })

  test('earlier reservations keep their times', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 1 })
    delays(bucket, 1)
    const reservation = bucket.reserve(1, t)
    bucket.setLimit(1_000, t)
    expect(reservation.delayMs(t)).toBe(100)
  })

  test('a lower burst cuts the tokens there are, also to none', () => {
    const bucket = new TokenBucket({ perSecond: 1, burst: 10 })
    bucket.setBurst(3, t)
    expect([bucket.burst, bucket.tokens(t)]).toEqual([3, 3])
    bucket.setBurst(0, t)
    expect(bucket.tokens(t + 60_000)).toBe(0)
  })

  test('a higher burst has to fill up', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 2 })
    bucket.setBurst(5, t)
    expect([0, 100, 1_000].map((ms) => bucket.tokens(t + ms))).toEqual([2, 3, 5])
  })

  test('from infinite to 10 per second and burst 0 to 5: empty now, full after a second', () => {
    const bucket = new TokenBucket({ perSecond: Infinity, burst: 0 })
    bucket.setLimit(10, t)
    bucket.setBurst(5, t)
    expect([bucket.tokens(t), bucket.tokens(t + 1_000)]).toEqual([0, 5])
    expect(bucket.allow(1, t)).toBe(false)
  })

  test('a rate of 0 freezes the tokens, and a rate above it starts them again', () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 5 })
    bucket.allow(5, t)
    bucket.setLimit(0, t + 100)
    expect(bucket.tokens(t + 60_000)).toBe(1)
    bucket.setLimit(10, t + 60_000)
    expect(bucket.tokens(t + 60_100)).toBe(2)
  })
})

test('the clock is asked where no instant is given', () => {
  let now = t
  const clock = { now: () => now, monotonicMs: () => now } as never
  const bucket = new TokenBucket({ perSecond: 10, burst: 2, clock })
  expect([bucket.allow(), bucket.allow(), bucket.allow()]).toEqual([true, true, false])
  const reservation = bucket.reserve()
  expect(reservation.delayMs()).toBe(100)
  now += 60
  expect(reservation.delayMs()).toBe(40)
  reservation.cancel()
  expect(bucket.tokens()).toBeCloseTo(0.6)
  bucket.setLimit(1)
  bucket.setBurst(1)
  now += 100
  expect(bucket.tokens()).toBeCloseTo(0.7)
})
