import { getEventListeners } from 'node:events'
import { fakeClock } from '@sluice/core/testing'
import { expect, test } from 'vitest'
import { TokenBucket } from '../src/index.ts'

function setUp(perSecond = 10, burst = 2) {
  const clock = fakeClock()
  return { clock, bucket: new TokenBucket({ perSecond, burst, clock }) }
}

/** Says how a promise stands, without waiting for it. */
function follow(promise: Promise<void>) {
  const seen: { state: 'pending' | 'resolved' | 'rejected'; error?: unknown } = { state: 'pending' }
  promise.then(
    () => {
      seen.state = 'resolved'
    },
    (error: unknown) => {
      seen.state = 'rejected'
      seen.error = error
    },
  )
  return seen
}

test('what is there comes without a timer', async () => {
  const { clock, bucket } = setUp()
  await bucket.wait(2)
  expect(clock.waiters()).toBe(0)
  expect(bucket.tokens()).toBe(0)
})

test('a wait leaves no listener on its signal, however it ends', async () => {
  const { clock, bucket } = setUp(10, 1)
  const { signal } = new AbortController()
  const aborting = new AbortController()
  const waits = [bucket.wait(1, { signal }), bucket.wait(1, { signal })].map(follow)
  const aborted = follow(bucket.wait(1, { signal: aborting.signal }))
  aborting.abort()
  await clock.step(300)
  expect([...waits, aborted].map(({ state }) => state)).toEqual([
    'resolved',
    'resolved',
    'rejected',
  ])
  for (const each of [signal, aborting.signal]) {
    expect(getEventListeners(each, 'abort')).toEqual([])
  }
})

test('waiters get their tokens in the order of their calls, each on time', async () => {
  const { clock, bucket } = setUp(10, 1)
  const waits = [bucket.wait(), bucket.wait(), bucket.wait(0), bucket.wait(1)].map(follow)
  const states = () => waits.map(({ state }) => state)
  await clock.step(99)
  expect(states()).toEqual(['resolved', 'pending', 'pending', 'pending'])
  await clock.step(1)
  expect(states()).toEqual(['resolved', 'resolved', 'resolved', 'pending'])
  await clock.step(100)
  expect(states()).toEqual(['resolved', 'resolved', 'resolved', 'resolved'])
  expect(clock.waiters()).toBe(0)
})

test('more than the burst is refused at once, unless the rate is infinite', async () => {
  const { bucket } = setUp(10, 2)
  await expect(bucket.wait(3)).rejects.toMatchObject({ code: 'ERR_INVALID_INPUT', parameter: 'n' })
  expect(bucket.tokens()).toBe(2)
  await setUp(Infinity, 0).bucket.wait(1_000)
})

test('more than the burst is said before an aborted signal is', async () => {
  const { bucket } = setUp(10, 2)
  await expect(bucket.wait(3, { signal: AbortSignal.abort() })).rejects.toMatchObject({
    parameter: 'n',
  })
})

test('an aborted signal takes nothing, also where nothing had to be waited for', async () => {
  const { bucket } = setUp()
  const signal = AbortSignal.abort(new Error('over'))
  await expect(bucket.wait(1, { signal })).rejects.toThrow('over')
  await expect(setUp(Infinity).bucket.wait(1, { signal })).rejects.toThrow('over')
  expect(bucket.tokens()).toBe(2)
})

test('a wait beyond the deadline is refused at once and takes nothing', async () => {
  const { clock, bucket } = setUp(10, 1)
  await bucket.wait()
  const refused = bucket.wait(1, { deadlineMs: clock.now() + 99 })
  await expect(refused).rejects.toMatchObject({ code: 'ERR_TIMEOUT', retryable: true })
  expect([bucket.tokens(), clock.waiters()]).toEqual([0, 0])
})

test('a wait that ends at the deadline is granted', async () => {
  const { clock, bucket } = setUp(10, 1)
  await bucket.wait()
  const seen = follow(bucket.wait(1, { deadlineMs: clock.now() + 100 }))
  await clock.step(100)
  expect(seen.state).toBe('resolved')
})

test('a deadline that has passed refuses even what is there', async () => {
  const { clock, bucket } = setUp()
  for (const deadlineMs of [clock.now(), clock.now() - 1]) {
    await expect(bucket.wait(1, { deadlineMs })).rejects.toMatchObject({ code: 'ERR_TIMEOUT' })
  }
  expect(bucket.tokens()).toBe(2)
  await bucket.wait(1, { deadlineMs: Infinity })
})

test('an abort ends the wait with its reason, stops the timer and gives the tokens back', async () => {
  const { clock, bucket } = setUp(10, 1)
  await bucket.wait()
  const controller = new AbortController()
  const seen = follow(bucket.wait(1, { signal: controller.signal }))
  await clock.step(40)
  controller.abort(new Error('no longer needed'))
  await clock.step(0)
  expect(seen).toMatchObject({ state: 'rejected', error: { message: 'no longer needed' } })
  expect([bucket.tokens(), clock.waiters()]).toEqual([0.4, 0])
})

test('an abort after the wait changes nothing', async () => {
  const { clock, bucket } = setUp(10, 1)
  await bucket.wait()
  const controller = new AbortController()
  const seen = follow(bucket.wait(1, { signal: controller.signal }))
  await clock.step(100)
  controller.abort()
  await clock.step(0)
  expect(seen.state).toBe('resolved')
  expect(bucket.tokens()).toBe(0)
})

test('a wall clock that is set neither fills the bucket nor stops it from filling', async () => {
  const { clock, bucket } = setUp(10, 2)
  expect(bucket.allow(2)).toBe(true)
  for (const hours of [1, -2]) {
    clock.setTime(clock.now() + hours * 3_600_000)
    expect(bucket.allow()).toBe(false)
    await clock.step(100)
    expect(bucket.allow()).toBe(true)
  }
})

test('a deadline is an instant of the wall clock, also after that was set', async () => {
  const { clock, bucket } = setUp(10, 1)
  await bucket.wait()
  clock.setTime(clock.now() - 3_600_000)
  await expect(bucket.wait(1, { deadlineMs: clock.now() + 99 })).rejects.toMatchObject({
    code: 'ERR_TIMEOUT',
  })
  const seen = follow(bucket.wait(1, { deadlineMs: clock.now() + 100 }))
  await clock.step(100)
  expect(seen.state).toBe('resolved')
})

test('without a rate it waits until it is aborted', async () => {
  const { clock, bucket } = setUp(0, 1)
  await bucket.wait()
  const controller = new AbortController()
  const seen = follow(bucket.wait(1, { signal: controller.signal }))
  await clock.step(1e12)
  expect(seen.state).toBe('pending')
  controller.abort()
  await clock.step(0)
  expect(seen.state).toBe('rejected')
  expect(bucket.tokens()).toBe(0)
})

test('a wait keeps the process alive, and nothing else does', async () => {
  const { clock, bucket } = setUp(10, 1)
  bucket.allow()
  bucket.reserve()
  expect(clock.refCount()).toBe(0)
  const seen = follow(bucket.wait())
  expect(clock.refCount()).toBe(1)
  await clock.step(1_000)
  expect(seen.state).toBe('resolved')
})
