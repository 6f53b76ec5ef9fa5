import type {
  PublicHeld,
  PublicOptions,
  PublicQueue,
  PublicRateLimitingQueue,
  QueueFactories,
} from '@sluice/conformance'
import type { Driver } from '@sluice/core'
import { factories } from '../../queue-factories.ts'

/** Any queue; the verbs that a plain one lacks are only replaced, never called. */
type AnyQueue = PublicRateLimitingQueue<unknown>
type AnyHeld = PublicHeld<unknown>
type WorkerOptions = Parameters<QueueFactories['createWorker']>[0]
type AnyWorker = ReturnType<QueueFactories['createWorker']>

/** What is wrong with a broken queue. Each part replaces some members of what it is given. */
export interface Breakage {
  options?(options: PublicOptions, kind: keyof QueueFactories): PublicOptions
  driver?(driver: Driver): Partial<Driver>
  queue?(queue: AnyQueue, options: PublicOptions): Partial<AnyQueue>
  held?(held: AnyHeld, options: PublicOptions): Partial<AnyHeld>
  workerOptions?(options: WorkerOptions): WorkerOptions
  worker?(worker: AnyWorker): Partial<AnyWorker>
}

function replaced<T extends object>(whole: T, members: Partial<T>): T {
  return new Proxy(whole, {
    get(_, name) {
      const source = Object.hasOwn(members, name) ? members : whole
      const value: unknown = Reflect.get(source, name, source)
      return typeof value === 'function' ? value.bind(source) : value
    },
  })
}

/** The real thing behind a broken one, for those who look inside. */
const behind = new WeakMap<object, object>()

function real<T>(thing: T): T {
  return ((typeof thing === 'object' && thing !== null && behind.get(thing)) || thing) as T
}

/** The public queue with one thing wrong. */
export function broken(breakage: Breakage): QueueFactories {
  const drivers = new WeakMap<Driver, Driver>()
  const driverOf = (driver: Driver): Driver => {
    if (breakage.driver === undefined) return driver
    const known = drivers.get(driver) ?? replaced(driver, breakage.driver(driver))
    drivers.set(driver, known)
    return known
  }
  const heldOf = (held: AnyHeld, options: PublicOptions): AnyHeld => {
    if (breakage.held === undefined) return held
    const changed = replaced(held, breakage.held(held, options))
    behind.set(changed, held)
    return changed
  }
  const queueOf = (make: (options: PublicOptions) => AnyQueue, kind: keyof QueueFactories) => {
    return (given: PublicOptions): AnyQueue => {
      const asked = breakage.options?.(given, kind) ?? given
      const options = { ...asked, driver: driverOf(asked.driver) }
      const inner = make(options)
      const passed = withHelds(inner, (held) => heldOf(held, options))
      const queue = replaced(passed, breakage.queue?.(passed, options) ?? {})
      behind.set(queue, inner)
      return queue
    }
  }
  const { createWorker: makeWorker } = factories
  return {
    createQueue: queueOf(factories.createQueue as never, 'createQueue'),
    createDelayingQueue: queueOf(factories.createDelayingQueue as never, 'createDelayingQueue'),
    createRateLimitingQueue: queueOf(
      factories.createRateLimitingQueue as never,
      'createRateLimitingQueue',
    ),
    createWorker(options: WorkerOptions) {
      const asked = breakage.workerOptions?.(options) ?? options
      const worker = makeWorker({ ...asked, queue: real(asked.queue) })
      return replaced(worker, breakage.worker?.(worker) ?? {})
    },
  } as QueueFactories
}

/** The same queue, handing out what `change` makes of its Helds. */
function withHelds(inner: AnyQueue, change: (held: AnyHeld) => AnyHeld): AnyQueue {
  const members: Partial<PublicQueue<unknown>> = {
    async get(options) {
      const held = await inner.get(options)
      return held && change(held)
    },
    getMany: async (n, options) => (await inner.getMany(n, options)).map(change),
    done: (heldOrItem) => inner.done(real(heldOrItem)),
    doneMany: (helds) => inner.doneMany(helds.map(real)),
    within(transaction) {
      const within = inner.within(transaction)
      return { ...bound(within), done: (held) => within.done(real(held)) }
    },
    [Symbol.asyncIterator]() {
      const loop = inner[Symbol.asyncIterator]()
      return {
        async next() {
          const step = await loop.next()
          return step.done === true ? step : { done: false, value: change(step.value) }
        },
        return: async () => (await loop.return?.()) ?? { done: true, value: undefined },
      }
    },
  }
  return replaced(inner, members as Partial<AnyQueue>)
}

function bound<T extends { add: unknown; addAfter: unknown }>(within: T): T {
  return replaced(within, {})
}
