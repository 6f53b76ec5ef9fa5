import { type Ask, type DirectClaim, type DirectQueue, type Driver, never } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { expect, test } from 'vitest'
import { memoryDriver, type ReadyOrder } from '../src/index.ts'
import { blankClaim } from './blank-claim.ts'

/** An order by the text of the keys that records its calls. */
class Alphabet implements ReadyOrder {
  readonly told: string[] = []
  readonly #keys: string[] = []

  push(key: string): void {
    this.told.push(`push ${key}`)
    if (this.#keys.includes(key)) throw new Error(`${key} was pushed twice`)
    this.#keys.push(key)
    this.#keys.sort()
  }

  touch(key: string): void {
    this.told.push(`touch ${key}`)
    if (!this.#keys.includes(key)) throw new Error(`${key} was touched and is not here`)
  }

  pop(): string {
    const key = this.#keys.shift()
    if (key === undefined) throw new Error('popped from an empty order')
    this.told.push(`pop ${key}`)
    return key
  }

  len(): number {
    return this.#keys.length
  }
}

interface Scene {
  readonly order: Alphabet
  readonly clock: ReturnType<typeof fakeClock>
  readonly driver: Driver
  readonly queue: DirectQueue
}

function scene(): Scene {
  const order = new Alphabet()
  const clock = fakeClock()
  const driver = memoryDriver({ order })
  void driver.open({ clock })
  return { order, clock, driver, queue: driver.direct!('q') }
}

function add(queue: DirectQueue, ...keys: string[]): void {
  for (const key of keys) queue.add(key, undefined, 0, options)
}

function claim(queue: DirectQueue): DirectClaim | undefined {
  const into = blankClaim()
  return queue.claim(into, 'h', never) ? into : undefined
}

function drain(queue: DirectQueue): string[] {
  const keys: string[] = []
  for (let held = claim(queue); held !== undefined; held = claim(queue)) keys.push(held.key)
  return keys
}

const options = { dedupe: 'client-go', failuresExpireMs: never } as const

test('without an order of its own a queue is first in, first out', () => {
  const driver = memoryDriver()
  void driver.open({ clock: fakeClock() })
  const queue = driver.direct!('q')
  add(queue, 'c', 'a', 'b', 'a')
  expect(drain(queue)).toEqual(['c', 'a', 'b'])
  expect(driver.capabilities.order).toBe('strict')
})

test('push for new keys and for dirty ones at done, pop only while there are some, touch only for waiting keys', () => {
  const { order, queue } = scene()
  expect(claim(queue)).toBeUndefined()
  add(queue, 'b', 'a', 'b')
  expect(order.told).toEqual(['push b', 'push a', 'touch b'])
  const held = claim(queue)!
  expect(held.key).toBe('a')
  add(queue, 'a', 'a')
  expect(order.told.slice(3)).toEqual(['pop a'])
  expect(queue.done(held.handle, held.token, false)).toBe('ready')
  expect(order.told.slice(4)).toEqual(['push a'])
  expect(drain(queue)).toEqual(['a', 'b'])
})

test('push for keys that have become due comes before that of a key which is ready now', async () => {
  const ask = (key: string, delayMs = 0): Ask => ({ key, item: undefined, priority: 0, delayMs })
  const verbs: ((scene: Scene, held: DirectClaim) => unknown)[] = [
    ({ queue }) => add(queue, 'a'),
    ({ driver }) => driver.add('q', [ask('a')], options),
    ({ queue }, { handle, token }) => queue.done(handle, token, false),
    ({ queue }, { handle, key, token }) =>
      queue.finish(handle, { as: 'retry', key, token, delayMs: 0 }, options),
  ]
  for (const verb of verbs) {
    const its = scene()
    add(its.queue, 'a')
    const held = claim(its.queue)!
    if (verb.length === 2) add(its.queue, 'a')
    else its.queue.done(held.handle, held.token, false)
    void its.driver.add('q', [ask('b', 10), ask('c', 10)], options)
    await its.clock.step(10)
    verb(its, held)
    expect(its.order.told.slice(-3)).toEqual(['push b', 'push c', 'push a'])
  }
})

test('never given duplicates: keys that were withdrawn meanwhile are touched, not pushed', () => {
  const { driver, order, queue } = scene()
  add(queue, 'b', 'a')
  expect(driver.cancel('q', ['a'])).toEqual(['cancelled'])
  expect(queue.ready()).toBe(1)
  add(queue, 'a')
  expect(order.told).toEqual(['push b', 'push a', 'touch a'])
  void driver.operate!.park('q', ['b'])
  expect(drain(queue)).toEqual(['a'])
  void driver.operate!.unpark('q', ['b'], { forget: false })
  expect(drain(queue)).toEqual(['b'])
})

test('calls are serialized: none is made while another one runs', () => {
  let depth = 0
  const keys: string[] = []
  const alone = <Result>(call: () => Result): Result => {
    depth += 1
    expect(depth).toBe(1)
    const result = call()
    depth -= 1
    return result
  }
  const order: ReadyOrder = {
    push: (key) => alone(() => void keys.push(key)),
    touch: () => alone(() => undefined),
    pop: () => alone(() => keys.pop()!),
    len: () => alone(() => keys.length),
  }
  const driver = memoryDriver({ order })
  void driver.open({ clock: fakeClock() })
  add(driver.direct!('q'), 'a', 'b', 'a', 'c')
  expect(drain(driver.direct!('q'))).toEqual(['c', 'b', 'a'])
})

test('the order knows nothing of priorities and delays, only of what is ready', async () => {
  const { clock, driver, order, queue } = scene()
  void driver.add('q', [{ key: 'b', item: undefined, priority: 7, delayMs: 0 }], options)
  void driver.add('q', [{ key: 'a', item: undefined, priority: 0, delayMs: 100 }], options)
  expect(order.told).toEqual(['push b'])
  await clock.step(100)
  expect(drain(queue)).toEqual(['a', 'b'])
  expect(order.told.slice(1)).toEqual(['push a', 'pop a', 'pop b'])
  expect(driver.capabilities.order).toBe('custom')
})

test('a key that has crashed twice waits for the next claim, without losing its position', async () => {
  const { clock, driver } = scene()
  add(driver.direct!('q'), 'b')
  const request = { holder: 'h', claimId: 'c', leaseMs: 100, limit: 10 }
  const claim = () => driver.claim('q', request) as Awaited<ReturnType<Driver['claim']>>
  for (let crashes = 0; crashes < 2; crashes += 1) {
    claim()
    await clock.step(100)
    const { leaseEnds } = claim()
    void driver.expire('q', leaseEnds, { dedupe: 'client-go', maxCrashes: 5 })
  }
  add(driver.direct!('q'), 'c', 'a')
  const claimed = (): string[] => claim().claims.map(({ key }) => key)
  expect([claimed(), claimed(), claimed(), claimed()]).toEqual([['a'], ['b'], ['c'], []])
})

test('a claim with dueBy skips keys that were not due then, and keeps them', async () => {
  const { clock, driver, queue } = scene()
  add(queue, 'c')
  const dueBy = clock.now()
  await clock.step(1)
  add(queue, 'a', 'b')
  const request = { holder: 'h', claimId: 'c', leaseMs: never, limit: 10, dueBy }
  const { claims } = driver.claim('q', request) as Awaited<ReturnType<Driver['claim']>>
  expect(claims.map(({ key }) => key)).toEqual(['c'])
  expect(drain(queue)).toEqual(['a', 'b'])
})

test('an order that invents keys, or returns one twice, cannot make two workers share one', () => {
  const keys = ['nobody', 'a', 'a', 'b']
  const order: ReadyOrder = {
    push: () => undefined,
    touch: () => undefined,
    pop: () => keys.shift()!,
    len: () => keys.length,
  }
  const driver = memoryDriver({ order })
  void driver.open({ clock: fakeClock() })
  add(driver.direct!('q'), 'a', 'b')
  expect(drain(driver.direct!('q'))).toEqual(['a', 'b'])
})

test('an order that returns keys without removing them is not asked for ever', () => {
  const keys: string[] = []
  let pops = 0
  const order: ReadyOrder = {
    push: (key) => void keys.push(key),
    touch: () => undefined,
    pop() {
      pops += 1
      if (pops > 100) throw new Error('asked for ever')
      return keys[0]!
    },
    len: () => keys.length,
  }
  const driver = memoryDriver({ order })
  void driver.open({ clock: fakeClock() })
  add(driver.direct!('q'), 'a', 'b')
  expect(drain(driver.direct!('q'))).toEqual(['a', 'b'])
})

test('an order serves one queue, a function makes one for each', () => {
  const driver = memoryDriver({ order: new Alphabet() })
  void driver.open({ clock: fakeClock() })
  add(driver.direct!('q'), 'a')
  expect(() => driver.direct!('other')).toThrow(/order must be a function/)

  const orders = new Map<string, Alphabet>()
  const many = memoryDriver({
    order: (name) => {
      const order = new Alphabet()
      orders.set(name, order)
      return order
    },
  })
  void many.open({ clock: fakeClock() })
  add(many.direct!('q'), 'b', 'a')
  add(many.direct!('r'), 'd', 'c')
  expect(drain(many.direct!('q'))).toEqual(['a', 'b'])
  expect(drain(many.direct!('r'))).toEqual(['c', 'd'])
  expect([...orders.keys()]).toEqual(['q', 'r'])
})
