// Prints which calls of a queue would keep this process alive.
import {
  createDelayingQueue,
  createRateLimitingQueue,
  createWorker,
  type DelayingQueue,
  type HandlerContext,
  type Held,
  memoryDriver,
  type QueueOptions,
  type Worker,
} from '../../../src/index.ts'
import { LateDriver } from '../late-driver.ts'

const ways: Record<string, () => Partial<QueueOptions<string>>> = {
  direct: () => ({}),
  batched: () => ({ leaseMs: 30_000 }),
  late: () => ({ leaseMs: 30_000, driver: new LateDriver(memoryDriver()) }),
}

const [way = '', what] = process.argv.slice(2)

const options = ways[way]
if (options === undefined) throw new Error(`no such way: ${way}`)

function make(more: Partial<QueueOptions<string>> = {}) {
  return createRateLimitingQueue<string>({ name: 'q', ...options?.(), ...more })
}

/** Delaying queues around queues of another library, to be closed at the end. */
const around: DelayingQueue<string>[] = []

/** Wraps a queue that does not keep the process alive itself, as one of another library. */
function wrap(create: typeof createDelayingQueue, ref?: boolean): DelayingQueue<string> {
  const inner = make({ ref: false })
  const verbs = ['add', 'get', 'done', 'len', 'shutDown', 'shutDownWithDrain'] as const
  const queue = Object.fromEntries(verbs.map((verb) => [verb, inner[verb].bind(inner)]))
  const wrapped = create<string>({ queue: { ...queue, shuttingDown: false } as never, ref })
  around.push(wrapped)
  return wrapped
}

/** A worker whose only slot runs a handler, which ends when its signal is aborted, or never. */
async function busyWorker(queue: ReturnType<typeof make>, endsOnAbort = true): Promise<Worker> {
  await queue.add('a')
  return await new Promise((resolve) => {
    const handler = (_: string, { signal }: HandlerContext) => {
      resolve(worker)
      return new Promise<void>((end) => {
        if (endsOnAbort) signal.addEventListener('abort', () => end())
      })
    }
    const worker = createWorker({ queue, handler, onError: () => undefined })
  })
}

type Doing = (queue: ReturnType<typeof make>, signal: AbortSignal) => Promise<unknown>

/** Keys that were taken, and are given back at the end. */
const taken: (Held<string> | undefined)[] = []

const addDelayed: Doing = (queue) => queue.addAfter('a', 3_600_000)

