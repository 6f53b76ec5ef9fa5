import process from 'node:process'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  createDelayingQueue,
  createRateLimitingQueue,
  createWorker,
  type ForeignQueue,
  type HandlerResult,
  type Queue,
} from '../../src/index.ts'
import { refusal } from '../support/refusal.ts'
import { direct, Scene, setups, take } from '../support/setups.ts'

const trap = (): never => {
  throw new Error('trap')
}

/** Values that throw when they are looked at. A rejection that nothing handles fails the test run. */
function hostileValues(): Record<string, unknown> {
  const { proxy: revoked, revoke } = Proxy.revocable({}, {})
  revoke()
  return {
    'a revoked proxy': revoked,
    'a proxy whose traps all throw': new Proxy(
      {},
      { get: trap, has: trap, getPrototypeOf: trap, ownKeys: trap, getOwnPropertyDescriptor: trap },
    ),
    'an object whose prototype cannot be read': new Proxy({}, { getPrototypeOf: trap }),
    'an object whose members throw': Object.defineProperties(
      {},
      Object.fromEntries(
        [
          'name',
          'code',
          'message',
          'stack',
          'requeue',
          'requeueAfterMs',
          'priority',
          'retryAfterMs',
        ].map((name) => [name, { get: trap, enumerable: true }]),
      ),
    ),
    'an object whose toString throws': {
      toString: trap,
      valueOf: trap,
      [Symbol.toPrimitive]: trap,
    },
    'an object whose members cannot be written as text': {
      name: { toString: trap },
      code: Symbol('code'),
      message: Object.create(null),
    },
    'an object without a prototype': Object.create(null),
    'a symbol': Symbol('value'),
  }
}

const names = Object.keys(hostileValues())

describe.each(setups)('a worker over $way', (setup) => {
  /** Runs a handler that does this, which must count as a failed run and as nothing else. */
  async function runOne(handler: (value: unknown) => unknown, name: string) {
    const scene = new Scene(setup)
    const queue = scene.limited()
    const worker = createWorker<string>({
      queue,
      handler: () => handler(hostileValues()[name]) as HandlerResult,
    })
    await queue.add('a')
    await scene.clock.step(0)
    expect(await scene.row('a')).toMatchObject({ state: 'backoff', failures: 1 })
    expect(worker.running).toBe(0)
    await worker.stop({ graceMs: 0 })
  }

  test.each(names)('gives slot and key back when a handler throws %s', async (name) => {
    await runOne((value) => {
      throw value
    }, name)
  })

  test.each(names)('gives slot and key back when a handler rejects with %s', async (name) => {
    await runOne((value) => Promise.reject(value), name)
  })

  test.each(names)('gives slot and key back when a handler returns %s', async (name) => {
    await runOne((value) => value, name)
  })

  test('counts a run that throws undefined, and stores its error, also when it parks the key', async () => {
    const scene = new Scene(setup)
    const queue = scene.limited()
    await queue.add('a')
    await (await take(queue)).retry(new Error('an earlier run'))
    await scene.clock.step(1_000)
    const worker = createWorker<string>({
      queue,
      handler: () => Promise.reject(undefined),
      maxFailures: 2,
    })
    await scene.clock.step(0)
    const row = await scene.row('a')
    expect(row).toMatchObject({ state: 'parked', failures: 2 })
    expect(row?.lastError).toContain('the handler threw undefined')
    await worker.stop({ graceMs: 0 })
  })
})

describe.each(setups)('a queue over $way', (setup) => {
  test.each(names)('rejects %s as an item, and changes nothing', async (name) => {
    const scene = new Scene(setup)
    const queue = scene.limited()
    const value = hostileValues()[name] as string
    const calls = [
      () => queue.add(value),
      () => queue.addMany(['a', value]),
      () => queue.addAfter(value, 5),
      () => queue.addRateLimited(value),
      () => queue.forget(value),
      () => queue.numRequeues(value),
      () => queue.cancel(value),
      () => queue.done(value),
      () => queue.doneMany([value as never]),
    ]
    for (const call of calls) expect(await refusal(call())).toBeInstanceOf(Error)
    queue.addSoon(value)
    expect(scene.takeErrors()).toHaveLength(1)
    expect(await scene.states()).toEqual({})
  })
})

describe('without a listener', () => {
  test.each(names)('%s of a limiter and of a schema is one line on stderr', async (name) => {
    const lines: string[] = []
    const write = vi.spyOn(process.stderr, 'write').mockImplementation((line) => {
      lines.push(String(line))
      return true
    })
    onTestFinished(() => write.mockRestore())
    const fail = (): never => {
      throw hostileValues()[name]
    }
    const scene = new Scene(direct)
    const limiter = { when: fail, forget: fail, numRequeues: () => 0 }
    const { onError: _, logger: __, ...options } = scene.options<string>({ limiter })
    const queue = scene.keep(createRateLimitingQueue<string>(options))
    expect(await queue.addRateLimited('a')).toBe('added')
    await scene.clock.step(1_000)
    expect(await (await take(queue)).done({ forget: true })).toBe('idle')
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/^sluice: queue "q": /)
  })

  test('an add that addSoon drops is one line on stderr', async () => {
    const lines: string[] = []
    const write = vi.spyOn(process.stderr, 'write').mockImplementation((line) => {
      lines.push(String(line))
      return true
    })
    onTestFinished(() => write.mockRestore())
    const scene = new Scene(direct)
    const { onError: _, logger: __, ...options } = scene.options<string>()
    const queue = scene.keep(createRateLimitingQueue<string>(options))
    await queue.shutDown()
    queue.addSoon('a')
    queue.addSoon('b')
    const adapted = createDelayingQueue<string>({ queue: foreign(queue), name: 'around' })
    adapted.addSoon('c')
    await scene.quiet()
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(/queue "q": cannot add key "a" .*ERR_SHUT_DOWN/)
    expect(lines[1]).toMatch(/queue "around": cannot add key "c" .*ERR_SHUT_DOWN/)
  })
})

/** The part of a queue that client-go's interface has. */
function foreign(queue: Queue<string>): ForeignQueue<string> {
  return {
    get shuttingDown() {
      return queue.shuttingDown
    },
    add: (item, options) => queue.add(item, options),
    get: (options) => queue.get(options),
    done: (held, options) => queue.done(held, options),
    len: () => queue.len(),
    shutDown: () => queue.shutDown(),
    shutDownWithDrain: (options) => queue.shutDownWithDrain(options),
  }
}
