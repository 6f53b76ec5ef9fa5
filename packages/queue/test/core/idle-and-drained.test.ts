import { expect, test } from 'vitest'
import { createWorker, type SchemaResult, type StandardSchema } from '../../src/index.ts'
import { nextTurn } from '../support/late-driver.ts'
import { drainKeys, late, Scene, seen, setups, take, unleased } from '../support/setups.ts'

// The "now" in an answer is a moment later than the call: time moves in between.

test.each(setups)('a drain waits for due keys, however long it takes ($way)', async (setup) => {
  const scene = new Scene(setup)
  const queue = scene.queue()
  await queue.addMany(['a', 'b'])
  const held = await take(queue)
  const draining = seen(queue.shutDownWithDrain())
  await scene.clock.step(1_000)
  await held.done()
  await scene.quiet()
  expect(draining.state).toBe('waiting')
  const last = await take(queue)
  await scene.clock.step(1_000)
  await last.done()
  await scene.quiet()
  expect(draining.state).toBe('resolved')
})

test.each(setups)(
  'a drain does not wait for keys that became due after it ($way)',
  async (setup) => {
    const scene = new Scene(setup)
    const queue = scene.delaying()
    await queue.add('a')
    await queue.addAfter('later', 500)
    const held = await take(queue)
    const draining = seen(queue.shutDownWithDrain())
    await scene.clock.step(1_000)
    expect(draining.state).toBe('waiting')
    await held.done()
    await scene.quiet()
    expect(draining.state).toBe('resolved')
    expect(await scene.states()).toEqual({ later: 'ready' })
  },
)

test.each(setups)(
  'a drain waits for a due key behind many that became due after it ($way)',
  async (setup) => {
    const scene = new Scene(setup)
    const queue = scene.delaying()
    // As a store that does not say since when a key is due.
    const tick = scene.inner.tick.bind(scene.inner)
    scene.inner.tick = async (...args) => {
      const reply = await tick(...args)
      return { ...reply, nextAt: Math.max(reply.nextAt, reply.now) }
    }
    await queue.add('z', { priority: -1 })
    for (let n = 0; n < 12; n += 1) await queue.addAfter(`k${n}`, 500)
    const draining = seen(queue.shutDownWithDrain())
    await scene.clock.step(1_000)
    expect(draining.state).toBe('waiting')
    expect(await drainKeys(scene.queue())).toHaveLength(13)
    await scene.clock.step(1_000)
    expect(draining.state).toBe('resolved')
  },
)

test.each(setups)(
  'runUntilIdle leaves nothing that is ready, though time goes on ($way)',
  async (setup) => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.addMany(['a', 'b', 'c'])
    // The wall clock moves whenever it is read.
    const now = scene.clock.now.bind(scene.clock)
    let looks = 0
    scene.clock.now = () => now() + looks++
    const ran: string[] = []
    const worker = createWorker({
      queue,
      handler: (item) => {
        ran.push(item)
      },
    })
    await worker.runUntilIdle()
    expect(ran).toEqual(['a', 'b', 'c'])
    scene.clock.now = now
  },
)

test.each(setups)(
  'runUntilIdle runs a key whose item is still being checked ($way)',
  async (setup) => {
    const scene = new Scene(setup)
    const answer = Promise.withResolvers<SchemaResult<string>>()
    const schema: StandardSchema<string> = {
      '~standard': { version: 1, vendor: 'test', validate: () => answer.promise },
    }
    const unchecked = scene.queue()
    await unchecked.add('a')
    const ran: string[] = []
    const worker = createWorker({
      queue: scene.queue({ schema }),
      handler: (item) => {
        ran.push(item)
      },
    })
    const idle = seen(worker.runUntilIdle())
    await scene.quiet()
    expect([idle.state, ran]).toEqual(['waiting', []])
    answer.resolve({ value: 'a' })
    await scene.quiet()
    expect([idle.state, ran]).toEqual(['resolved', ['a']])
  },
)

test.each([late, unleased])(
  'runUntilIdle ends though keys are added without a pause, none of them due ($way)',
  async (setup) => {
    const scene = new Scene(setup)
    // Delayed keys wake no worker, as on the drivers of databases.
    Object.assign(scene.late, { watch: undefined })
    const queue = scene.delaying()
    const worker = createWorker({ queue, handler: () => undefined })
    await scene.quiet()
    let isIdle = false
    let added = 0
    const produce = async (): Promise<void> => {
      for (; !isIdle && added < 1_000; added += 1) await queue.addAfter('later', 60_000)
    }
    const producing = produce()
    await worker.runUntilIdle()
    isIdle = true
    await producing
    expect(added).toBeLessThan(1_000)
  },
)

test.each([late, unleased])(
  'runUntilIdle ends though another process took the key that was due ($way)',
  async (setup) => {
    const scene = new Scene(setup)
    const { inner } = scene
    // This process is not woken, so that it looks before it claims.
    Object.assign(scene.late, { watch: undefined })
    const worker = createWorker({ queue: scene.queue(), handler: () => undefined })
    await scene.quiet()
    const ask = { key: 'a', item: undefined, priority: 0, delayMs: 0 }
    await inner.add('q', [ask], { dedupe: 'client-go', failuresExpireMs: 1_000 })
    scene.late.before = async ({ verb }) => {
      await nextTurn()
      if (verb !== 'claim') return
      await inner.claim('q', { limit: 1, holder: 'other', claimId: 'other', leaseMs: Infinity })
    }
    const idle = seen(worker.runUntilIdle())
    await scene.quiet()
    expect([idle.state, (await scene.row('a'))?.state]).toEqual(['waiting', 'ready'])
    await scene.clock.step(10_000)
    await scene.clock.step(10_000)
    expect([idle.state, (await scene.row('a'))?.holder]).toEqual(['resolved', 'other'])
  },
)
