import { SluiceError, systemClock } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { createRateLimitingQueue } from 'sluice'
import { expect, onTestFinished, test } from 'vitest'
import { KeyAdder } from '../src/key-adder.ts'
import {
  deployment,
  deploymentInformer,
  deployments,
  enqueue,
  server,
  serverForEach,
} from './stage.ts'

serverForEach()

/** More keys than `addSoon` keeps. */
const count = 10_500

function leasingQueue() {
  const errors: unknown[] = []
  // With leases a queue stores keys as in a durable store: not in the turn in which they are added.
  const queue = createRateLimitingQueue<string>({
    ...{ name: 'deployments', leaseMs: 30_000, onError: (error: unknown) => errors.push(error) },
  })
  onTestFinished(() => queue.close())
  return { queue, errors }
}

test('a list with more objects than addSoon keeps becomes keys, all of them', async () => {
  for (let n = 0; n < count; n += 1) server.set(deployments, deployment(`web-${n}`))
  const { queue, errors } = leasingQueue()
  await enqueue(deploymentInformer(), queue).synced
  await expect.poll(() => queue.len()).toBe(count)
  expect(errors).toEqual([])
})

test('a stop adds what waits before it resolves, all of it', async () => {
  const { queue, errors } = leasingQueue()
  const adder = new KeyAdder(queue, systemClock, (error) => errors.push(error))
  adder.add(['first'])
  adder.add(Array.from({ length: count }, (_, n) => `web-${n}`))
  await adder.stop()
  expect([await queue.len(), errors]).toEqual([1 + count, []])
})

test('a stop waits for the call in flight: if it fails, its keys are left to addSoon before the queue closes', async () => {
  const error = new SluiceError('ERR_STORE', 'no connection', { retryable: true })
  const call = Promise.withResolvers<void>()
  const soon: string[] = []
  const queue = { addSoon: (key: string) => void soon.push(key), addMany: () => call.promise }
  const adder = new KeyAdder(queue, systemClock, () => {})
  adder.add(['a'])
  adder.add(['b'])
  const stopped = adder.stop().then(() => [...soon])
  call.reject(error)
  expect(await stopped).toEqual(['b', 'a'])
})

/** A store that can be out of reach. */
function stage(error: unknown) {
  const clock = fakeClock(0)
  const reported: unknown[] = []
  const soon: string[] = []
  const added: [number, ...string[]][] = []
  const store = { isDown: true }
  const queue = {
    addSoon: (key: string) => void soon.push(key),
    addMany: async (keys: readonly string[]) => {
      added.push([clock.now(), ...keys])
      if (store.isDown) throw error
    },
  }
  const adder = new KeyAdder(queue, clock, (each) => reported.push(each))
  return { clock, reported, soon, added, store, adder }
}

test('keys that a store does not take are added again, with pauses that grow until it takes some', async () => {
  const error = new SluiceError('ERR_STORE', 'no connection', { retryable: true })
  const { clock, reported, soon, added, store, adder } = stage(error)
  adder.add(['a'])
  adder.add(['b', 'a'])
  await clock.step(1_500)
  store.isDown = false
  adder.add(['c'])
  await clock.step(10_000)
  store.isDown = true
  adder.add(['d'])
  await clock.step(500)
  expect(added).toEqual([
    [0, 'a'],
    [500, 'b', 'a'],
    [1_500, 'b', 'a'],
    [3_500, 'b', 'a', 'c'],
    [11_500, 'd'],
    [12_000, 'd'],
  ])
  expect([reported, soon]).toEqual([[error, error, error, error, error], []])
})

test('a pause keeps the process alive, and stop ends it', async () => {
  const { clock, adder } = stage(new SluiceError('ERR_STORE', 'no connection', { retryable: true }))
  adder.add(['a'])
  await clock.step(0)
  expect(clock.refCount()).toBe(1)
  await adder.stop()
  expect(clock.refCount()).toBe(0)
})

test('keys that a queue refuses, and those that wait at the stop, are left to addSoon', async () => {
  const refused = stage(new SluiceError('ERR_SHUT_DOWN', 'the queue is shut down'))
  refused.adder.add(['a', 'b'])
  await refused.clock.step(60_000)
  expect([refused.soon, refused.reported]).toEqual([['a', 'b'], []])

  const down = stage(new SluiceError('ERR_UNKNOWN_OUTCOME', 'the connection was lost'))
  down.adder.add(['a'])
  await down.clock.step(0)
  down.adder.add(['b'])
  await down.adder.stop()
  await down.clock.step(60_000)
  expect(down.soon).toEqual(['a', 'b'])
  expect(down.added).toHaveLength(1)
})

test.each([
  ['has no addMany', undefined],
  ['refuses a batch', () => Promise.reject(new Error('a bad key'))],
])(
  'a queue that %s, and whose addSoon throws for a key, is given the others',
  async (_, addMany) => {
    const soon: string[] = []
    const bad = new Error('of bad')
    const addSoon = (key: string): void => {
      if (key === 'bad') throw bad
      soon.push(key)
    }
    const reported: unknown[] = []
    const queue = { addSoon, ...(addMany && { addMany }) }
    const adder = new KeyAdder(queue, fakeClock(), (error) => reported.push(error))
    adder.add(['a', 'bad', 'b'])
    await adder.stop()
    adder.add(['c'])
    await adder.stop()
    expect([soon, reported]).toEqual([['a', 'b', 'c'], [bad]])
  },
)

test('a queue of another library that has no addMany is given its keys by addSoon', async () => {
  const soon: string[] = []
  const adder = new KeyAdder({ addSoon: (key) => void soon.push(key) }, fakeClock(), () => {})
  adder.add(['a', 'b'])
  await adder.stop()
  expect(soon).toEqual(['a', 'b'])
})
