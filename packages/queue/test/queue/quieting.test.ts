import { type Driver, SluiceError } from '@sluice/core'
import { type FakeClock, fakeClock } from '@sluice/core/testing'
import { memoryDriver } from '@sluice/memory'
import { describe, expect, test, vi } from 'vitest'
import {
  createDelayingQueue,
  createQueue,
  createWorker,
  inspectStore,
  type QueueOptions,
} from '../../src/index.ts'

/** A driver that counts the watches that go on. */
function watchedDriver(): { readonly driver: Driver; readonly watches: () => number } {
  const inner = memoryDriver()
  let watches = 0
  const driver = new Proxy(inner, {
    get(_, name) {
      if (name === 'watch') {
        return (onWake: (queue: string | undefined) => void) => {
          const end = inner.watch?.(onWake) as () => void
          watches += 1
          return () => {
            watches -= 1
            end()
          }
        }
      }
      const value: unknown = Reflect.get(inner, name, inner)
      return typeof value === 'function' ? value.bind(inner) : value
    },
  })
  return { driver, watches: () => watches }
}

function setup(): {
  readonly clock: FakeClock
  readonly options: QueueOptions<string> & { readonly driver: Driver }
  readonly watches: () => number
} {
  const clock = fakeClock()
  const { driver, watches } = watchedDriver()
  const options = { name: 'q', driver, clock, leaseMs: 30_000, quietAfterMs: 60_000 }
  return { clock, options, watches }
}

describe('a store is watched while a queue object needs news', () => {
  test('not for one that only adds', async () => {
    const { options, watches } = setup()
    const queue = createQueue<string>(options)
    await queue.add('a')
    expect(watches()).toBe(0)
    await queue.close()
  })

  test('until a drain of what is due has ended', async () => {
    const { clock, options, watches } = setup()
    const queue = createQueue<string>(options)
    await queue.add('a')
    const seen: number[] = []
    const worker = createWorker({ queue, handler: () => void seen.push(watches()) })
    const idle = worker.runUntilIdle()
    await clock.step(0)
    await idle
    expect(seen).toEqual([1])
    expect(watches()).toBe(0)
    await queue.close()
  })

  test('until all of them are quiet, and again with the next work', async () => {
    const { clock, options, watches } = setup()
    const one = createQueue<string>(options)
    const other = createQueue<string>({ ...options, name: 'other', quietAfterMs: 600_000 })
    const gets = [one.get(), other.get()]
    await clock.step(120_000)
    expect(watches()).toBe(1)
    await clock.step(600_000)
    expect(watches()).toBe(0)
    await one.add('a')
    expect(watches()).toBe(1)
    await (await gets[0])?.done()
    await one.close()
    await other.close()
  })

  test('without the option, from the first caller that waits on', async () => {
    const { clock, options, watches } = setup()
    const { quietAfterMs: _, ...always } = options
    const store = inspectStore(options.driver, { clock })
    await store.queues()
    const queue = createQueue<string>(always)
    await queue.add('a')
    await clock.step(600_000)
    expect(watches()).toBe(0)
    await (await queue.get())?.done()
    await clock.step(600_000)
    expect(watches()).toBe(1)
    await queue.close()
    expect(watches()).toBe(0)
    await store.close()
  })
})

test('a store that refuses to be watched is asked once, until it is opened again', async () => {
  const { clock, options } = setup()
  const error = new SluiceError('ERR_STORE', 'this user may not subscribe')
  const watch = vi.fn(async () => await Promise.reject(error))
  const driver: Driver = Object.assign(Object.create(options.driver) as Driver, { watch })
  const onError = vi.fn()
  for (const opened of [1, 2]) {
    const queue = createQueue<string>({ ...options, driver, onError })
    // Opens the store, before any caller waits.
    await queue.len()
    for (const key of ['a', 'b', 'c']) {
      const waiting = queue.get()
      await clock.step(300_000)
      await queue.add(key)
      await (await waiting)?.done()
    }
    expect(watch).toHaveBeenCalledTimes(opened)
    expect(onError.mock.calls).toEqual(Array(opened).fill([error]))
    await queue.close()
  }
})

test('a watch that has begun when nothing needs it any more is ended', async () => {
  const { clock, options } = setup()
  const begun = Promise.withResolvers<() => void>()
  const driver: Driver = Object.assign(Object.create(options.driver) as Driver, {
    watch: () => begun.promise,
  })
  // Keeps the store open.
  const adding = createQueue<string>({ ...options, name: 'adding', driver })
  await adding.add('a')
  const queue = createQueue<string>({ ...options, driver })
  const waiting = queue.get()
  await clock.step(0)
  await queue.close()
  expect(await waiting).toBeUndefined()
  const end = vi.fn()
  begun.resolve(end)
  await clock.step(0)
  expect(end).toHaveBeenCalledOnce()
  await adding.close()
  expect(end).toHaveBeenCalledOnce()
})

test('a quiet worker does not register itself again, until there is work', async () => {
  const { clock, options } = setup()
  const queue = createQueue<string>(options)
  const ran: string[] = []
  createWorker({ queue, handler: (key) => void ran.push(key) })
  await clock.step(120_000)
  const tick = vi.spyOn(options.driver, 'tick')
  await clock.step(600_000)
  expect(tick).not.toHaveBeenCalled()
  await queue.add('a')
  await clock.step(60_000)
  expect(ran).toEqual(['a'])
  expect(tick).toHaveBeenCalled()
  await queue.close()
})

test('a quiet queue is closed: its waiters get nothing', async () => {
  const { clock, options } = setup()
  const queue = createQueue<string>(options)
  const waiting = queue.get()
  await clock.step(300_000)
  await queue.close()
  expect(await waiting).toBeUndefined()
})

test('a quiet queue shuts down and drains', async () => {
  const { clock, options } = setup()
  const queue = createDelayingQueue<string>(options)
  const waiting = queue.get()
  await queue.addAfter('late', 3_600_000)
  await clock.step(300_000)
  await queue.shutDownWithDrain()
  expect(await waiting).toBeUndefined()
  await queue.close()
})

test.each([999, 0, -1, Number.NaN, '60000'])('quietAfterMs: %s is refused', (quietAfterMs) => {
  expect(() => createQueue({ name: 'q', quietAfterMs: quietAfterMs as number })).toThrow(
    expect.objectContaining({ code: 'ERR_INVALID_INPUT' }),
  )
})
