import { SluiceError } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { memoryDriver } from '@sluice/memory'
import { describe, expect, test } from 'vitest'
import { createQueue } from '../../src/index.ts'
import { LateDriver } from '../support/late-driver.ts'
import { fakeRealTime } from '../support/real-time.ts'
import { refusal } from '../support/refusal.ts'
import { drainKeys, holding, late, Scene, seen, setups, take } from '../support/setups.ts'

describe.each(setups)('two queue objects of one name over $way', (setup) => {
  test('see the same keys, and wake each other', async () => {
    const scene = new Scene(setup)
    const one = scene.queue()
    const other = scene.delaying()
    const waiting = seen(other.get())
    await scene.quiet()
    await one.add('a')
    await scene.quiet()
    expect(waiting.value?.key).toBe('a')
    expect(await other.len()).toBe(0)
  })

  test('are woken by a delayed key of the other, in time', async () => {
    const scene = new Scene(setup)
    const one = scene.delaying()
    const other = scene.delaying()
    const waiting = seen(other.get())
    await scene.clock.step(3_000)
    await one.addAfter('a', 50)
    await scene.clock.step(49)
    expect(waiting.state).toBe('waiting')
    await scene.clock.step(1)
    expect(waiting.value?.key).toBe('a')
  })

  test('are woken by keys that the other gives back', async () => {
    const scene = new Scene(setup)
    const one = scene.queue()
    const other = scene.queue()
    await one.addMany(['done', 'released'])
    const [done, released] = await one.getMany(2)
    await one.add('done')
    const waiting = [seen(other.get()), seen(other.get())]
    await scene.quiet()
    await done?.done()
    await scene.quiet()
    expect(waiting[0]?.value?.key).toBe('done')
    await released?.release()
    await scene.quiet()
    expect(waiting[1]?.value?.key).toBe('released')
  })

  test('a key that one holds, the other does not get', async () => {
    const scene = new Scene(setup)
    const one = scene.queue()
    const other = scene.queue()
    await one.add('a')
    const held = await take(one)
    await other.add('a')
    const waiting = seen(other.get())
    await scene.quiet()
    expect(waiting.state).toBe('waiting')
    await held.done()
    await scene.quiet()
    expect(waiting.value?.token).toBeGreaterThan(held.token)
  })

  test('resume wakes all waiters', async () => {
    const scene = new Scene(setup)
    const queues = [scene.queue(), scene.queue()]
    await scene.inner.open({ clock: scene.clock })
    await scene.operate.pause('q')
    await queues[0]?.addMany(['a', 'b'])
    const waiting = queues.map((queue) => seen(queue.get()))
    await scene.clock.step(30_000)
    expect(waiting.map(({ state }) => state)).toEqual(['waiting', 'waiting'])
    await scene.operate.resume('q')
    await scene.quiet()
    expect(waiting.map(({ state }) => state)).toEqual(['resolved', 'resolved'])
  })

  test('a pause accepts adds and lets held keys continue', async () => {
    const { scene, queue, held } = await holding(setup)
    await scene.operate.pause('q')
    expect(await queue.add('b')).toBe('added')
    expect(await queue.add('a')).toBe('added')
    expect(await held.done()).toBe('ready')
    const waiting = seen(queue.get())
    await scene.clock.step(10_000)
    expect(waiting.state).toBe('waiting')
  })
})

describe.each(setups)('queues of different names over $way', (setup) => {
  test('share nothing', async () => {
    const scene = new Scene(setup)
    const names = ['q', 'q2', 'Q', 'q/', 'q\u0301']
    const queues = names.map((name) => scene.queue({ name }))
    for (const queue of queues) await queue.add('a')
    const waiting = seen(queues[0]?.getMany(5) ?? Promise.resolve([]))
    await scene.quiet()
    expect(waiting.value?.length).toBe(1)
    for (const queue of queues.slice(1)) expect(await drainKeys(queue)).toEqual(['a'])
    await queues[0]?.shutDown()
    expect(await queues[1]?.add('b')).toBe('added')
  })
})

