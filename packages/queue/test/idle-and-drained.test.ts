import { expect, test } from 'vitest'
import { createWorker } from '../src/index.ts'
import { Scene, seen, setups, take } from './setups.ts'

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
  'runUntilIdle leaves nothing that is ready, though time goes on ($way)',
  async (setup) => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.addMany(['a', 'b', 'c'])
    // The wall moves whenever it is looked at.
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