const doings: Record<string, Doing> = {
  nothing: async () => undefined,
  get: (queue, signal) => queue.get({ signal }),
  getMany: (queue, signal) => queue.getMany(3, { signal }),
  iteration: (queue) => queue[Symbol.asyncIterator]().next(),
  'get of a delayed key': async (queue, signal) => {
    await queue.addAfter('a', 3_600_000)
    return await queue.get({ signal })
  },
  drain: async (queue, signal) => {
    await queue.add('a')
    taken.push(await queue.get())
    return await queue.shutDownWithDrain({ signal })
  },
  'drain of a ready key': async (queue, signal) => {
    await queue.add('a')
    return await queue.shutDownWithDrain({ signal })
  },
  'iteration while a key is held': async (queue) => {
    await queue.add('a')
    taken.push(await queue.get())
    await queue.shutDown()
    return await queue[Symbol.asyncIterator]().next()
  },
  'aborted get': async (queue) => {
    const controller = new AbortController()
    const waiting = queue.get({ signal: controller.signal }).catch(() => undefined)
    controller.abort()
    return await waiting
  },
  'aborted drain': async (queue) => {
    await queue.add('a')
    const controller = new AbortController()
    const waiting = queue.shutDownWithDrain({ signal: controller.signal }).catch(() => undefined)
    controller.abort()
    return await waiting
  },
  'busy worker': async (queue, signal) => {
    const worker = await busyWorker(queue)
    signal.addEventListener('abort', () => void worker.stop({ graceMs: 0 }))
  },
  'ready keys': (queue) => queue.addMany(['a', 'b']),
  'delayed keys': addDelayed,
  'held keys': async (queue) => {
    await queue.add('a')
    taken.push(await queue.get())
  },
  'answered get': async (queue) => {
    const waiting = queue.get()
    await queue.add('a')
    await (await waiting)?.done()
  },
  'shut down': async (queue) => {
    const waiting = queue.get()
    await queue.shutDown()
    await waiting
  },
  closed: async (queue) => {
    const waiting = queue.get()
    await queue.close()
    await waiting
  },
  'around a foreign queue, get of a delayed key': async () => {
    const queue = wrap(createDelayingQueue)
    await queue.addAfter('a', 3_600_000)
    return await queue.get()
  },
  'around a foreign queue, getMany, then a delayed key': async () => {
    const queue = wrap(createRateLimitingQueue)
    const waiting = queue.getMany(2)
    await queue.addAfter('a', 3_600_000)
    return await waiting
  },
  'around a foreign queue, iteration, then a delayed key': async () => {
    const queue = wrap(createRateLimitingQueue)
    const waiting = queue[Symbol.asyncIterator]().next()
    await queue.addAfter('a', 3_600_000)
    return await waiting
  },
  'around a foreign queue, get': () => wrap(createDelayingQueue).get(),
  'around a foreign queue, delayed keys': () => wrap(createDelayingQueue).addAfter('a', 3_600_000),
  'around a foreign queue, get of a cancelled key': async () => {
    const queue = wrap(createDelayingQueue)
    await queue.addAfter('a', 3_600_000)
    const waiting = queue.get()
    await queue.cancel('a')
    return await waiting
  },
  'around a foreign queue, answered get': async () => {
    const queue = wrap(createDelayingQueue)
    await queue.addAfter('a', 3_600_000)
    const waiting = queue.get()
    await queue.add('b')
    await (await waiting)?.done()
  },
  'around a foreign queue, shut down': async () => {
    const queue = wrap(createDelayingQueue)
    await queue.addAfter('a', 3_600_000)
    const waiting = queue.get()
    await queue.shutDown()
    await waiting
  },
  'around a foreign queue, get of a delayed key, ref: false': async () => {
    const queue = wrap(createDelayingQueue, false)
    await queue.addAfter('a', 3_600_000)
    return await queue.get()
  },
}

/** After these nothing keeps the process alive. */
const ends: Record<string, Doing> = {
  'delayed keys': addDelayed,
  'stopped worker': async (queue) => {
    const worker = await busyWorker(queue)
    await worker.stop({ graceMs: 0 })
  },
  'closed under a handler that does not end': async (queue) => {
    await busyWorker(queue, false)
    await queue.close({ graceMs: 0 })
  },
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

/** Whether a timer keeps this process alive. */
function isHeldUp(): boolean {
  return process.getActiveResourcesInfo().includes('Timeout')
}

async function sayOf(name: string, doing: Doing, more: Partial<QueueOptions<string>>) {
  const queue = make(more)
  const controller = new AbortController()
  doing(queue, controller.signal).catch(() => undefined)
  await turns()
  console.log(`${name}: ${isHeldUp() ? 'lives' : 'ends'}`)
  controller.abort()
  for (const held of taken.splice(0)) await held?.done()
  await queue.close()
  for (const each of around.splice(0)) await each.close()
}

if (what === undefined) {
  for (const [name, doing] of Object.entries(doings)) await sayOf(name, doing, {})
  for (const name of [
    'get',
    'drain of a ready key',
    'iteration while a key is held',
    'busy worker',
  ]) {
    await sayOf(`${name}, ref: false`, doings[name] as Doing, { ref: false })
  }
} else {
  await ends[what]?.(make(), new AbortController().signal)
  await turns()
  console.log(isHeldUp() ? 'lives' : 'ends')
  if (isHeldUp()) process.exit(1)
}
