import type { ClaimRequest } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import { createWorker, exponential, type StandardSchema } from '../../src/index.ts'
import { heldKeys } from '../support/held-keys.ts'
import { batchedSetups, late, Scene, SteppedWorker, seen, setups } from '../support/setups.ts'

const keys = ['a', 'b', 'c', 'd', 'e', 'f']

/** A schema that every item matches. */
const anything: StandardSchema<string> = {
  '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value: value as string }) },
}

describe.each(setups)('prefetch over $way', (setup) => {
  test.each([undefined, anything])(
    'every key runs once, in order, and is given back',
    async (schema) => {
      const scene = new Scene(setup)
      const queue = scene.queue<string>({ prefetch: 3, schema })
      await queue.addMany(keys)
      const ran: string[] = []
      const worker = createWorker({ queue, handler: (item) => void ran.push(item) })
      await worker.runUntilIdle()
      expect(ran).toEqual(keys)
      expect(await scene.states()).toEqual({})
    },
  )

  test('get and getMany claim nothing ahead', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 10 })
    await queue.addMany(keys)
    await queue.get()
    await queue.getMany(2)
    await scene.quiet()
    expect(await heldKeys(scene)).toEqual(['a', 'b', 'c'])
  })
})

describe.each(batchedSetups)('claims ahead of workers over $way', (setup) => {
  test('a key that was claimed ahead and fails is delayed by the limiter', async () => {
    const scene = new Scene(setup)
    const limiter = exponential({ baseMs: 60_000, maxMs: 60_000 })
    const queue = scene.limited<string>({ prefetch: 3, limiter })
    await queue.addMany(['a', 'b'])
    const ran: string[] = []
    const handler = (item: string) => {
      ran.push(item)
      throw new Error('no')
    }
    const worker = createWorker({ queue, handler, onError: () => undefined })
    await scene.clock.step(59_999)
    expect(ran).toEqual(['a', 'b'])
    expect(await scene.states()).toEqual({ a: 'backoff', b: 'backoff' })
    await worker.stop()
  })

  test('so many are claimed ahead, and start without another claim', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 3 })
    await queue.addMany(keys)
    const stepped = new SteppedWorker(queue)
    await scene.quiet()
    expect(await heldKeys(scene)).toEqual(['a', 'b', 'c', 'd'])
    stepped.end()
    await scene.quiet()
    expect(stepped.started).toEqual(['a', 'b'])
    for (const _ of keys) {
      stepped.end()
      await scene.quiet()
    }
    await queue.addMany(['g', 'h', 'i', 'j', 'k'])
    await scene.quiet()
    expect(await heldKeys(scene)).toEqual(['g', 'h', 'i', 'j'])
  })

  test('a queue without a running worker claims nothing', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 3 })
    await queue.addMany(keys)
    await scene.clock.step(60_000)
    expect(await heldKeys(scene)).toEqual([])
  })

  test('keys that no handler starts within 100 ms are given back, and not claimed again', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 2 })
    await queue.addMany(keys)
    const stepped = new SteppedWorker(queue)
    await scene.quiet()
    await scene.clock.step(99)
    expect(await heldKeys(scene)).toEqual(['a', 'b', 'c'])
    await scene.clock.step(1)
    expect(await heldKeys(scene)).toEqual(['a'])
    await scene.clock.step(20_000)
    expect(await heldKeys(scene)).toEqual(['a'])
    stepped.end()
    await scene.quiet()
    expect(stepped.started).toEqual(['a', 'b'])
    expect(await heldKeys(scene)).toEqual(['b', 'c', 'd'])
    await scene.clock.step(100)
    expect(await heldKeys(scene)).toEqual(['b'])
  })

  test('keys that were claimed ahead later are given back later', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 2 })
    await queue.addMany(keys)
    const stepped = new SteppedWorker(queue)
    await scene.quiet()
    await scene.clock.step(50)
    stepped.end()
    await scene.quiet()
    expect(await heldKeys(scene)).toEqual(['b', 'c', 'd'])
    await scene.clock.step(50)
    expect(await heldKeys(scene)).toEqual(['b', 'd'])
    await scene.clock.step(50)
    expect(await heldKeys(scene)).toEqual(['b'])
  })

  test('a key that has crashed twice is never claimed ahead, and others are not held up by it', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 3 })
    const crash = { limit: 1, holder: 'other', claimId: 'other', leaseMs: 1_000 }
    await queue.add('crashed')
    for (let crashes = 0; crashes < 2; crashes += 1) {
      const { claims } = await scene.inner.claim('q', crash)
      await scene.clock.step(1_000)
      await scene.inner.expire('q', claims, { dedupe: 'client-go', maxCrashes: 5 })
    }
    await queue.addMany(['a', 'b', 'c'], { priority: 1 })
    const stepped = new SteppedWorker(queue)
    await scene.quiet()
    expect((await scene.row('crashed'))?.state).toBe('ready')
    for (let ends = 0; ends < 3; ends += 1) {
      stepped.end()
      await scene.quiet()
    }
    expect(stepped.started).toEqual(['a', 'b', 'c', 'crashed'])
    stepped.end()
    await scene.quiet()
    expect(await scene.states()).toEqual({})
  })

  test('a shutdown gives them back, and then starts them in turn', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 10 })
    await queue.addMany(keys)
    const stepped = new SteppedWorker(queue)
    await scene.quiet()
    await queue.shutDown()
    await scene.quiet()
    expect(await heldKeys(scene)).toEqual(['a'])
    for (const key of keys) {
      expect(stepped.started.at(-1)).toBe(key)
      stepped.end()
      await scene.quiet()
    }
    await stepped.worker.stopped
    expect(await scene.states()).toEqual({})
  })

  test('a drain waits for them as for everything that is due', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 10 })
    await queue.addMany(keys)
    const stepped = new SteppedWorker(queue)
    await scene.quiet()
    let isDrained = false
    const draining = queue.shutDownWithDrain().then(() => {
      isDrained = true
    })
    for (const key of keys) {
      await scene.quiet()
      expect([isDrained, stepped.started.at(-1)]).toEqual([false, key])
      stepped.end()
    }
    await draining
    expect(await scene.states()).toEqual({})
  })

  test('close gives them back', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 10 })
    await queue.addMany(keys)
    const stepped = new SteppedWorker(queue)
    await scene.quiet()
    const closing = queue.close({ graceMs: 1_000 })
    await scene.quiet()
    expect(await heldKeys(scene)).toEqual(['a'])
    stepped.end()
    await closing
    expect(new Set(Object.values(await scene.states()))).toEqual(new Set(['ready']))
  })

  test('a worker that stops gives them back at once, and has done so when it has stopped', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 3 })
    await queue.addMany(keys)
    const stepped = new SteppedWorker(queue)
    await scene.quiet()
    const stopping = stepped.worker.stop()
    await scene.quiet()
    expect(await heldKeys(scene)).toEqual(['a'])
    stepped.end()
    await stopping
    expect(await heldKeys(scene)).toEqual([])
  })

  test('a worker has not stopped before the store has taken them back', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 3 })
    await queue.addMany(keys)
    const stepped = new SteppedWorker(queue)
    await scene.quiet()
    stepped.end()
    await stepped.worker.stop()
    expect(await heldKeys(scene)).toEqual([])
  })

  test('a pause gives them back', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 10 })
    await queue.addMany(keys)
    const stepped = new SteppedWorker(queue)
    await scene.quiet()
    await queue.inspect.pause()
    await scene.clock.step(100)
    expect(await heldKeys(scene)).toEqual(['a'])
    stepped.end()
    await scene.clock.step(20_000)
    expect(stepped.started).toEqual(['a'])
    await queue.inspect.resume()
    await scene.quiet()
    expect(stepped.started).toEqual(['a', 'b'])
  })

  test('after a pause they are claimed, and given back, as before', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 2 })
    await queue.addMany(keys)
    const stepped = new SteppedWorker(queue)
    await scene.quiet()
    await queue.inspect.pause()
    await scene.quiet()
    await queue.inspect.resume()
    for (const key of ['b', 'c', 'd']) {
      stepped.end()
      await scene.quiet()
      expect(stepped.started.at(-1)).toBe(key)
      expect((await heldKeys(scene)).length).toBeGreaterThan(1)
      await scene.clock.step(100)
      expect(await heldKeys(scene)).toEqual([key])
    }
  })

  test('of short leases they are given back after a third', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({ prefetch: 2, leaseMs: 150 })
    await queue.addMany(keys)
    const stepped = new SteppedWorker(queue)
    await scene.quiet()
    await scene.clock.step(49)
    expect(await heldKeys(scene)).toEqual(['a', 'b', 'c'])
    await scene.clock.step(1)
    expect(await heldKeys(scene)).toEqual(['a'])
    stepped.end()
    await scene.quiet()
  })

  test.each(['pause', 'park'] as const)(
    '%s releases them at once, whichever queue object is asked',
    async (verb) => {
      const scene = new Scene(setup)
      const queue = scene.queue({ prefetch: 3 })
      await queue.addMany(keys)
      const stepped = new SteppedWorker(queue)
      await scene.quiet()
      const { inspect } = scene.queue()
      expect(await (verb === 'pause' ? inspect.pause() : inspect.park('b'))).toBe('changed')
      await scene.quiet()
      expect(await heldKeys(scene)).toEqual(['a'])
      if (verb === 'park') expect((await scene.row('b'))?.state).toBe('parked')
      stepped.end()
      await scene.quiet()
      expect(stepped.started).toEqual(verb === 'pause' ? ['a'] : ['a', 'c'])
    },
  )

  test('an item that is added since is for the next run', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue<{ n: number }>({ prefetch: 10, keyOf: ({ n }) => `k${n % 10}` })
    await queue.add({ n: 1 })
    await queue.add({ n: 2 })
    const gate = Promise.withResolvers<void>()
    const ran: number[] = []
    createWorker({
      queue,
      handler: async ({ n }) => {
        ran.push(n)
        if (n === 1) await gate.promise
      },
    })
    await scene.quiet()
    await queue.add({ n: 12 })
    gate.resolve()
    await scene.quiet()
    expect(ran).toEqual([1, 2, 12])
  })
})