describe.each(setups)('a driver that queues share over $way', (setup) => {
  test('Options: keeps its keys from one queue object to the next', async () => {
    const scene = new Scene(setup)
    const first = scene.delaying()
    await first.add('ready')
    await first.addAfter('delayed', 100)
    await first.close()
    const second = scene.queue()
    expect(await drainKeys(second)).toEqual(['ready'])
    await scene.clock.step(100)
    expect(await drainKeys(second)).toEqual(['delayed'])
  })

  test('Options: one clock for all; a second is ERR_CLOCK_MISMATCH', async () => {
    const scene = new Scene(setup)
    const first = scene.queue()
    await first.add('a')
    expect(() => scene.queue({ clock: fakeClock() })).toThrow(
      expect.objectContaining({ code: 'ERR_CLOCK_MISMATCH' }),
    )
    // Saying nothing means the clock that there is.
    expect(await drainKeys(scene.queue({ clock: undefined as never }))).toEqual(['a'])
  })

  test('Options: after the last queue is closed it may have another clock', async () => {
    const driver = setup.driver(memoryDriver())
    const options = { name: 'q', driver, ...setup.options }
    for (const used of [true, false, true]) {
      const clock = fakeClock()
      const queue = createQueue({ ...options, clock })
      if (used) await queue.add('a')
      await queue.close()
    }
  })

  test('Options: a clock is too late for a driver that is open', async () => {
    const driver = setup.driver(memoryDriver())
    const options = { name: 'q', driver, ...setup.options }
    const first = createQueue(options)
    await first.add('a')
    expect(() => createQueue({ ...options, clock: fakeClock() })).toThrow(
      expect.objectContaining({ code: 'ERR_CLOCK_MISMATCH' }),
    )
    await first.close()
    await createQueue({ ...options, clock: fakeClock() }).close()
  })
})

const away = new SluiceError('ERR_STORE', 'away', { retryable: true })
const refused = new SluiceError('ERR_STORE', 'no permission')

/** A driver that its only queue is closing, until the close is let go. */
async function closingDriver() {
  const scene = new Scene(late)
  const driver = scene.late
  const one = scene.queue()
  await one.add('a')
  driver.hold('close')
  const closing = one.close()
  await scene.quiet()
  return { scene, driver, closing }
}

