import { once } from 'node:events'
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import type { Held, Queue } from '../../src/index.ts'
import { Scene, seen, setups, take } from '../support/setups.ts'

/** The iterator itself, to call by hand. */
function iterate(queue: Queue<string>): AsyncIterator<Held<string>> {
  return queue[Symbol.asyncIterator]()
}

describe.each(setups)('iteration over $way', (setup) => {
  test('yields keys as they come, and ends when the queue is shut down and empty', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.addMany(['a', 'b'])
    const keys: string[] = []
    const loop = (async () => {
      for await (const held of queue) {
        keys.push(held.key)
        await held.done()
      }
    })()
    await scene.quiet()
    await queue.add('c')
    await scene.quiet()
    await queue.shutDown()
    await loop
    expect(keys).toEqual(['a', 'b', 'c'])
  })

  test('the event loop turns in a loop that adds keys again and awaits nothing else', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    let hasTurned = false
    setImmediate(() => {
      hasTurned = true
    })
    let runs = 0
    for await (const held of queue) {
      runs += 1
      if (hasTurned || runs === 2_000) break
      await queue.add(held.item)
      await held.done()
    }
    expect(hasTurned).toBe(true)
  })

  test('Held: going on to the next never finishes the one before', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.addMany(['a', 'b'])
    const iterator = iterate(queue)
    const first = (await iterator.next()).value as Held<string>
    const second = (await iterator.next()).value as Held<string>
    expect(await scene.states()).toEqual({ a: 'processing', b: 'processing' })
    expect(await first.done()).toBe('idle')
    expect(await second.done()).toBe('idle')
  })

  test('Held: break releases only the last one yielded, and leaves the queue open', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.addMany(['a', 'b', 'c'])
    for await (const held of queue) {
      if (held.key === 'b') break
    }
    expect(await scene.states()).toEqual({ a: 'processing', b: 'ready', c: 'ready' })
    expect(queue.shuttingDown).toBe(false)
    expect((await take(queue)).key).toBe('b')
  })

  test('Held: so does a throw, which reaches the caller', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited()
    await queue.add('a')
    const loop = (async () => {
      for await (const held of queue) throw new Error(`cannot do ${held.key}`)
    })()
    await expect(loop).rejects.toThrow('cannot do a')
    expect(await scene.states()).toEqual({ a: 'ready' })
    expect(await queue.numRequeues('a')).toBe(0)
  })

  test('Held: so does a return', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.addMany(['a', 'b'])
    const first = async (): Promise<string> => {
      for await (const held of queue) return held.key
      return 'none'
    }
    expect(await first()).toBe('a')
    expect(await scene.states()).toEqual({ a: 'ready', b: 'ready' })
  })

  test('Held: one that was finished or detached is not released', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.addMany(['a', 'b'])
    for await (const held of queue) {
      await held.done()
      break
    }
    let kept: Held<string> | undefined
    for await (const held of queue) {
      kept = held.detach()
      break
    }
    expect(await scene.states()).toEqual({ b: 'processing' })
    expect(await kept?.done()).toBe('idle')
  })

  test('a loop over the iterator goes on after the keys that were taken from it', async () => {
    const queue = new Scene(setup).queue()
    await queue.addMany(['a', 'b', 'c'])
    const iterator = queue[Symbol.asyncIterator]()
    const first = (await iterator.next()).value as Held<string>
    await queue.shutDown()
    const rest: string[] = []
    for await (const held of iterator) {
      rest.push(held.key)
      await held.done()
      if (held.key === 'c') await first.done()
    }
    expect([first.key, ...rest]).toEqual(['a', 'b', 'c'])
  })

  test('return before the first key, and twice, is no harm', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const iterator = iterate(queue)
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined })
    expect(await iterator.return?.()).toEqual({ done: true, value: undefined })
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
    await queue.add('a')
    expect(await queue.len()).toBe(1)
  })

  test('return ends a next that waits, which takes no key afterwards', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const iterator = iterate(queue)
    const waiting = iterator.next()
    await scene.quiet()
    await iterator.return?.()
    expect(await waiting).toEqual({ done: true, value: undefined })
    await queue.add('a')
    await scene.quiet()
    expect(await scene.states()).toEqual({ a: 'ready' })
  })

  test('return while a key is on its way to a next gives the key back', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const iterator = iterate(queue)
    const waiting = iterator.next()
    await scene.quiet()
    const added = queue.add('a')
    const returned = iterator.return?.()
    await Promise.all([waiting, added, returned])
    await scene.quiet()
    expect(await scene.states()).toEqual({ a: 'ready' })
  })

  test('a stream that is destroyed while it waits takes no key afterwards', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const stream = Readable.from(queue)
    stream.read()
    await scene.quiet()
    stream.destroy()
    await once(stream, 'close')
    await queue.add('a')
    await scene.quiet()
    expect(await scene.states()).toEqual({ a: 'ready' })
  })

  test('once it has ended it stays so', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.shutDown()
    const iterator = iterate(queue)
    expect((await iterator.next()).done).toBe(true)
    expect((await iterator.next()).done).toBe(true)
  })

  test('two loops share the keys of one queue', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const keys: string[] = []
    const loop = async (): Promise<void> => {
      for await (const held of queue) {
        keys.push(held.key)
        await scene.quiet()
        await held.done()
      }
    }
    const loops = Promise.all([loop(), loop()])
    await queue.addMany(['a', 'b', 'c', 'd', 'e'])
    await scene.quiet()
    await queue.shutDown()
    await loops
    expect(keys.sort()).toEqual(['a', 'b', 'c', 'd', 'e'])
  })
})