describe('prefetch and a pause', () => {
  test('keys of a claim that was in flight are not kept ahead', async () => {
    const scene = new Scene(late)
    const queue = scene.queue({ prefetch: 4 })
    await queue.addMany(Array.from({ length: 50 }, (_, n) => `k${n}`))
    const stepped = new SteppedWorker(queue, 2)
    await scene.quiet()
    scene.late.hold('claim')
    // Uses up what was claimed ahead, so that a claim leaves; then nothing waits for its keys.
    stepped.end()
    stepped.end()
    await scene.quiet()
    const pausing = queue.inspect.pause()
    scene.late.letGo('claim')
    await pausing
    await scene.quiet()
    expect(await heldKeys(scene)).toHaveLength(2)
  })
})

describe('prefetch and a slow store', () => {
  test('claims take keys for free slots and ahead of them, no more', async () => {
    const scene = new Scene(late)
    const queue = scene.queue({ prefetch: 4 })
    await queue.addMany(Array.from({ length: 50 }, (_, n) => `k${n}`))
    const stepped = new SteppedWorker(queue, 2)
    await scene.quiet()
    const limits = scene.late.requests('claim').map((request) => (request as ClaimRequest).limit)
    expect(limits[0]).toBe(6)
    expect(await heldKeys(scene)).toHaveLength(6)
    expect(stepped.started).toHaveLength(2)
  })
})

