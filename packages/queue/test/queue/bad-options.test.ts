import { readFileSync } from 'node:fs'
import type { Capabilities, Driver } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { memoryDriver } from '@sluice/memory'
import { describe, expect, test } from 'vitest'
import {
  createDelayingQueue,
  createQueue,
  createRateLimitingQueue,
  exponential,
  maxOf,
  tokenBucket,
} from '../../src/index.ts'

const factories: { factory: string; make: (options: never) => unknown }[] = [
  { factory: 'createQueue', make: createQueue },
  { factory: 'createDelayingQueue', make: createDelayingQueue },
  { factory: 'createRateLimitingQueue', make: createRateLimitingQueue },
]

/** The error of bad options. */
type Refused = Error & { readonly code?: string; readonly parameter?: string }

/** The error that a factory throws. */
function thrown(make: (options: never) => unknown, options: unknown): unknown {
  try {
    make(options as never)
  } catch (error) {
    return error
  }
  return undefined
}

/** A memory driver that declares other capabilities, by default that it is durable. */
function durable(changed: Partial<Capabilities> = { durable: true }): Driver {
  const driver = memoryDriver()
  const capabilities = { ...driver.capabilities, ...changed }
  return new Proxy(driver, {
    get: (target, name) => {
      if (name === 'capabilities') return capabilities
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

const wrong: [option: string, values: readonly unknown[], parameter?: string][] = [
  ['name', [null, 5, {}, 'a\0b', 'x'.repeat(129), '\ud800']],
  ['driver', [null, 5, 'memory', {}, { add: () => [], claim: () => [] }, memoryDriver]],
  ['dedupe', [null, 'latest', 5]],
  ['leaseMs', [null, 0, 99, -1, '30', Number.NaN, -Infinity, 86_400_001]],
  ['keyOf', [null, 'id', {}]],
  ['schema', [null, {}, () => true, { '~standard': {} }], 'schema'],
  ['clock', [null, 5, {}, Date], 'clock'],
  ['onError', [null, 'log', {}]],
  ['logger', [null, 'console', {}, { info: console.info, warn: console.warn }]],
  ['timeoutMs', [null, 0, -1, '5', Number.NaN, Infinity, 600_001]],
  ['prefetch', [null, -1, 1.5, 1_001, '5', Number.NaN]],
  ['maxPending', [null, 0, -1, 1.5, '5', Number.NaN, Infinity]],
  ['failuresExpireMs', [null, -1, '5', Number.NaN, Infinity]],
  ['maxCrashes', [null, 0, -1, 1.5, '5', Number.NaN]],
  ['ref', [null, 1, 'yes']],
  ['limiter', [null, 5, {}, { when: () => 1 }, { when: () => 1, forget: () => 1 }], 'limiter'],
]

const methods = { when: () => 1, forget: () => undefined, numRequeues: () => 0 }
const wrongPlans: readonly unknown[] = [
  ...[null, 5, {}, { kind: 'exponentail', baseMs: 5, maxMs: 10 }],
  // JSON has no infinity.
  { kind: 'exponential', baseMs: 5, maxMs: Infinity },
  { kind: 'fastSlow', fastMs: 5, slowMs: '50', maxFast: 3 },
  { kind: 'maxOf', of: 5 },
]
wrong.push(['limiter', wrongPlans.map((plan) => ({ ...methods, plan })), 'limiter.plan'])

describe.each(factories)('$factory', ({ make }) => {
  test('throws for bad options, naming them', () => {
    const problems: string[] = []
    for (const [option, values, parameter = option] of wrong) {
      for (const value of values) {
        const error = thrown(make, { name: 'q', [option]: value }) as Refused | undefined
        const isTyped = error instanceof TypeError || error instanceof RangeError
        const { code, parameter: named } = error ?? {}
        const isNamed = code === 'ERR_INVALID_INPUT' && named?.startsWith(parameter) === true
        if (isTyped && isNamed) continue
        problems.push(`${option}: ${String(value)} ${error === undefined ? 'accepted' : error}`)
      }
    }
    expect(problems).toEqual([])
  })

  test('throws for options that are none, and for options that do not exist', () => {
    for (const options of [undefined, null, 5, 'q', []]) {
      expect(thrown(make, options)).toMatchObject({ parameter: 'options' })
    }
    expect(thrown(make, { name: 'q', leaseMS: 5 })).toMatchObject({
      parameter: 'leaseMS',
      message: expect.stringContaining("did you mean 'leaseMs'?"),
    })
  })

  test('a name is required for a durable driver, and not in memory', () => {
    expect(thrown(make, {})).toBe(undefined)
    expect(thrown(make, { name: '' })).toBe(undefined)
    for (const name of [undefined, '']) {
      expect(thrown(make, { name, driver: durable() })).toMatchObject({ parameter: 'name' })
    }
    expect(thrown(make, { driver: durable() })).toMatchObject({
      message: expect.stringContaining('name must be given: the keys of a queue on the'),
    })
    expect(thrown(make, { name: 'q', driver: durable() })).toBe(undefined)
  })

  test("a word for prefetch that is not 'auto' is refused with an error that names 'auto'", () => {
    expect(thrown(make, { prefetch: 'Auto' })).toMatchObject({
      message: "prefetch must be 'auto' or a number up to 1000; got 'Auto' [ERR_INVALID_INPUT]",
    })
  })

  test('a bucket with a name is refused where queues share none', () => {
    const driver = durable({ sharedBuckets: false })
    const named = (name?: string) =>
      maxOf(exponential({ baseMs: 5, maxMs: 10 }), tokenBucket({ name, perSecond: 1, burst: 1 }))
    const refused = {
      code: 'ERR_INVALID_INPUT',
      parameter: 'limiter',
      message: expect.stringContaining("must not name its bucket ('api') where queues share none"),
    }
    expect(thrown(make, { name: 'q', driver, limiter: named('api') })).toMatchObject(refused)
    expect(thrown(make, { name: 'q', driver, limiter: named() })).toBe(undefined)
    expect(thrown(make, { name: 'q', driver, limiter: named('queue:q') })).toBe(undefined)
    expect(thrown(make, { name: 'q', driver: durable(), limiter: named('api') })).toBe(undefined)
    const queue = createQueue({ name: 'q', driver })
    const wrap = createRateLimitingQueue as (options: never) => unknown
    expect(thrown(wrap, { queue, limiter: named('api') })).toMatchObject(refused)
    expect(thrown(wrap, { queue, limiter: named() })).toBe(undefined)
  })

  test('leaseMs: Infinity is for memory only', () => {
    expect(thrown(make, { leaseMs: Infinity })).toBe(undefined)
    expect(thrown(make, { name: 'q', leaseMs: Infinity, driver: durable() })).toMatchObject({
      parameter: 'leaseMs',
    })
  })

  test('a driver of another contract is refused', () => {
    const driver = memoryDriver()
    const other = new Proxy(driver, {
      get: (target, name) => (name === 'contractVersion' ? 99 : Reflect.get(target, name, target)),
    })
    expect(thrown(make, { driver: other })).toMatchObject({ code: 'ERR_CONTRACT_VERSION' })
  })

  test('a driver that was not called is told from one', () => {
    expect(thrown(make, { driver: memoryDriver })).toMatchObject({
      message: expect.stringContaining('a driver, such as memoryDriver(); got a function'),
    })
  })

  test('options that are undefined are as good as absent', () => {
    const names = wrong.map(([name]) => name)
    const options = Object.fromEntries(names.map((name) => [name, undefined]))
    expect(thrown(make, options)).toBe(undefined)
  })

  test('makes nothing until it is used', () => {
    const clock = fakeClock()
    const driver = memoryDriver()
    make({ name: 'q', driver, clock } as never)
    expect(clock.waiters()).toBe(0)
  })
})

test.each([
  ['createQueue', () => createQueue()],
  ['createDelayingQueue', () => createDelayingQueue()],
  ['createRateLimitingQueue', () => createRateLimitingQueue<{ id: number } | string>()],
])('%s without an argument makes a queue in memory', async (_, make) => {
  const queue = make()
  expect(queue.name).toBe('')
  expect(queue.capabilities).toMatchObject({ durable: false, shared: false })
  expect(await queue.add('a')).toBe('added')
  expect(await make().len()).toBe(0)
  await queue.close()
})

test('items that are not JSON are refused by the compiler, also without an argument', () => {
  // @ts-expect-error a Date is not JSON
  expect(createQueue<Date>().name).toBe('')
  // @ts-expect-error a Date is not JSON
  expect(createQueue<Date>({}).name).toBe('')
})

describe('capabilities', () => {
  test('are those of the driver, and where delays live', () => {
    const driver = memoryDriver()
    const queue = createQueue({ driver, dedupe: 'earliest' })
    expect(queue.capabilities).toEqual({
      ...driver.capabilities,
      delays: 'store',
      dedupe: 'earliest',
    })
    expect([queue.name, createQueue({ driver, name: 'x' }).name]).toEqual(['', 'x'])
  })
})

test('a runtime that is too old is refused, with the version that is needed', ({
  onTestFinished,
}) => {
  const transfer = Object.getOwnPropertyDescriptor(ArrayBuffer.prototype, 'transfer')!
  const { version } = process
  Reflect.deleteProperty(ArrayBuffer.prototype, 'transfer')
  onTestFinished(() => {
    Object.defineProperty(ArrayBuffer.prototype, 'transfer', transfer)
  })
  const manifest = new URL('../../package.json', import.meta.url)
  const { engines } = JSON.parse(readFileSync(manifest, 'utf8')) as { engines: { node: string } }
  const needed = engines.node.replace('>=', '')
  expect(() => createQueue()).toThrow(
    `cannot make a queue: Node ${version.slice(1)} is too old; install Node ${needed} or newer`,
  )
})
