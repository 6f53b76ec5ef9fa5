import { memoryDriver, type ReadyOrder } from '@sluice/memory'
import { describe, expect, test } from 'vitest'
import { direct, drainKeys, Scene, setups, take } from '../support/setups.ts'

/** An order of the user's: last in, first out; a key that is touched goes to the top. */
class Stack implements ReadyOrder {
  readonly log: string[] = []
  readonly #keys: string[] = []

  push(key: string): void {
    this.log.push(`push ${key}`)
    this.#keys.push(key)
  }

  touch(key: string): void {
    this.log.push(`touch ${key}`)
    this.#keys.splice(this.#keys.indexOf(key), 1)
    this.#keys.push(key)
  }

  pop(): string {
    this.log.push('pop')
    const key = this.#keys.pop()
    if (key === undefined) throw new Error('popped while empty')
    return key
  }

  len(): number {
    return this.#keys.length
  }
}

describe.each(setups)('an order of the user’s over $way', (setup) => {
  test('decides the order of ready keys; an add of a pending key touches it', async () => {
    const order = new Stack()
    const queue = new Scene(setup, memoryDriver({ order })).queue()
    expect(queue.capabilities.order).toBe('custom')
    for (const key of ['a', 'b', 'c', 'a']) await queue.add(key)
    expect(await drainKeys(queue)).toEqual(['a', 'c', 'b'])
    expect(order.log.slice(0, 4)).toEqual(['push a', 'push b', 'push c', 'touch a'])
  })

  test('a held key is pushed at done, once, and not touched before', async () => {
    const order = new Stack()
    const queue = new Scene(setup, memoryDriver({ order })).queue()
    await queue.add('a')
    const held = await take(queue)
    await queue.add('a')
    await queue.add('a')
    order.log.length = 0
    await held.done()
    expect(order.log).toEqual(['push a'])
  })

  test('it is never popped while it is empty', async () => {
    const order = new Stack()
    const scene = new Scene(setup, memoryDriver({ order }))
    const queue = scene.delaying()
    await queue.addAfter('a', 10)
    const waiting = queue.get()
    await scene.clock.step(10)
    expect((await waiting)?.key).toBe('a')
    expect(order.len()).toBe(0)
  })
})

test.each(['get', 'getMany', 'doneMany'] as const)(
  'an error of its methods rejects %s, which does not throw',
  async (verb) => {
    const order = new Stack()
    const queue = new Scene(direct, memoryDriver({ order })).queue()
    await queue.add('a')
    const helds = verb === 'doneMany' ? [await take(queue)] : []
    // It is ready, once more if it is held.
    await queue.add('a')
    order.pop = order.push = () => {
      throw new Error('out of order')
    }
    const call = {
      get: () => queue.get(),
      getMany: () => queue.getMany(2),
      doneMany: () => queue.doneMany(helds),
    }[verb]()
    await expect(call).rejects.toThrow('out of order')
  },
)

/** An order whose function `name` throws the next time that it is called. */
function failing(order: Stack, name: 'push' | 'pop'): void {
  order[name] = () => {
    Reflect.deleteProperty(order, name)
    throw new Error('out of order')
  }
}

test.each(['add', 'done', 'release', 'retry'] as const)(
  'a key whose push throws in %s is handed out all the same, and a drain ends',
  async (verb) => {
    const order = new Stack()
    const queue = new Scene(direct, memoryDriver({ order })).queue()
    await queue.add('held')
    const held = await take(queue)
    await queue.add('held')
    failing(order, 'push')
    const call = verb === 'add' ? queue.add('new') : held[verb]()
    await expect(call).rejects.toThrow('out of order')
    expect(await held.done()).toBe(verb === 'add' ? 'ready' : 'lost')
    expect((await drainKeys(queue)).toSorted()).toEqual(verb === 'add' ? ['held', 'new'] : ['held'])
    await queue.shutDownWithDrain()
  },
)

test('keys that were taken before pop throws are handed out', async () => {
  const order = new Stack()
  const queue = new Scene(direct, memoryDriver({ order })).queue()
  await queue.addMany(['a', 'b'])
  const { pop } = order
  order.pop = () => {
    failing(order, 'pop')
    return pop.call(order)
  }
  expect((await queue.getMany(2)).map(({ key }) => key)).toEqual(['b'])
  expect(await drainKeys(queue)).toEqual(['a'])
})
