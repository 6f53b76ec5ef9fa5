import { SluiceError, sluiceChannel } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import { fakeRealTime } from '../support/real-time.ts'
import {
  batchedSetups,
  direct,
  drainKeys,
  late,
  Scene,
  seen,
  setups,
  take,
} from '../support/setups.ts'

describe.each(setups)('addSoon over $way', (setup) => {
  test('addSoon: returns nothing, and the key is there soon', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    expect(queue.addSoon('a')).toBe(undefined)
    queue.addSoon('b', { priority: 5 })
    queue.addSoon('a')
    await scene.quiet()
    expect(await drainKeys(queue)).toEqual(['b', 'a'])
  })

  test('addSoon: wakes waiters', async () => {
    const queue = new Scene(setup).queue()
    const waiting = queue.get()
    queue.addSoon('a')
    expect((await waiting)?.key).toBe('a')
  })

  test('addSoon: is flushed by close', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    const other = scene.queue()
    for (let n = 0; n < 50; n += 1) queue.addSoon(`k${n}`)
    await queue.close()
    expect((await other.getMany(100)).length).toBe(50)
  })

  test('addSoon: an add that was accepted before a shutdown is stored', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue()
    queue.addSoon('a')
    await queue.shutDown()
    await scene.quiet()
    expect(await scene.states()).toEqual({ a: 'ready' })
  })

  test('addSoon: an item whose check ends after close is not stored', async () => {
    const time = fakeRealTime()
    const scene = new Scene(setup)
    const other = scene.queue()
    const checked = Promise.withResolvers<{ value: string }>()
    const schema = { '~standard': { version: 1, vendor: 'test', validate: () => checked.promise } }
    const queue = scene.queue({ schema: schema as never })
    queue.addSoon('a')
    await scene.quiet()
    const closed = queue.close({ graceMs: 0 })
    await time.pass(2_000)
    await closed
    checked.resolve({ value: 'a' })
    await scene.quiet()
    expect(await other.len()).toBe(0)
    expect(scene.takeErrors()).toEqual(['ERR_CLOSED'])
  })

  test('addSoon: an item that changes afterwards changes nothing', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue<{ n: number }>({ keyOf: () => 'k' })
    const item = { n: 1 }
    queue.addSoon(item)
    item.n = 2
    expect((await take(queue)).item).toEqual({ n: 1 })
  })

  test('addSoon: a schema checks the item as it was when it was added', async () => {
    const scene = new Scene(setup)
    const validate = (value: unknown) =>
      (value as { n: number }).n > 0 ? { value } : { issues: [{ message: 'must be above 0' }] }
    const schema = { '~standard': { version: 1, vendor: 'test', validate } }
    const queue = scene.queue<{ n: number }>({ keyOf: () => 'k', schema: schema as never })
    const item = { n: 1 }
    queue.addSoon(item)
    item.n = 2
    // Waits for the add before, and is checked after it.
    queue.addSoon(item)
    item.n = 0
    await scene.quiet()
    expect((await take(queue)).item).toEqual({ n: 2 })
  })

  test('addSoon: never throws, also when onError does', async () => {
    const scene = new Scene(setup)
    const queue = scene.queue({
      onError: () => {
        throw new Error('bad listener')
      },
    })
    queue.addSoon(undefined as never)
    await queue.shutDown()
    queue.addSoon('a')
    await scene.quiet()
    expect(await scene.states()).toEqual({})
  })
})

describe.each(batchedSetups.filter((setup) => setup.way !== 'batched at once'))(
  'addSoon through trouble over $way',
  (setup) => {
    test('addSoon: at most 10,000 adds wait; onError is called for the others', async () => {
      const scene = new Scene(setup)
      const queue = scene.queue()
      await queue.add('open')
      scene.late.hold('add')
      for (let n = 0; n < 10_003; n += 1) queue.addSoon(`k${n}`)
      expect(scene.takeErrors()).toEqual(Array(3).fill('ERR_QUEUE_FULL'))
      scene.late.letGo('add')
      await scene.quiet()
      expect(await queue.len()).toBe(10_001)
      queue.addSoon('there is room again')
      await scene.quiet()
      expect(await queue.len()).toBe(10_002)
    })
  },
)

test.each([false, true])(
  'addSoon: what is stored at once does not wait; with a subscriber: %s',
  async (isObserved) => {
    const queue = new Scene(direct).queue()
    await queue.len()
    const subscriber = { end: () => undefined }
    if (isObserved) sluiceChannel.subscribe(subscriber as never)
    for (let n = 0; n < 10_003; n += 1) queue.addSoon(`k${n}`)
    if (isObserved) sluiceChannel.unsubscribe(subscriber as never)
    expect(await queue.len()).toBe(10_003)
  },
)

/** A queue whose one pending key is `first`, and that has refused `second` from `addSoon`. */
async function refusedAsFull() {
  const time = fakeRealTime()
  const scene = new Scene(late)
  const queue = scene.queue({ maxPending: 1 })
  await queue.add('first')
  queue.addSoon('second')
  await time.pass(100)
  expect(scene.takeErrors()).toEqual(['ERR_QUEUE_FULL'])
  return { time, scene, queue }
}

