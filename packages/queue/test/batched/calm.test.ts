import { SluiceError, type TickRequest } from '@sluice/core'
import { memoryDriver } from '@sluice/memory'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createDelayingQueue, createQueue, createWorker, exponential } from '../../src/index.ts'
import { LateDriver, nextTurn } from '../support/late-driver.ts'
import { fakeRealTime } from '../support/real-time.ts'
import {
  late,
  leasedSetups,
  Scene,
  SteppedWorker,
  seen,
  setups,
  take,
  unleased,
} from '../support/setups.ts'

const away = new SluiceError('ERR_STORE', 'away', { retryable: true })
const unknown = new SluiceError('ERR_UNKNOWN_OUTCOME', 'the connection broke')

/** Lets the calls of a verb fail as often as this. */
function failing(scene: Scene, verb: string, error: Error, times: number): void {
  let left = times
  scene.late.before = async (call) => {
    await nextTurn()
    if (call.verb !== verb || left <= 0) return
    left -= 1
    throw error
  }
}

describe('an idle worker', () => {
  /** A store that wakes every other user of it by each write, as a file does. */
  function neighbours(count: number): Scene[] {
    const first = new Scene(late)
    const scenes = [first]
    for (let at = 1; at < count; at += 1) scenes.push(new Scene(late, first.inner))
    const wakes = new Map<Scene, () => void>()
    for (const scene of scenes) {
      scene.late.watch = (onWake) => {
        wakes.set(scene, () => onWake(undefined))
        return Promise.resolve(() => undefined)
      }
      scene.late.after = ({ verb, request }) => {
        const writes = verb === 'tick' && (request as TickRequest).worker !== undefined
        if (!writes) return
        for (const [other, wake] of wakes) if (other !== scene) wake()
      }
    }
    return scenes
  }

  test.each([1, 2, 4])(
    'of %i processes on one file registers once in ten seconds',
    async (count) => {
      const scenes = neighbours(count)
      const workers = scenes.map((scene) =>
        createWorker({ queue: scene.queue(), handler: () => undefined }),
      )
      for (const scene of scenes) await scene.clock.step(1_000)
      for (const scene of scenes) scene.late.calls = []
      for (let s = 0; s < 60; s += 1) for (const scene of scenes) await scene.clock.step(1_000)
      for (const { late: driver } of scenes) {
        const ticks = driver.requests('tick') as TickRequest[]
        const registrations = ticks.filter(({ worker }) => worker !== undefined).length
        expect(registrations).toBeGreaterThanOrEqual(6)
        expect(registrations).toBeLessThanOrEqual(7)
        // Its own, and what each write of the others makes it look for: a claim and a question.
        expect(driver.calls.length).toBeLessThanOrEqual(7 + 2 * 7 * (count - 1))
      }
      await Promise.all(workers.map((worker) => worker.stop()))
    },
  )

  test('says that its concurrency has changed at once', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    const one = createWorker({ queue, concurrency: 2, handler: () => undefined })
    await scene.clock.step(1_000)
    const other = createWorker({ queue, concurrency: 3, handler: () => undefined })
    await scene.clock.step(1_000)
    await one.stop()
    await scene.quiet()
    const ticks = scene.late.requests('tick') as TickRequest[]
    const told = ticks.flatMap(({ worker }) => (worker === undefined ? [] : [worker.concurrency]))
    expect(told).toEqual([2, 5, 3])
    await other.stop()
  })
})

describe('a key that is given back', () => {
  test('because its getter gave up is given back through trouble with the store', async () => {
    const time = fakeRealTime(onTestFinished)
    const scene = new Scene(late)
    const queue = scene.queue({ leaseMs: 1_000 })
    await queue.add('a')
    scene.late.hold('claim')
    const controller = new AbortController()
    const waiting = seen(queue.get({ signal: controller.signal }))
    await scene.quiet()
    failing(scene, 'finish', away, 3)
    controller.abort(new Error('enough'))
    scene.late.letGo('claim')
    await scene.quiet()
    await time.pass(10_000)
    expect(waiting.state).toBe('rejected')
    expect(await scene.states()).toEqual({ a: 'ready' })
    expect(scene.takeErrors()).toEqual(['ERR_STORE'])
  })

  test('for good fails without being held: its lease ends, and another worker has it', async () => {
    const scene = new Scene(late)
    const queue = scene.queue({ leaseMs: 1_000 })
    const other = scene.queue({ leaseMs: 1_000 })
    await queue.add('a')
    scene.late.hold('claim')
    const controller = new AbortController()
    const waiting = seen(queue.get({ signal: controller.signal }))
    await scene.quiet()
    failing(scene, 'finish', new SluiceError('ERR_STORE_DAMAGED', 'damaged'), 1)
    controller.abort(new Error('enough'))
    scene.late.letGo('claim')
    await scene.quiet()
    expect(waiting.state).toBe('rejected')
    expect(scene.takeErrors()).toEqual(['ERR_LEASE_LOST'])
    const theirs = seen(other.get())
    await scene.clock.step(20_000)
    expect(theirs.value?.key).toBe('a')
    await theirs.value?.done()
  })

  test('since it was claimed ahead and the queue shuts down is given back, too', async () => {
    const time = fakeRealTime(onTestFinished)
    const scene = new Scene(late)
    const queue = scene.queue({ prefetch: 10 })
    await queue.addMany(['a', 'b', 'c'])
    const stepped = new SteppedWorker(queue)
    await scene.quiet()
    failing(scene, 'finish', away, 2)
    await queue.shutDown()
    await time.pass(5_000)
    expect(await scene.states()).toEqual({ a: 'processing', b: 'ready', c: 'ready' })
    stepped.end()
    await scene.quiet()
    stepped.end()
    await scene.quiet()
    stepped.end()
    await stepped.worker.stopped
    scene.takeErrors()
  })
})