describe.each(setups)('iteration at the end over $way', (setup) => {
  test('it waits for held keys, so that a re-added key is not stranded', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    const elsewhere = await take(queue)
    await queue.add('a')
    await queue.shutDown()
    const keys: string[] = []
    const loop = (async () => {
      for await (const held of queue) {
        keys.push(held.key)
        await held.done()
      }
    })()
    const ended = seen(loop)
    await scene.clock.step(30_000)
    expect(ended.state).toBe('waiting')
    expect(await elsewhere.done()).toBe('ready')
    await scene.quiet()
    expect(keys).toEqual(['a'])
    expect(ended.state).toBe('resolved')
  })

  test('several loops wait for held keys, and all end', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    const elsewhere = await take(queue)
    const loops = [1, 2, 3].map(async () => {
      for await (const held of queue) await held.done()
    })
    const ended = seen(Promise.all(loops))
    await scene.quiet()
    await queue.shutDown()
    await scene.clock.step(30_000)
    expect(ended.state).toBe('waiting')
    await elsewhere.done()
    await scene.quiet()
    expect(ended.state).toBe('resolved')
  })

  test('loops that begin after the shutdown, one after the other, wait in peace', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.addMany(['a', 'b'])
    const elsewhere = await queue.getMany(2)
    await queue.shutDown()
    const first = seen(iterate(queue).next())
    await scene.quiet()
    const second = seen(iterate(queue).next())
    await scene.quiet()
    await elsewhere[0]?.done()
    await scene.quiet()
    expect([first.state, second.state]).toEqual(['waiting', 'waiting'])
    await elsewhere[1]?.done()
    await scene.quiet()
    expect([first.value?.done, second.value?.done]).toEqual([true, true])
  })

  test('a loop that still holds keys ends when these are given back', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.addMany(['a', 'b'])
    const kept: Held<string>[] = []
    const loop = (async () => {
      for await (const held of queue) kept.push(held)
    })()
    const ended = seen(loop)
    await scene.quiet()
    await queue.shutDown()
    await scene.quiet()
    expect([kept.length, ended.state]).toEqual([2, 'waiting'])
    await queue.doneMany(kept)
    await scene.quiet()
    expect(ended.state).toBe('resolved')
  })

  test('close ends it', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.add('a')
    await take(queue)
    const waiting = seen(iterate(queue).next())
    await scene.quiet()
    const closing = queue.close()
    await scene.clock.step(1_000)
    await closing
    await scene.quiet()
    expect(waiting.value).toEqual({ done: true, value: undefined })
    expect(scene.takeErrors()).toEqual(['ERR_CLOSING'])
  })
})
