import { type SluiceEvent, sluiceChannel } from '@sluice/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { SluiceError } from '../../src/index.ts'
import { refusal } from '../support/refusal.ts'
import { late, leased, Scene, setups, take } from '../support/setups.ts'

interface Published {
  readonly phase: string
  readonly event: SluiceEvent
}

/** Listens to everything that is published until the test has finished. */
function listen(): Published[] {
  const log: Published[] = []
  const note = (phase: string) => (event: SluiceEvent) => {
    log.push({ phase, event })
  }
  const subscribers = {
    start: note('start'),
    end: note('end'),
    asyncStart: note('asyncStart'),
    asyncEnd: note('asyncEnd'),
    error: note('error'),
  }
  sluiceChannel.subscribe(subscribers)
  onTestFinished(() => {
    sluiceChannel.unsubscribe(subscribers)
  })
  return log
}

function eventsOf(log: Published[], verb: string): SluiceEvent[] {
  return log
    .filter(({ phase, event }) => phase === 'start' && event.verb === verb)
    .map(({ event }) => event)
}

/** Everything a queue can do, as one row of outcomes. */
async function everything(scene: Scene): Promise<unknown[]> {
  const queue = scene.limited()
  const said: unknown[] = [
    await queue.add('a'),
    await queue.addMany(['b', 'c', 'b'], { priority: 1 }),
    await queue.addAfter('d', 10),
    await queue.addRateLimited('e'),
    await queue.numRequeues('e'),
    await queue.forget('e'),
    await queue.cancel('c'),
    await queue.len(),
  ]
  const first = await take(queue)
  said.push(first.key, await first.done(), await first.done())
  await scene.clock.step(10)
  const rest = await queue.getMany(5)
  said.push(rest.map(({ key }) => key))
  said.push(await rest[0]?.retry(), await rest[1]?.release(), await rest[2]?.park())
  const waiting = queue.get()
  await scene.quiet()
  said.push((await waiting)?.key)
  await queue.shutDown()
  said.push(await queue.get(), await scene.states())
  return said
}