describe.each([late, unleased])('a schema over $way', (setup) => {
  const schema = {
    '~standard': {
      version: 1 as const,
      vendor: 'test',
      validate: (value: unknown) =>
        String(value).startsWith('bad') ? { issues: [{ message: 'bad' }] } : { value },
    },
  }

  test('trouble while a key is parked ends no worker, and loses none of the other keys', async () => {
    const time = fakeRealTime(onTestFinished)
    const scene = new Scene(setup)
    await scene.queue().addMany(['good/1', 'bad/1', 'good/2', 'bad/2'])
    const queue = scene.queue({ schema: schema as never })
    failing(scene, 'finish', away, 3)
    const getting = seen(queue.getMany(4))
    await scene.quiet()
    expect(getting.value?.map(({ key }) => key)).toEqual(['good/1', 'good/2'])
    const waiting = seen(queue.get())
    await time.pass(10_000)
    expect(waiting.state).toBe('waiting')
    const states = await scene.states()
    expect([states['bad/1'], states['bad/2']]).toEqual(['parked', 'parked'])
    await scene.queue().add('good/3')
    await time.pass(1_000)
    expect(waiting.value?.key).toBe('good/3')
    scene.takeErrors()
  })
})

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

describe('the time of a store', () => {
  test('a key that is due is handed out on time though an answer was late', async () => {
    const time = fakeRealTime(onTestFinished, { withDate: true })
    const driver = new LateDriver(memoryDriver())
    const queue = createQueue<string>({ name: 'q', driver, leaseMs: 30_000 })
    withoutHints(driver)
    let lateMs = 0
    driver.after = async ({ verb }) => {
      if (verb !== 'claim' || lateMs === 0) return
      lateMs = 0
      // real time: is under control here.
      await new Promise((resolve) => setTimeout(resolve, 1_000))
    }
    const waiting = seen(queue.get())
    await time.pass(100)
    lateMs = 1_000
    const delaying = createDelayingQueue<string>({ queue })
    await delaying.addAfter('k', 1_500)
    await time.pass(1_550)
    expect(waiting.value?.key).toBe('k')
    const closing = seen(queue.close())
    await time.pass(2_000)
    expect(closing.state).toBe('resolved')
  })

  test('under a given clock it is that of the clock, also while an answer is under way', async () => {
    const scene = new Scene(late)
    withoutHints(scene.late)
    const queue = scene.delaying()
    const waiting = seen(queue.get())
    await scene.quiet()
    const answers = holdBackAnswer(scene, 'claim')
    await queue.addAfter('k', 1_000)
    await scene.quiet()
    expect(answers).toHaveLength(1)
    await scene.clock.step(1_000)
    for (const answer of answers) answer()
    await scene.quiet()
    await scene.clock.step(1)
    expect(waiting.value?.key).toBe('k')
  })
})

test('an answer that was overtaken by a later one delays no key', async () => {
  const scene = new Scene(late)
  const queue = scene.queue()
  const started: string[] = []
  const worker = createWorker({ queue, handler: (item) => void started.push(item) })
  await scene.clock.step(1)
  // The heartbeat asks while nothing is there; its answer comes last.
  const answers = holdBackAnswer(scene, 'tick')
  await scene.clock.step(10_000)
  expect(answers).toHaveLength(1)
  await scene.inner.add('q', [{ key: 'k', item: undefined, priority: 0, delayMs: 1_100 }], {
    dedupe: 'client-go',
    failuresExpireMs: 1_000,
  })
  const { core } = queue as unknown as { core: { wake(): void } }
  core.wake()
  await scene.quiet()
  for (const answer of answers) answer()
  await scene.quiet()
  await scene.clock.step(1_100)
  expect(started).toEqual(['k'])
  await worker.stop()
})

/** A hint makes a queue ask for the time once more. */
function withoutHints(driver: LateDriver): void {
  Object.assign(driver, { watch: undefined })
}