describe('addSoon and a store that is away', () => {
  test('addSoon: is tried again until it is stored, and reported once', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.add('open')
    let outages = 5
    scene.late.before = ({ verb }) => {
      if (verb !== 'add' || outages === 0) return
      outages -= 1
      throw new SluiceError('ERR_STORE', 'away', { retryable: true })
    }
    queue.addSoon('a')
    await scene.quiet()
    expect(scene.takeErrors()).toEqual(['ERR_STORE'])
    await time.pass(10_000)
    await scene.quiet()
    expect(outages).toBe(0)
    expect(await scene.states()).toEqual({ open: 'ready', a: 'ready' })
  })

  test('addSoon: the item added last wins, also after failed attempts in between', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue<{ id: number; state: string }>({ keyOf: ({ id }) => `k${id}` })
    await queue.len()
    let isAway = true
    let stored = 0
    scene.late.before = ({ verb }) => {
      if (verb !== 'add') return
      if (isAway) throw new SluiceError('ERR_STORE', 'away', { retryable: true })
      stored += 1
    }
    const ids = Array.from({ length: 12 }, (_, id) => id)
    for (const id of ids) {
      queue.addSoon({ id, state: 'created' }, { priority: 3 })
      queue.addSoon({ id, state: 'paid' })
    }
    await time.pass(700)
    for (const id of ids) queue.addSoon({ id, state: 'sent' })
    await time.pass(700)
    isAway = false
    for (let seconds = 0; seconds < 60; seconds += 1) await time.pass(1_000)
    const helds = await queue.getMany(100)
    const items = helds.map(({ item }) => item).sort((a, b) => a.id - b.id)
    expect(items).toEqual(ids.map((id) => ({ id, state: 'sent' })))
    expect(new Set(helds.map(({ priority }) => priority))).toEqual(new Set([3]))
    // What waits is replaced by the next.
    expect(stored).toBeLessThanOrEqual(2 * ids.length)
    scene.takeErrors()
  })

  test('addSoon: the tries of two thousand keys are at most two a second together', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.len()
    let tries = 0
    scene.late.before = ({ verb }) => {
      if (verb !== 'add') return
      tries += 1
      throw new SluiceError('ERR_STORE', 'away', { retryable: true })
    }
    for (let n = 0; n < 1_000; n += 1) queue.addSoon(`k${n}`)
    await time.pass(1_000)
    const before = tries
    for (let n = 0; n < 1_000; n += 1) queue.addSoon(`later${n}`)
    for (let seconds = 0; seconds < 30; seconds += 1) await time.pass(1_000)
    expect(tries - before).toBeGreaterThan(10)
    expect(tries - before).toBeLessThanOrEqual(60)
    scene.takeErrors()
    scene.late.before = () => {}
    for (let seconds = 0; seconds < 30; seconds += 1) await time.pass(1_000)
    expect(await queue.len()).toBe(2_000)
  })

  test('addSoon: an add that waits for its turn is tried once more by close, and reported', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.len()
    let isAway = true
    scene.late.before = ({ verb }) => {
      if (verb === 'add' && isAway) throw new SluiceError('ERR_STORE', 'away', { retryable: true })
    }
    queue.addSoon('a')
    await time.pass(100)
    queue.addSoon('b')
    expect(scene.takeErrors()).toEqual(['ERR_STORE'])
    isAway = false
    await queue.close()
    expect(await scene.states()).toEqual({ a: 'ready', b: 'ready' })
    expect(scene.takeErrors()).toEqual([])
  })

  test.each([
    ['open', 'ERR_TIMEOUT', 'key "a"'],
    ['add', 'ERR_UNKNOWN_OUTCOME', 'before the store answered'],
  ])(
    'addSoon: an add that a close cuts off at %s is reported with %s',
    async (verb, code, text) => {
      const time = fakeRealTime()
      const scene = new Scene(late)
      const queue = scene.queue()
      scene.forget(queue)
      scene.late.hold(verb)
      queue.addSoon('a')
      await scene.quiet()
      const closing = seen(queue.close())
      await time.pass(2_000)
      expect(closing.state).not.toBe('pending')
      expect(scene.errors.map(String)).toEqual([expect.stringContaining(text)])
      expect(scene.takeErrors()).toEqual([code])
      scene.late.letGo(verb)
      await scene.quiet()
    },
  )

  test('addSoon: a full queue is no trouble of the store, and takes pending adds when it has room', async () => {
    const { time, scene, queue } = await refusedAsFull()
    const other = scene.queue({ name: 'other' })
    other.addSoon('a')
    await scene.quiet()
    expect(await other.len()).toBe(1)
    await scene.inner.cancel('q', ['first'])
    await time.pass(5_000)
    expect((await take(queue)).key).toBe('second')
  })

  test('addSoon: keys that leave a full queue in this process make room at once, one for each', async () => {
    const { scene, queue } = await refusedAsFull()
    queue.addSoon('third')
    await scene.quiet()
    await take(queue)
    await scene.quiet()
    expect(await scene.states()).toEqual({ first: 'processing', second: 'ready' })
    await scene.queue().cancel('second')
    await scene.quiet()
    expect(await scene.states()).toEqual({ first: 'processing', third: 'ready' })
    scene.takeErrors()
  })

  test('addSoon: an add that a full queue has refused is tried once more by close, at once', async () => {
    const { time, scene, queue } = await refusedAsFull()
    await scene.inner.cancel('q', ['first'])
    const closing = seen(queue.close())
    await scene.quiet()
    const { state } = closing
    // Ends a close that waits for the pause of a full queue.
    await time.pass(5_000)
    expect(state).toBe('resolved')
    expect(await scene.states()).toEqual({ second: 'ready' })
  })

  test('addSoon: a permanent error is reported, and the add not tried again', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.add('open')
    let tries = 0
    scene.late.before = ({ verb }) => {
      if (verb !== 'add') return
      tries += 1
      throw new SluiceError('ERR_STORE_DAMAGED', 'damaged')
    }
    queue.addSoon('a')
    await scene.quiet()
    expect(scene.takeErrors()).toEqual(['ERR_STORE_DAMAGED'])
    expect(tries).toBe(1)
  })
})
