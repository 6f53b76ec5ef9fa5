import {
  createDelayingQueue,
  createRateLimitingQueue,
  type DelayingQueue,
  type Limiter,
  type Queue,
  type RateLimitingQueue,
} from '../../src/index.ts'
import type { Scene } from './setups.ts'

/** A queue that looks like one of another library. */
export function foreign(queue: Queue<string>): Queue<string> {
  return {
    name: 'foreign',
    capabilities: queue.capabilities,
    inspect: queue.inspect,
    get shuttingDown() {
      return queue.shuttingDown
    },
    add: (item, options) => queue.add(item, options),
    addMany: (items, options) => queue.addMany(items, options),
    addSoon: (item, options) => queue.addSoon(item, options),
    get: (options) => queue.get(options),
    getMany: (n, options) => queue.getMany(n, options),
    done: (held, options) => queue.done(held, options),
    doneMany: (helds, options) => queue.doneMany(helds, options),
    cancel: (item) => queue.cancel(item),
    wake: () => queue.wake(),
    len: () => queue.len(),
    within: (transaction) => queue.within(transaction),
    shutDown: () => queue.shutDown(),
    shutDownWithDrain: (options) => queue.shutDownWithDrain(options),
    close: (options) => queue.close(options),
    [Symbol.asyncDispose]: () => queue.close(),
    [Symbol.asyncIterator]: () => queue[Symbol.asyncIterator](),
  }
}

/** A delaying queue around one that is not ours. */
export function adapted(scene: Scene): DelayingQueue<string> {
  const { clock } = scene
  const onError = (error: unknown): unknown => scene.errors.push(error)
  return createDelayingQueue({ queue: foreign(scene.queue()), clock, onError })
}

/** A queue with a limiter around one that is not ours. */
export function adaptedLimited(scene: Scene, limiter?: Limiter<string>): RateLimitingQueue<string> {
  const { clock } = scene
  const onError = (error: unknown): unknown => scene.errors.push(error)
  const queue = foreign(scene.queue())
  return createRateLimitingQueue({ queue, clock, onError, ...(limiter && { limiter }) })
}
