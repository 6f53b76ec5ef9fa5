import { Backoff } from '@sluice/backoff'
import type { Driver } from '@sluice/core'
import { memoryDriver } from '@sluice/memory'
import {
  createDelayingQueue,
  createRateLimitingQueue,
  createWorker,
  exponential,
  inspectStore,
  TokenBucket,
  tokenBucket,
} from 'sluice'

/** Something to call, and sound arguments for it. */
export interface Target {
  readonly name: string
  readonly call: (...args: readonly unknown[]) => unknown
  readonly sound: readonly unknown[]
  /** It may be pending until it is ended. */
  readonly waits: boolean
}

/** The modules that users call. Those for drivers and tests of drivers trust their callers. */
const modules = [
  'sluice',
  'sluice/testing',
  'sluice/transfer',
  '@sluice/backoff',
  '@sluice/memory',
  '@sluice/sqlite',
  '@sluice/postgres',
  '@sluice/redis',
  '@sluice/metrics',
  '@sluice/metrics/prometheus',
  '@sluice/metrics/opentelemetry',
  '@sluice/dashboard',
  '@sluice/dashboard/node',
] as const

/** What is pending until it is ended, or until something happens. */
const waiting: ReadonlySet<string> = new Set([
  ...['backoffUntil', 'jitterUntil', 'until', 'nonSlidingUntil', 'pollUntil', 'forever'],
  ...['exponentialBackoff', 'queue.get', 'queue.getMany', 'queue.shutDownWithDrain'],
  ...['worker.runUntilIdle', 'worker.stop', 'queue.close', 'moveQueues'],
])

/** What ends the thing that all calls go to, or the process; and what no user is to call. */
const skipped: ReadonlySet<string> = new Set([
  ...['queue.close', 'queue.shutDown', 'queue.shutDownWithDrain', 'worker.stop'],
  ...['worker.runUntilIdle', 'store.close', 'stopOnSignals'],
  ...['SluiceError', 'SluiceTypeError', 'SluiceRangeError', 'queue.ask', 'queue.getFor'],
])

/** The things of one round: a store with keys, and objects of every kind on it. */
export interface Stage {
  readonly driver: Driver
  readonly targets: readonly Target[]
  close(): Promise<void>
}

function soundArguments(
  driver: Driver,
  queue: object,
): Readonly<Record<string, readonly unknown[]>> {
  const limiter = exponential({ baseMs: 5, maxMs: 100 })
  return {
    createQueue: [{ name: 'other', driver, leaseMs: 1_000, prefetch: 0, timeoutMs: 1_000 }],
    createDelayingQueue: [{ name: 'other', driver }],
    createRateLimitingQueue: [{ name: 'other', driver, limiter }],
    createWorker: [{ queue, handler() {}, concurrency: 1, maxFailures: 3 }],
    inspectStore: [driver, {}],
    exportQueue: [queue],
    importQueue: [queue, []],
    exponential: [{ baseMs: 5, maxMs: 100 }],
    fastSlow: [{ fastMs: 5, slowMs: 100, maxFast: 3 }],
    tokenBucket: [{ name: 'bucket', perSecond: 10, burst: 5 }],
    maxOf: [limiter, limiter],
    withMaxWait: [limiter, 100],
    jittered: [limiter, 0.5],
    every: [100],
    fakeClock: [0, {}],
    memoryDriver: [{}],
    sqliteDriver: [{ file: 'never-opened.db', durability: 'process' }],
    postgresDriver: [{ connectionString: 'postgres://nobody@127.0.0.1:1/none', poolSize: 1 }],
    redisDriver: [{ url: 'redis://127.0.0.1:1', prefix: 'never-opened:' }],
    rolesSql: [{ schema: 'sluice' }],
    prometheusMetrics: [{}],
    createDashboard: [{ driver }],
    'queue.add': ['a', { priority: 1 }],
    'queue.addMany': [['a', 'b'], { priority: 1 }],
    'queue.addSoon': ['a', { priority: 1 }],
    'queue.addAfter': ['a', 5, { priority: 1, when: 'latest', maxWaitMs: 10 }],
    'queue.addRateLimited': ['a', { priority: 1 }],
    'queue.forget': ['a'],
    'queue.numRequeues': ['a'],
    'queue.cancel': ['a'],
    'queue.done': ['a', { forget: true }],
    'queue.doneMany': [[], { forget: true }],
    'queue.get': [{}],
    'queue.getMany': [1, {}],
    'inspect.counts': [{ cap: 10 }],
    'inspect.list': [{ limit: 10, state: 'ready' }],
    'inspect.get': ['a'],
    'inspect.explain': ['a'],
    'inspect.park': ['a'],
    'inspect.unpark': ['a', { forget: true }],
    'inspect.select': [{ state: 'ready' }],
  }
}

function methodsOf(thing: object): string[] {
  const names = new Set<string>()
  for (let at = thing; at !== Object.prototype && at !== null; at = Object.getPrototypeOf(at)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      if (typeof value === 'function' && name !== 'constructor') names.add(name)
    }
  }
  return [...names]
}

/** Everything that can be called, on a store of its own. */
export async function stage(): Promise<Stage> {
  const driver = memoryDriver()
  const silent = { onError() {} }
  const queue = createRateLimitingQueue<string>({ name: 'q', driver, leaseMs: 30_000, ...silent })
  const delaying = createDelayingQueue<string>({ name: 'd', driver, ...silent })
  const worker = createWorker({ queue: delaying, handler() {}, ...silent })
  await queue.addMany(['one', 'two', 'three'])
  await queue.inspect.park('two')
  const store = inspectStore(driver)
  const sound = soundArguments(driver, queue)
  const targets: Target[] = []
  const offer = (name: string, call: Target['call']): void => {
    if (skipped.has(name)) return
    targets.push({ name, call, sound: sound[name] ?? [], waits: waiting.has(name) })
  }
  for (const module of modules) {
    for (const [name, value] of Object.entries(await import(module))) {
      if (typeof value !== 'function') continue
      const isClass = /^class\b/.test(Function.prototype.toString.call(value))
      offer(name, (...args) =>
        isClass ? Reflect.construct(value, [...args]) : Reflect.apply(value, undefined, [...args]),
      )
    }
  }
  const things = {
    queue,
    inspect: queue.inspect,
    worker,
    store,
    limiter: tokenBucket({ name: 'bucket', perSecond: 10, burst: 5 }),
    bucket: new TokenBucket({ perSecond: 10, burst: 5 }),
    backoff: new Backoff({ durationMs: 5, factor: 2, jitter: 0.1, steps: 3, capMs: 100 }),
  }
  for (const [name, thing] of Object.entries(things)) {
    for (const method of methodsOf(thing)) {
      offer(`${name}.${method}`, (...args) =>
        Reflect.apply(Reflect.get(thing, method), thing, [...args]),
      )
    }
  }
  return {
    driver,
    targets,
    async close() {
      await worker.stop({ graceMs: 0 })
      await store.close?.()
      await delaying.close()
      await queue.close()
    },
  }
}