/** Holds back the next answer to a verb, after it was read; gives how to let it go. */
function holdBackAnswer(scene: Scene, held: string): (() => void)[] {
  const answers: (() => void)[] = []
  scene.late.after = async ({ verb }) => {
    if (verb !== held || answers.length > 0) return
    scene.late.inFlight -= 1
    await new Promise<void>((resolve) => answers.push(resolve))
    scene.late.inFlight += 1
  }
  return answers
}

describe('opening', () => {
  test('that is cut is no unknown outcome: it is tried again at once, and adopts nothing', async () => {
    const time = fakeRealTime(onTestFinished)
    const scene = new Scene(late)
    failing(scene, 'open', unknown, 1)
    const queue = scene.queue()
    const waiting = seen(queue.get())
    await time.pass(1_000)
    expect(await queue.add('k')).toBe('added')
    await time.pass(500)
    expect(waiting.value?.key).toBe('k')
    expect(scene.late.count('adopt')).toBe(0)
    expect(scene.takeErrors()).toEqual(['ERR_STORE'])
  })

  test('that is cut rejects an add as a failure that changed nothing', async () => {
    const scene = new Scene(late)
    failing(scene, 'open', unknown, 1)
    const queue = scene.queue()
    await expect(queue.add('k')).rejects.toMatchObject({ code: 'ERR_STORE', retryable: true })
    expect(await queue.add('k')).toBe('added')
  })
})

describe.each([late, unleased])('an end over $way', (setup) => {
  test.each([0, 5_000])('with %i ms of grace comes within two seconds more', async (graceMs) => {
    const time = fakeRealTime(onTestFinished)
    for (const silent of ['add', 'claim', 'finish', 'renew', 'tick', 'open', 'close']) {
      const scene = new Scene(setup)
      const queue = scene.queue()
      if (silent !== 'open') {
        await queue.addMany(['a', 'b'])
        await (await take(queue)).done()
      }
      const held = silent === 'open' ? undefined : await take(queue)
      scene.late.hold(silent)
      const calls = [seen<unknown>(queue.add('c')), seen<unknown>(queue.get())]
      if (held !== undefined) calls.push(seen<unknown>(held.done()))
      queue.addSoon('soon')
      await scene.quiet()
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
    const time = fakeRealTime(onTestFinished)
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

describe('errors without a listener', () => {
  test('are one line on stderr, once a minute for each code', async () => {
    const time = fakeRealTime(onTestFinished)
    const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    onTestFinished(() => {
      write.mockRestore()
    })
    const scene = new Scene(late)
    scene.late.before = async ({ verb }) => {
      await nextTurn()
      if (verb === 'open') throw new SluiceError('ERR_STORE', 'no such\n  directory')
    }
    const queues = [1, 2, 3].map(() =>
      scene.queue({ onError: undefined as never, logger: undefined as never }),
    )
    for (const queue of queues) void queue.get()
    await time.pass(59_000)
    expect(write.mock.calls.map(([line]) => line)).toEqual([
      'sluice: queue "q": no such directory [ERR_STORE]\n',
    ])
    await time.pass(10_000)
    expect(write).toHaveBeenCalledTimes(2)
    scene.late.before = nextTurn
  })
})

test('an add whose answer is lost is repeated while its time lasts', async () => {
  const time = fakeRealTime(onTestFinished)
  const scene = new Scene(late)
  const queue = scene.queue({ timeoutMs: 30_000 })
  await queue.len()
  const silent = new SluiceError('ERR_TIMEOUT', 'no connection', { retryable: true })
  let left = 4
  scene.late.before = async ({ verb }) => {
    await nextTurn()
    if (verb !== 'add' || left === 0) return
    left -= 1
    // real time: is under control here.
    await new Promise((resolve) => setTimeout(resolve, 5_000))
    throw left % 2 === 0 ? unknown : silent
  }
  const adding = seen(queue.add('k'))
  await time.pass(25_000)
  expect(adding.value).toBe('added')
})

describe.each(leasedSetups)('counts of failures over $way', (setup) => {
  test('that have expired are swept away in steps, at once, until none is left', async () => {
    const scene = new Scene(setup)
    const limiter = exponential({ baseMs: 1, maxMs: 1 })
    const queue = scene.limited({ failuresExpireMs: 1_000, limiter } as never)
    await queue.addMany(Array.from({ length: 950 }, (_, at) => `k${at}`))
    for (const held of await queue.getMany(1_000)) await held.retry()
    await scene.clock.step(10)
    for (const held of await queue.getMany(1_000)) await held.done()
    await scene.clock.step(2_000)
    expect((await scene.inner.list('q', { limit: 1_000 })).rows.length).toBeGreaterThan(800)
    const worker = createWorker({
      queue: scene.queue({ failuresExpireMs: 1_000 }),
      handler: () => undefined,
    })
    await scene.clock.step(10_000)
    await scene.quiet()
    const { rows } = await scene.inner.list('q', { limit: 1_000 })
    expect(rows).toEqual([])
    await worker.stop()
  })
})
