// Prints which calls of a queue would keep this process alive.
import {
  createRateLimitingQueue,
  type Held,
  memoryDriver,
  type QueueOptions,
} from '../../src/index.ts'
import { LateDriver } from '../late-driver.ts'

const ways: Record<string, () => Partial<QueueOptions<string>>> = {
  direct: () => ({}),
  lanes: () => ({ leaseMs: 30_000 }),
  late: () => ({ leaseMs: 30_000, driver: new LateDriver(memoryDriver()) }),
}

const [way = '', what] = process.argv.slice(2)

function make(more: Partial<QueueOptions<string>> = {}) {
  return createRateLimitingQueue<string>({ name: 'q', ...ways[way]?.(), ...more })
}

type Doing = (queue: ReturnType<typeof make>, signal: AbortSignal) => Promise<unknown>

/** Keys that were taken, and are given back at the end. */
const taken: (Held<string> | undefined)[] = []

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
  'ready keys': (queue) => queue.addMany(['a', 'b']),
  'delayed keys': (queue) => queue.addAfter('a', 3_600_000),
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
}

if (what === undefined) {
  for (const [name, doing] of Object.entries(doings)) await sayOf(name, doing, {})
  for (const name of ['get', 'drain of a ready key', 'iteration while a key is held']) {
    await sayOf(`${name}, ref: false`, doings[name] as Doing, { ref: false })
  }
} else {
  await doings[what]?.(make(), new AbortController().signal)
}
