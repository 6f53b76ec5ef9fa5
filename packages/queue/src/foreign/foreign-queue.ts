// This folder is the layers around queues of other libraries.

import {
  type AddOutcome,
  checkFunction,
  checkObject,
  describeValue,
  SluiceTypeError,
} from '@sluice/core'
import { allAnswered } from '../core/resolved.ts'
import type { Held } from '../held/held.ts'
import { checkCount } from '../queue/check-add.ts'
import type { DelayingQueue, Queue, QueueCapabilities } from '../queue/queue.ts'

/** The verbs a queue must have to be wrapped. */
const verbs = ['add', 'get', 'done', 'len', 'shutDown', 'shutDownWithDrain'] as const

/**
 * A queue of another library, as a layer takes it: it needs the methods of client-go's interface,
 * and may have all others of a {@link Queue}. Methods that it lacks are made of those it has where
 * that is possible; `within` and `inspect` then throw a `SluiceTypeError`. A rate-limiting queue uses its
 * `addAfter`, if it has one.
 */
export interface ForeignQueue<T>
  extends Pick<Queue<T>, (typeof verbs)[number] | 'shuttingDown'>,
    Partial<Omit<DelayingQueue<T>, (typeof verbs)[number] | 'shuttingDown'>> {}

/** Holds for anything with a queue's methods. */
export function checkQueue<T>(queue: ForeignQueue<T>): ForeignQueue<T> {
  checkObject('queue', queue)
  for (const verb of verbs) checkFunction(`queue.${verb}`, queue[verb])
  if (queue.addAfter !== undefined) checkFunction('queue.addAfter', queue.addAfter)
  return queue
}

/** A key that a foreign queue has handed out: no item, as Get of client-go returns one. */
function checkHeld<T>(held: Held<T> | undefined): Held<T> | undefined {
  if (held === undefined || typeof held?.done === 'function') return held
  throw new SluiceTypeError(
    'queue.get()',
    `must give a Held, which has item and done; got ${describeValue(held)}`,
  )
}

/** A method of a Held of another library, which has to have no more than `done`. */
export function verbOf<T, Verb extends 'release' | 'park'>(
  held: Held<T>,
  verb: Verb,
): Held<T>[Verb] {
  if (typeof held[verb] === 'function') return held[verb].bind(held) as Held<T>[Verb]
  throw new SluiceTypeError(
    `held.${verb}`,
    'cannot be used: the Held of the wrapped queue has none',
  )
}

/** The capabilities of a queue that declares none. */
const noCapabilities: Omit<QueueCapabilities, 'delays' | 'dedupe'> = {
  durable: false,
  shared: false,
  clock: false,
  order: 'custom',
  time: 'monotonic',
  tokens: 'store',
  sharedBuckets: true,
  watch: false,
  peers: false,
  operate: false,
  queues: false,
  workers: false,
  history: false,
  buckets: false,
  transact: false,
}

/** A whole queue of one that has at least the methods of client-go's interface. */
export function completed<T>(queue: ForeignQueue<T>, report: (error: unknown) => void): Queue<T> {
  const whole: Queue<T> = {
    get name() {
      return queue.name ?? ''
    },
    get capabilities() {
      return queue.capabilities ?? { ...noCapabilities, delays: 'process', dedupe: 'client-go' }
    },
    get inspect() {
      if (queue.inspect !== undefined) return queue.inspect
      throw new SluiceTypeError('queue.inspect', 'cannot be used: the wrapped queue has none')
    },
    get shuttingDown() {
      return queue.shuttingDown
    },
    add: async (item, options) => await queue.add(item, options),
    async addMany(items, options) {
      if (queue.addMany !== undefined) return await queue.addMany(items, options)
      if (!Array.isArray(items)) throw new SluiceTypeError('items', 'must be an array')
      const outcomes: AddOutcome[] = []
      for (const item of items as readonly T[]) outcomes.push(await whole.add(item, options))
      return outcomes
    },
    addSoon(item, options) {
      if (queue.addSoon !== undefined) queue.addSoon(item, options)
      else whole.add(item, options).catch(report)
    },
    get: async (options) => checkHeld(await queue.get(options)),
    async getMany(n, options) {
      if (queue.getMany !== undefined) return await queue.getMany(n, options)
      checkCount(n)
      const held = await whole.get(options)
      return held === undefined ? [] : [held]
    },
    done: async (held, options) => await queue.done(held, options),
    async doneMany(helds, options) {
      if (queue.doneMany !== undefined) return await queue.doneMany(helds, options)
      if (!Array.isArray(helds)) throw new SluiceTypeError('helds', 'must be an array')
      return await allAnswered(Array.from(helds, (held: Held<T>) => whole.done(held, options)))
    },
    cancel: async (item) => (await queue.cancel?.(item)) ?? 'unchanged',
    wake: () => queue.wake?.(),
    len: async () => await queue.len(),
    within(transaction) {
      if (queue.within !== undefined) return queue.within(transaction)
      throw new SluiceTypeError('queue.within', 'cannot be used: the wrapped queue has none')
    },
    shutDown: async () => await queue.shutDown(),
    shutDownWithDrain: async (options) => await queue.shutDownWithDrain(options),
    close: async (options) =>
      await (queue.close === undefined ? queue.shutDown() : queue.close(options)),
    [Symbol.asyncDispose]: () => whole.close(),
    [Symbol.asyncIterator]: () => queue[Symbol.asyncIterator]?.() ?? eachOf(whole),
  }
  return whole
}

/** Leaving the loop gives back the last one, unless it was finished or detached. */
async function* eachOf<T>(queue: Queue<T>): AsyncGenerator<Held<T>, undefined> {
  for (;;) {
    const held = await queue.get()
    if (held === undefined) return
    let isLeft = true
    // A Held does not say whether it was detached, and another object in its place would be unknown to
    // the `done` of its queue.
    const { detach } = held
    Reflect.set(held, 'detach', () => {
      isLeft = false
      detach?.call(held)
      return held
    })
    try {
      yield held
      isLeft = false
    } finally {
      if (isLeft) await verbOf(held, 'release')()
    }
  }
}