test('a close hands out no key that was claimed ahead, while an addSoon is being stored', async () => {
  const scene = new Scene(late)
  const queue = scene.queue({ prefetch: 3 })
  await queue.addMany(keys)
  const stepped = new SteppedWorker(queue)
  await scene.quiet()
  scene.late.hold('add')
  queue.addSoon('soon')
  await scene.quiet()
  const closing = queue.close({ graceMs: 5_000 })
  await scene.quiet()
  const getting = queue.get()
  stepped.end()
  await scene.quiet()
  expect(stepped.started).toEqual(['a'])
  scene.late.letGo('add')
  await scene.quiet()
  await closing
  expect(await getting).toBeUndefined()
  expect(await heldKeys(scene)).toEqual([])
})

test('a worker that stops gives back the keys of a claim in flight, too', async () => {
  const scene = new Scene(late)
  const queue = scene.queue({ prefetch: 3 })
  const stepped = new SteppedWorker(queue)
  await scene.quiet()
  scene.late.hold('claim')
  await queue.addMany(keys)
  await scene.quiet()
  const stopping = seen(stepped.worker.stop())
  await scene.quiet()
  expect(stopping.state).toBe('waiting')
  scene.late.letGo('claim')
  await scene.quiet()
  expect(stopping.state).toBe('resolved')
  expect(await heldKeys(scene)).toEqual([])
})
