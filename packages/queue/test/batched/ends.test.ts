import { SluiceError } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import { createWorker } from '../../src/index.ts'
import { fakeRealTime } from '../support/real-time.ts'
import { late, Scene, seen, setups, take, unleased } from '../support/setups.ts'

describe.each(setups)('getters at a shutdown over $way', (setup) => {
  test('all of them end at once when fewer keys are there than getters', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.len()
    const gets = Array.from({ length: 10 }, () => seen(queue.get()))
    await scene.quiet()
    const adds = ['a', 'b', 'c'].map((item) => queue.add(item))
    await queue.shutDown()
    await Promise.all(adds)
    await scene.quiet()
    expect(gets.map(({ state }) => state)).toEqual(Array(10).fill('resolved'))
    expect(gets.map(({ value }) => value?.key)).toEqual([
      'a',
      'b',
      'c',
      ...Array(7).fill(undefined),
    ])
  })
})

describe.each([late, unleased])('an end over $way', (setup) => {
  test.each([0, 5_000])('with %i ms of grace comes within two seconds more', async (graceMs) => {
    const time = fakeRealTime()
    for (const silent of ['add', 'claim', 'finish', 'renew', 'tick', 'open', 'close']) {
      const scene = new Scene(setup)
      const queue = scene.queue()
      if (silent !== 'open') {
        await queue.addMany(['a', 'b', 'c'])
        await (await take(queue)).done()
      }
      const helds = silent === 'open' ? [] : [await take(queue), await take(queue)]
      scene.late.hold(silent)
      const calls = [seen<unknown>(queue.add('d')), seen<unknown>(queue.get())]
      for (const held of helds) calls.push(seen<unknown>(queue.doneMany([held])))
      queue.addSoon('soon')
      await scene.quiet()
      // Behind a batch that is in flight.
      calls.push(seen<unknown>(queue.add('e')))
      const closing = seen(queue.close({ graceMs }))
      await time.pass(graceMs + 2_000)
      expect([silent, closing.state]).not.toEqual([silent, 'waiting'])
      expect(calls.map(({ state }) => state)).not.toContain('waiting')
      scene.late.letGo(silent)
      scene.forget(queue)
      await scene.quiet()
      scene.takeErrors()
    }
  })

  test('a worker that holds a key and cannot reach the store stops, and reports the key it gives up', async () => {
    const time = fakeRealTime()
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    const told: string[] = []
    const worker = createWorker({
      queue,
      onError: (error) => told.push(String((error as SluiceError).code)),
      handler: () => scene.late.hold('finish'),
    })
    await scene.quiet()
    const stopping = seen(worker.stop({ graceMs: 1_000 }))
    await time.pass(3_000)
    expect(stopping.state).toBe('resolved')
    const closing = seen(queue.close())
    await time.pass(2_000)
    expect(closing.state).toBe('resolved')
    expect([told, scene.takeErrors()]).toEqual([[], ['ERR_CLOSING']])
    scene.late.letGo('finish')
    await scene.quiet()
    scene.takeErrors()
  })
})

describe('a close waits for adds that were accepted', () => {
  const locked = new SluiceError('ERR_STORE_BUSY', 'locked', { retryable: true })

  /** A queue whose next batch of two adds is refused as a whole, or fails for one key. */
  async function failing(answer: 'refused' | 'locked') {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.add('first')
    const add = scene.inner.add.bind(scene.inner)
    scene.inner.add = (name, asks, options) => {
      if (asks.length === 1) return add(name, asks, options)
      if (answer === 'refused') throw new Error('one of them is bad')
      scene.inner.add = add
      return asks.map(() => ({ outcome: 'failed', error: locked }))
    }
    return { time, scene, queue }
  }

  test('that wait behind a batch in flight, one after the other', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.add('first')
    scene.late.hold('add')
    const calls = [seen<unknown>(queue.add('a'))]
    await scene.quiet()
    // Calls of one key take turns.
    for (let nth = 0; nth < 5; nth += 1) {
      calls.push(seen<unknown>(queue.cancel('a')), seen<unknown>(queue.add('a')))
    }
    const closing = seen(queue.close())
    await scene.quiet()
    scene.late.letGo('add')
    await time.pass(1_000)
    expect(new Set([...calls, closing].map(({ state }) => state))).toEqual(new Set(['resolved']))
  })

  test.each(['refused', 'locked'] as const)('that are sent again: %s', async (answer) => {
    const { time, scene, queue } = await failing(answer)
    const adds = Array.from({ length: 32 }, (_, nth) => seen(queue.add(`key ${nth}`)))
    await scene.quiet()
    const closing = seen(queue.close())
    await time.pass(1_000)
    await scene.quiet()
    expect(new Set([...adds, closing].map(({ state }) => state))).toEqual(new Set(['resolved']))
  })
})
