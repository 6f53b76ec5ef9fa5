import { describe, expect, test } from 'vitest'
import { createWorker, type HandlerResult } from '../src/index.ts'
import { refusal } from './refusal.ts'
import { Scene, setups } from './setups.ts'

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
        ['name', 'code', 'message', 'stack', 'requeue', 'requeueAfterMs', 'priority'].map(
          (name) => [name, { get: trap, enumerable: true }],
        ),
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
      () => queue.doneMany([value]),
    ]
    for (const call of calls) expect(await refusal(call())).toBeInstanceOf(Error)
    queue.addSoon(value)
    expect(scene.takeErrors()).toHaveLength(1)
    expect(await scene.states()).toEqual({})
  })
})
