import { getEventListeners } from 'node:events'
import { type ErrorCode, SluiceError, systemClock } from '@sluice/core'
import { memoryDriver } from '@sluice/memory'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createQueue } from '../../src/index.ts'
import { LateDriver } from '../support/late-driver.ts'
import { fakeRealTime } from '../support/real-time.ts'
import { refusal } from '../support/refusal.ts'
import { batchedSetups, Scene, seen, take } from '../support/setups.ts'

/** The errors that end waiting; any other is transient, also an error of another library. */
const permanent: ErrorCode[] = [
  'ERR_SCHEMA_NEWER',
  'ERR_SCHEMA_OLDER',
  'ERR_STORE_FOREIGN',
  'ERR_STORE_DAMAGED',
  'ERR_CONTRACT_VERSION',
  'ERR_CLOCK_MISMATCH',
  'ERR_INVALID_INPUT',
]

const passing: Error[] = [
  new SluiceError('ERR_STORE', 'away', { retryable: true }),
  new SluiceError('ERR_STORE', 'no such table'),
  new SluiceError('ERR_STORE_BUSY', 'busy', { retryable: true }),
  new SluiceError('ERR_STORE_FULL', 'full', { retryable: true }),
  new SluiceError('ERR_TIMEOUT', 'silent', { retryable: true }),
  new SluiceError('ERR_UNKNOWN_OUTCOME', 'cut'),
  new Error('a bug'),
]

const slowSetups = batchedSetups.filter(({ way }) => way !== 'batched at once')

interface Outage {
  error: Error | undefined
  /** How many calls have failed. */
  asked: number
}

/** Lets every call of the driver but close fail, from now on, until the error is cleared. */
function outage(scene: Scene): Outage {
  const state: Outage = { error: undefined, asked: 0 }
  scene.late.before = ({ verb }) => {
    if (state.error === undefined || verb === 'close') return
    state.asked += 1
    throw state.error
  }
  return state
}

const away = new SluiceError('ERR_STORE', 'away', { retryable: true })

