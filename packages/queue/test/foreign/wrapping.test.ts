import { exponential } from '@sluice/limiters'
import { describe, expect, test } from 'vitest'
import { createDelayingQueue, createRateLimitingQueue } from '../../src/index.ts'
import { refusal } from '../support/refusal.ts'
import { drainKeys, Scene, setups, take } from '../support/setups.ts'

describe.each(setups)('a layer around one of ours over $way', (setup) => {
  test('shares the core: a key that one adds the other hands out', async () => {
    const scene = new Scene(setup)
    const below = scene.queue()
    const delaying = createDelayingQueue({ queue: below })
    const limited = createRateLimitingQueue({ queue: delaying })
    expect(delaying.capabilities.delays).toBe('store')
    await below.add('a')
    await delaying.addAfter('b', 10)
    await limited.addRateLimited('c')
    expect((await take(limited)).key).toBe('a')
    await scene.clock.step(10)
    expect(await drainKeys(below)).toEqual(['c', 'b'])
    expect(await limited.numRequeues('c')).toBe(1)
  })

  test('a shutdown and a close are of all layers', async () => {
    const scene = new Scene(setup)
    const below = scene.queue()
    const above = createRateLimitingQueue({ queue: below })
    await above.add('a')
    const held = await take(above)
    await below.shutDown()
    expect(above.shuttingDown).toBe(true)
    expect(await refusal(above.add('b'))).toMatchObject({ code: 'ERR_SHUT_DOWN' })
    expect(await below.done(held)).toBe('idle')
    await above.close()
    expect(await refusal(below.len())).toMatchObject({ code: 'ERR_CLOSED' })
  })

  test('Held: the layer that handed it out decides what disposal means', async () => {
    const scene = new Scene(setup)
    const below = scene.queue()
    const above = createRateLimitingQueue({ queue: below })
    await below.addMany(['a', 'b'])
    {
      await using a = await take(below)
      await using b = await take(above)
      expect([a.key, b.key]).toEqual(['a', 'b'])
    }
    expect(await scene.states()).toEqual({ a: 'ready', b: 'backoff' })
  })

  test('the limiter is the one given, else that of the queue below', async () => {
    const scene = new Scene(setup)
    const own = exponential({ baseMs: 100, maxMs: 1_000 })
    const below = scene.queue({ limiter: own })
    await createRateLimitingQueue({ queue: below }).addRateLimited('own')
    expect((await scene.row('own'))?.dueAt).toBe(scene.clock.now() + 100)
    const limiter = exponential({ baseMs: 300, maxMs: 3_000 })
    await createRateLimitingQueue({ queue: below, limiter }).addRateLimited('given')
    expect((await scene.row('given'))?.dueAt).toBe(scene.clock.now() + 300)
  })
})