describe.each(setups)('tracing over $way', (setup) => {
  test('Observation: behaviour is the same with a subscriber', async () => {
    const quietly = await everything(new Scene(setup))
    listen()
    expect(await everything(new Scene(setup))).toEqual(quietly)
  })

  test('Observation: each call has its request and its result', async () => {
    const log = listen()
    const scene = new Scene(setup)
    await everything(scene)
    for (const { event } of log)
      expect([event.queue, event.driver]).toEqual(['q', scene.driver.name])
    expect(new Set(log.map(({ event }) => event.holder)).size).toBe(1)
    expect(eventsOf(log, 'add')[0]).toMatchObject({
      request: { asks: [{ key: 'a', priority: 0, delayMs: 0 }], options: { dedupe: 'client-go' } },
      result: [{ outcome: 'added', dueAt: 1_000_000, failures: 0 }],
    })
    const results = eventsOf(log, 'add').flatMap(({ result }) => result as { outcome: string }[])
    expect(
      results.map(({ outcome }) => outcome).filter((outcome) => outcome === 'added').length,
    ).toBe(5)
    expect(eventsOf(log, 'cancel')[0]).toMatchObject({
      request: { keys: ['c'] },
      result: ['cancelled'],
    })
    expect(eventsOf(log, 'forget')[0]).toMatchObject({
      request: { keys: ['e'] },
      result: ['forgotten'],
    })
    const finishes = eventsOf(log, 'finish').flatMap(
      ({ request }) => (request as { finishes: { as: string }[] }).finishes,
    )
    expect(finishes.map(({ as }) => as).sort()).toEqual(['done', 'park', 'release', 'retry'])
    expect(eventsOf(log, 'shut-down').length).toBe(1)
  })

  test('Observation: a claim is published in the same form, on every way', async () => {
    const log = listen()
    const scene = new Scene(setup)
    const queue = scene.queue<{ n: number }>({ keyOf: () => 'k' })
    await queue.add({ n: 1 }, { priority: 2 })
    const held = await take(queue)
    expect(eventsOf(log, 'claim')[0]).toMatchObject({
      request: { limit: 1 },
      result: {
        claims: [
          {
            key: 'k',
            item: '{"n":1}',
            token: held.token,
            failures: 0,
            crashes: 0,
            priority: 2,
            askedAt: 1_000_000,
          },
        ],
        leaseEnds: [],
        now: 1_000_000,
      },
    })
    expect(eventsOf(log, 'claim')[0]?.request).not.toHaveProperty('dueBy')
    await queue.shutDown()
    expect(await queue.get()).toBe(undefined)
    expect(eventsOf(log, 'claim').at(-1)?.request).toMatchObject({ dueBy: 1_000_000 })
  })

  test('Observation: every call that starts also ends, once', async () => {
    const log = listen()
    const scene = new Scene(setup)
    await everything(scene)
    await scene.end()
    const starts = log.filter(({ phase }) => phase === 'start').length
    const ends = log.filter(({ phase }) => phase === 'end').length
    const asyncStarts = log.filter(({ phase }) => phase === 'asyncStart').length
    const asyncEnds = log.filter(({ phase }) => phase === 'asyncEnd').length
    expect([ends, asyncEnds]).toEqual([starts, asyncStarts])
  })

  test('Observation: errors that go to onError are published, and whose limiter failed', async () => {
    const log = listen()
    const scene = new Scene(setup)
    const limiter = { when: () => Number.NaN, forget: () => undefined, numRequeues: () => 0 }
    const queue = scene.limited({ limiter })
    await queue.addRateLimited('a')
    const [error] = scene.errors
    expect(eventsOf(log, 'error').map((event) => event.error)).toEqual([error])
    expect(eventsOf(log, 'limiter-failed').length).toBe(1)
    scene.takeErrors()
  })

  test.each([
    ['a string', () => '5', "got '5'", []],
    ['a promise', () => Promise.reject(new Error('late')), 'got a Promise', ['Error: late']],
  ])('Observation: a limiter that gives %s is reported, and ends nothing', async (...row) => {
    const [, when, text, later] = row
    const scene = new Scene(setup)
    const forget = () => Promise.reject(new Error('not forgotten'))
    const limiter = { when: when as () => never, forget, numRequeues: () => 0 }
    const queue = scene.limited({ limiter })
    await queue.addRateLimited('a')
    expect((await queue.inspect.get('a'))?.dueAt).toBe(scene.clock.now() + 1_000)
    await queue.forget('a')
    await scene.quiet()
    const [error, ...others] = scene.errors.map(String)
    expect(error).toContain(text)
    expect(others).toEqual([...later, 'Error: not forgotten'])
    scene.errors = []
  })

  for (const layer of ['queue', 'delaying'] as const) {
    test(`Observation: a limiter that fails at a retry is reported, on a ${layer} too`, async () => {
      const log = listen()
      const scene = new Scene(setup)
      const failure = new Error('the limiter failed')
      const limiter = {
        when() {
          throw failure
        },
        forget: () => undefined,
        numRequeues: () => 0,
      }
      const queue = scene[layer]({ limiter })
      await queue.add('a')
      const held = await queue.get()
      await held?.retry(new Error('no'))
      expect(scene.errors).toEqual([failure])
      expect(eventsOf(log, 'limiter-failed').length).toBe(1)
      scene.takeErrors()
    })
  }

  test('Observation: a subscriber that throws harms no call', async () => {
    const thrown: unknown[] = []
    const listeners = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    process.on('uncaughtException', (error) => thrown.push(error))
    onTestFinished(() => {
      process.removeAllListeners('uncaughtException')
      for (const listener of listeners) process.on('uncaughtException', listener)
    })
    const subscriber = (): void => {
      throw new Error('bad subscriber')
    }
    sluiceChannel.start.subscribe(subscriber)
    onTestFinished(() => {
      sluiceChannel.start.unsubscribe(subscriber)
    })
    const scene = new Scene(setup)
    const queue = scene.queue()
    expect(await queue.add('a')).toBe('added')
    expect(await (await take(queue)).done()).toBe('idle')
    await scene.quiet()
    expect(thrown.length).toBeGreaterThan(0)
  })
})

describe('tracing of calls that only some ways make', () => {
  test('renewals, lease ends, lost leases', async () => {
    const log = listen()
    const scene = new Scene(leased)
    const queue = scene.queue()
    await queue.addMany(['a', 'b'])
    const a = await take(queue)
    await scene.clock.step(10_000)
    expect(eventsOf(log, 'renew')[0]).toMatchObject({
      request: { leases: [{ key: 'a', token: a.token }], leaseMs: 30_000 },
      result: [{ outcome: 'renewed' }],
    })
    await scene.inner.finish('q', [{ as: 'park', key: 'a', token: a.token }], {
      dedupe: 'client-go',
      failuresExpireMs: 1_000,
    })
    await scene.clock.step(10_000)
    expect(eventsOf(log, 'lease-lost')[0]).toMatchObject({ request: { key: 'a', token: a.token } })
    const request = { limit: 1, holder: 'gone', claimId: 'gone', leaseMs: 1_000 }
    await scene.inner.claim('q', request)
    const waiting = queue.get()
    await scene.clock.step(1_000)
    expect(eventsOf(log, 'expire')[0]).toMatchObject({
      request: { leases: [{ key: 'b' }] },
      result: ['expired'],
    })
    await scene.clock.step(5)
    expect((await waiting)?.crashes).toBe(1)
  })

  test('a call that fails has its error', async () => {
    const log = listen()
    const scene = new Scene(late)
    const queue = scene.queue()
    const error = new SluiceError('ERR_STORE', 'away', { retryable: true })
    scene.late.before = ({ verb }) => {
      if (verb === 'add') throw error
    }
    expect(await refusal(queue.add('a'))).toBe(error)
    const [event] = eventsOf(log, 'add')
    expect(event).toMatchObject({ error })
    expect(event).not.toHaveProperty('result')
    expect(log.filter((one) => one.event === event).map(({ phase }) => phase)).toEqual([
      'start',
      'end',
      'error',
      'asyncStart',
      'asyncEnd',
    ])
  })
})