describe.each(slowSetups)('outages over $way', (setup) => {
  test('Store trouble: get, getMany, iteration and drain wait through transient errors', async () => {
    const time = fakeRealTime()
    for (const error of passing) {
      const scene = new Scene(setup)
      const state = outage(scene)
      const [one, other] = [scene.queue(), scene.queue()]
      await one.addMany(['a', 'b', 'c'])
      const held = await take(other)
      await other.shutDown()
      state.error = error
      const waits = [
        seen<unknown>(one.get()),
        seen<unknown>(one.getMany(1)),
        seen<unknown>(one[Symbol.asyncIterator]().next()),
        seen<unknown>(other.shutDownWithDrain()),
      ]
      await time.pass(20_000)
      expect(waits.map((wait) => wait.state)).toEqual(Array(4).fill('waiting'))
      expect(scene.errors).toContain(error)
      scene.takeErrors()
      state.error = undefined
      await one.add('d')
      await held.done()
      await time.pass(10_000)
      // That others have taken the rest, a drain notices within a second.
      await scene.clock.step(1_000)
      expect(waits.map((wait) => wait.state)).toEqual(Array(4).fill('resolved'))
      scene.takeErrors()
    }
  })

  test('Store trouble: they reject when it will not pass', async () => {
    for (const code of permanent) {
      const error = new SluiceError(code, 'for good')
      const scene = new Scene(setup)
      const state = outage(scene)
      const [one, other] = [scene.queue(), scene.queue()]
      await one.add('a')
      await take(one)
      await other.shutDown()
      state.error = error
      const { signal } = new AbortController()
      const waits = [
        seen<unknown>(one.get({ signal })),
        seen<unknown>(one.getMany(1)),
        seen<unknown>(one[Symbol.asyncIterator]().next()),
        seen<unknown>(other.shutDownWithDrain()),
        seen<unknown>(scene.queue().shutDown()),
      ]
      await scene.quiet()
      expect(waits.map((wait) => wait.error)).toEqual(Array(5).fill(error))
      expect(getEventListeners(signal, 'abort')).toEqual([])
      state.error = undefined
    }
  })

  test('Store trouble: a get that waits through an outage can give up', async () => {
    const scene = new Scene(setup)
    const state = outage(scene)
    const queue = scene.queue()
    await queue.len()
    state.error = away
    const controller = new AbortController()
    const waiting = seen(queue.get({ signal: controller.signal }))
    await scene.quiet()
    controller.abort(new Error('enough'))
    await scene.quiet()
    expect(String(waiting.error)).toContain('enough')
    scene.takeErrors()
    state.error = undefined
  })

  test('Store trouble: other verbs reject, and can be repeated', async () => {
    const scene = new Scene(setup)
    const state = outage(scene)
    const queue = scene.limited()
    await queue.add('a')
    const held = await take(queue)
    state.error = away
    const calls = [
      () => queue.add('b'),
      () => queue.addMany(['b']),
      () => queue.addAfter('b', 5),
      () => queue.addRateLimited('b'),
      () => queue.cancel('a'),
      () => queue.forget('a'),
      () => queue.numRequeues('a'),
      () => queue.len(),
      () => held.done(),
      () => queue.done('a'),
    ]
    for (const call of calls) expect(await refusal(call())).toBe(away)
    state.error = undefined
    expect(await scene.states()).toEqual({ a: 'processing' })
    expect(await held.done()).toBe('idle')
  })

  test('Store trouble: getters continue after a shutdown during an outage', async () => {
    const time = fakeRealTime()
    const scene = new Scene(setup)
    const state = outage(scene)
    const queue = scene.queue()
    await queue.add('a')
    state.error = away
    const shutDown = seen(queue.shutDown())
    const getters = [seen(queue.get()), seen(queue.get())]
    await time.pass(3_000)
    expect([shutDown.state, ...getters.map((getter) => getter.state)]).toEqual(
      Array(3).fill('waiting'),
    )
    expect(await refusal(queue.add('b'))).toMatchObject({ code: 'ERR_SHUT_DOWN' })
    state.error = undefined
    await time.pass(10_000)
    await scene.quiet()
    expect(shutDown.state).toBe('resolved')
    expect(getters.map((getter) => getter.value?.key)).toEqual(['a', undefined])
    scene.takeErrors()
  })

  /** A queue with a key, the store of which is away, after a shutdown that has timed out. */
  async function timedOutShutDown() {
    const time = fakeRealTime()
    const scene = new Scene(setup)
    const state = outage(scene)
    const queue = scene.queue({ timeoutMs: 2_000 })
    await queue.add('a')
    state.error = away
    const shutDown = seen(queue.shutDown())
    await time.pass(3_000)
    expect(shutDown.error).toMatchObject({ code: 'ERR_TIMEOUT', retryable: true })
    return { queue, scene, state, time }
  }

  test('Pending: a shutdown does not wait longer than timeoutMs, and takes effect', async () => {
    const { queue, scene, state, time } = await timedOutShutDown()
    expect(await refusal(queue.add('b'))).toMatchObject({ code: 'ERR_SHUT_DOWN' })
    state.error = undefined
    await time.pass(10_000)
    await queue.shutDown()
    expect((await queue.get())?.key).toBe('a')
    expect(await queue.get()).toBe(undefined)
    scene.takeErrors()
  })

  test('a store is not asked on for a shutdown that nobody waits for any more', async () => {
    const { queue, scene, state, time } = await timedOutShutDown()
    await time.pass(3_000)
    const { asked } = state
    await time.pass(20_000)
    expect(state.asked).toBe(asked)
    const getters = [seen(queue.get()), seen(queue.get())]
    await time.pass(3_000)
    state.error = undefined
    await time.pass(10_000)
    expect(getters.map(({ value }) => value?.key)).toEqual(['a', undefined])
    expect(getters.map((getter) => getter.state)).toEqual(['resolved', 'resolved'])
    scene.takeErrors()
  })

  test('Pending: calls that were made one after another each end after timeoutMs', async () => {
    const time = fakeRealTime()
    const scene = new Scene(setup)
    const queue = scene.queue({ timeoutMs: 2_000 })
    await queue.len()
    scene.late.hold('add')
    const first = seen(queue.add('a'))
    await time.pass(1_000)
    const second = seen(queue.add('b'))
    await time.pass(1_050)
    expect([first.state, second.state]).toEqual(['rejected', 'waiting'])
    await time.pass(1_000)
    expect(second.state).toBe('rejected')
    scene.late.letGo('add')
  })

  test('a shutdown that failed can be repeated', async () => {
    const scene = new Scene(setup)
    const state = outage(scene)
    const queue = scene.queue()
    await queue.add('a')
    state.error = new SluiceError('ERR_STORE_DAMAGED', 'damaged')
    expect(await refusal(queue.shutDown())).toBe(state.error)
    expect(queue.shuttingDown).toBe(true)
    expect(await refusal(queue.get())).toBe(state.error)
    state.error = undefined
    await queue.shutDown()
    expect((await queue.get())?.key).toBe('a')
    expect(await queue.get()).toBe(undefined)
    // The first caller that waited could not have the store watched.
    expect(scene.takeErrors()).toEqual(['ERR_STORE_DAMAGED'])
  })

  test('close ends during an outage', async () => {
    const time = fakeRealTime()
    const scene = new Scene(setup)
    const state = outage(scene)
    const queue = scene.queue()
    await queue.addMany(['a', 'b'])
    await take(queue)
    state.error = away
    const waiting = seen(queue.get())
    await time.pass(1_000)
    const closing = seen(queue.close())
    await scene.clock.step(1_000)
    await time.pass(10_000)
    expect([waiting.state, closing.state]).toEqual(['resolved', 'resolved'])
    state.error = undefined
    await scene.clock.step(60_000)
    scene.takeErrors()
  })

  test('Options: looking into a store that does not answer ends with ERR_TIMEOUT', async () => {
    const time = fakeRealTime()
    const scene = new Scene(setup)
    const queue = scene.limited({ timeoutMs: 1_000 })
    await queue.add('a')
    for (const verb of ['counts', 'list', 'tick']) scene.late.hold(verb)
    const calls = [seen<unknown>(queue.len()), seen<unknown>(queue.numRequeues('a'))]
    await time.pass(1_100)
    for (const call of calls) expect(call.error).toMatchObject({ code: 'ERR_TIMEOUT' })
    for (const verb of ['counts', 'list', 'tick']) scene.late.letGo(verb)
    expect(await queue.len()).toBe(1)
  })

  test('close ends while the store opens or closes without an end', async () => {
    for (const verb of ['open', 'close']) {
      const time = fakeRealTime()
      const scene = new Scene(setup)
      const queue = scene.queue({ timeoutMs: 1_000 })
      if (verb === 'close') await queue.len()
      scene.late.hold(verb)
      const calls = [seen<unknown>(queue.get()), seen<unknown>(queue.shutDown())]
      await scene.quiet()
      const closing = seen(queue.close())
      await time.pass(4_000)
      expect(calls.map((call) => call.state)).not.toContain('waiting')
      expect(closing.error).toMatchObject({ code: 'ERR_TIMEOUT' })
      expect(await refusal(queue.add('b'))).toMatchObject({ code: 'ERR_CLOSED' })
      scene.late.letGo(verb)
      await scene.quiet()
      expect(scene.late.count('close')).toBe(1)
      scene.forget(queue)
      scene.takeErrors()
    }
  })

  test('a process that was held up while it closed reads the answer of the store', async () => {
    const time = fakeRealTime()
    const scene = new Scene(setup)
    const queue = scene.queue()
    await queue.len()
    scene.late.hold('close')
    const closing = seen(queue.close())
    const heldUpUntil = systemClock.monotonicMs() + 60_000
    const reading = vi.spyOn(systemClock, 'monotonicMs').mockReturnValue(heldUpUntil)
    onTestFinished(() => reading.mockRestore())
    await time.pass(50)
    scene.late.letGo('close')
    await time.pass(50)
    expect(closing).toMatchObject({ state: 'resolved' })
  })

  test('close ends while the store does not answer, and nothing is left running', async () => {
    const time = fakeRealTime()
    const scene = new Scene(setup)
    const queue = scene.queue({ timeoutMs: 2_000 })
    await queue.addMany(['a', 'b'])
    scene.late.hold('claim')
    scene.late.hold('add')
    const calls = [seen<unknown>(queue.get()), seen<unknown>(queue.add('c'))]
    await scene.quiet()
    const closing = seen(queue.close())
    await time.pass(5_000)
    expect(calls.map((call) => call.state)).toEqual(['resolved', 'rejected'])
    expect(closing.state).toBe('resolved')
    const opens = scene.late.count('open')
    scene.late.letGo('claim')
    scene.late.letGo('add')
    await scene.quiet()
    await expect.poll(() => [scene.clock.waiters(), time.timers()]).toEqual([0, 0])
    expect(scene.late.count('open')).toBe(opens)
    scene.takeErrors()
  })
})

test('a store that was not open in time is named with the error of the attempt before', async () => {
  const time = fakeRealTime()
  const driver = new LateDriver(memoryDriver())
  const queue = createQueue<string>({ name: 'q', driver, timeoutMs: 3_000, onError() {} })
  driver.before = ({ verb }) => {
    if (verb !== 'open' || driver.count('open') > 1) return
    driver.hold('open')
    throw new SluiceError('ERR_STORE_BUSY', 'queue.db is locked', { retryable: true })
  }
  const calls = [queue.add('a'), queue.cancel('a'), queue.inspect.counts()].map(refusal)
  await time.pass(3_000)
  const first = await calls[2]
  expect(first).toMatchObject({ code: 'ERR_STORE_BUSY' })
  const late = [...calls.slice(0, 2), refusal(queue.len())]
  await time.pass(3_000)
  for (const error of await Promise.all(late)) {
    expect(error).toMatchObject({ code: 'ERR_TIMEOUT', retryable: true })
    expect(error).toMatchObject({ cause: { code: 'ERR_STORE_BUSY' } })
    expect(String(error)).toContain('an attempt before failed: queue.db is locked')
  }
  driver.letGo('open')
  await queue.close()
})