describe('opening and closing', () => {
  test('Options: opened by the first call of the first queue, closed with the last', async () => {
    const scene = new Scene(late)
    const driver = scene.late
    const one = scene.queue()
    const two = scene.queue({ name: 'two' })
    expect(driver.count('open')).toBe(0)
    await Promise.all([one.add('a'), two.add('a'), one.len()])
    expect(driver.count('open')).toBe(1)
    expect(driver.requests('open')).toEqual([{ clock: scene.clock }])
    await one.close()
    expect(driver.count('close')).toBe(0)
    await two.close()
    expect(driver.count('close')).toBe(1)
    const three = scene.queue()
    expect(await three.len()).toBe(1)
    await three.close()
    expect([driver.count('open'), driver.count('close')]).toEqual([2, 2])
  })

  test('a queue that begins while the driver closes waits for that, and opens it again', async () => {
    const { scene, driver, closing } = await closingDriver()
    const two = scene.queue()
    const adding = seen(two.add('b'))
    await scene.quiet()
    expect(adding.state).toBe('waiting')
    driver.letGo('close')
    await closing
    await scene.quiet()
    expect(adding.value).toBe('added')
    expect(driver.calls.map(({ verb }) => verb).filter((verb) => /open|close/.test(verb))).toEqual([
      'open',
      'close',
      'open',
    ])
    const { clock } = scene
    expect(driver.requests('open')).toEqual([{ clock }, { clock }])
  })

  test('a queue that begins and is closed while the driver closes does not open it again', async () => {
    const { scene, driver, closing } = await closingDriver()
    const two = scene.queue()
    const looking = refusal(two.len())
    await scene.quiet()
    await two.close()
    driver.letGo('close')
    await closing
    expect(await looking).toMatchObject({ code: 'ERR_CLOSED' })
    expect([driver.count('open'), driver.count('close')]).toEqual([1, 1])
  })

  test('a queue that begins while another one, which is closed, opens the driver goes on with it', async () => {
    const scene = new Scene(late)
    const driver = scene.late
    driver.hold('open')
    const one = scene.queue()
    const looking = one.len()
    await scene.quiet()
    const closing = one.close()
    scene.forget(one)
    await scene.quiet()
    const adding = scene.queue().add('a')
    driver.letGo('open')
    expect(await adding).toBe('added')
    await closing
    expect(await looking).toBe(0)
    expect([driver.count('open'), driver.count('close')]).toEqual([1, 0])
  })

  test('a queue that begins while the driver fails to close opens it again all the same', async () => {
    const scene = new Scene(late)
    const driver = scene.late
    driver.after = ({ verb }) => {
      if (verb === 'close') throw new Error('cannot be closed')
    }
    const one = scene.queue()
    await one.add('a')
    driver.hold('close')
    const closing = refusal(one.close())
    scene.forget(one)
    await scene.quiet()
    const adding = scene.queue().add('b')
    await scene.quiet()
    driver.letGo('close')
    expect(String(await closing)).toContain('cannot be closed')
    expect(await adding).toBe('added')
    driver.after = () => undefined
  })

  test('a store that cannot be opened: calls reject, the next one tries again, and get waits', async () => {
    const time = fakeRealTime()
    const scene = new Scene(late)
    const driver = scene.late
    driver.before = ({ verb }) => {
      if (verb === 'open') throw new Error('no such file')
    }
    const queue = scene.queue()
    expect(String(await refusal(queue.add('a')))).toContain('no such file')
    expect(String(await refusal(queue.len()))).toContain('no such file')
    const waiting = seen(queue.get())
    await scene.quiet()
    expect(waiting.state).toBe('waiting')
    driver.before = () => undefined
    expect(await queue.add('a')).toBe('added')
    await time.pass(2_000)
    expect(waiting.value?.key).toBe('a')
    expect(scene.errors.map(String)).toEqual(['Error: no such file'])
    scene.takeErrors()
  })

  test('a driver whose watch does not end is closed all the same', async () => {
    const driver = new LateDriver(memoryDriver())
    driver.watch = async () => () => {
      throw new Error('the watch cannot be ended')
    }
    const queue = createQueue({ name: 'q', driver })
    await queue.add('a')
    await take(queue)
    expect(String(await refusal(queue.close()))).toContain('the watch cannot be ended')
    expect([driver.count('open'), driver.count('close')]).toEqual([1, 1])
  })

  test.each([
    ['rejects', async () => Promise.reject(away), 2],
    [
      'throws',
      () => {
        throw away
      },
      2,
    ],
    ['is refused', async () => Promise.reject(refused), 1],
  ] as const)('a watch that %s is reported, and keys are handed out', async (_, fail, times) => {
    const driver = new LateDriver(memoryDriver())
    let watches = 0
    driver.watch = () => {
      watches += 1
      return fail()
    }
    const errors: unknown[] = []
    const queue = createQueue({ name: 'q', driver, onError: (error) => errors.push(error) })
    for (const key of ['a', 'b']) {
      await queue.add(key)
      await (await take(queue)).done()
    }
    // The second waiter tries again, if that may help.
    expect(watches).toBe(times)
    expect(errors).toHaveLength(times)
    await queue.close()
  })

  test('a driver that is being opened when the queue is closed is closed too', async () => {
    const driver = new LateDriver(memoryDriver())
    driver.hold('open')
    const queue = createQueue({ name: 'q', driver })
    const adding = seen(queue.add('a'))
    await new Promise((resolve) => setImmediate(resolve))
    const closing = queue.close()
    driver.letGo('open')
    await closing
    expect(adding.value).toBe('added')
    expect([driver.count('open'), driver.count('close')]).toEqual([1, 1])
  })
})
