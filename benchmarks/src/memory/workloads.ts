import {
  createDelayingQueue,
  createQueue,
  createRateLimitingQueue,
  exponential,
  type Queue,
} from '../../../packages/queue/src/index.ts'
import { BareLoop } from './bare-loop.ts'
import { clientGoThen, type Range, type Yardstick } from './client-go.ts'

/** The keys to work on, and what to call where the most is in memory. */
export interface Task {
  readonly keys: readonly string[]
  /** How many adds; more than there are keys where keys are added again. */
  readonly count: number
  readonly peak: () => void
}

/** One way of doing the work of a workload. */
export type Contestant = (task: Task) => Promise<void>

export interface Workload {
  readonly title: string
  /** Ours, by form. */
  readonly ours: Readonly<Record<string, Contestant>>
  /** The same done by the bare loop, where it can. */
  readonly bare: Contestant | undefined
  /** By which loop this machine is compared with the one of the recorded figures. */
  readonly yardstick: Yardstick
  readonly clientGo: Range
  /** The ratio to client-go that is the goal, by form. */
  readonly goals: Readonly<Record<string, number>>
  /** How many adds there are for each key. */
  readonly times?: number
}

const batch = 1_000
const hotKeys = 1_000
const workers = 4

async function end(queue: Queue<string>): Promise<void> {
  await queue.close()
}

export const bareFillDrain: Contestant = async ({ keys, peak }) => {
  const loop = new BareLoop()
  for (const key of keys) await loop.add(key)
  peak()
  for (let left = keys.length; left > 0; left -= 1) await loop.done(await loop.get())
}

export const bareSteady: Contestant = async ({ keys, peak }) => {
  const loop = new BareLoop()
  for (const key of keys) {
    await loop.add(key)
    await loop.done(await loop.get())
  }
  peak()
}

/** The bare loops without promises: what the awaiting alone costs. */
export const bareSynchronous: Readonly<Record<Yardstick, Contestant>> = {
  'fill then drain': async ({ keys, peak }) => {
    const loop = new BareLoop()
    for (const key of keys) loop.addNow(key)
    peak()
    for (let left = keys.length; left > 0; left -= 1) loop.doneNow(loop.getNow()!)
  },
  steady: async ({ keys, peak }) => {
    const loop = new BareLoop()
    for (const key of keys) {
      loop.addNow(key)
      loop.doneNow(loop.getNow()!)
    }
    peak()
  },
}

const fillDrain: Workload = {
  title: 'fill, then drain',
  yardstick: 'fill then drain',
  clientGo: clientGoThen.fillDrain,
  goals: { awaited: 1.5, batched: 2 },
  bare: bareFillDrain,
  ours: {
    async awaited({ keys, peak }) {
      const queue = createQueue<string>({})
      for (const key of keys) await queue.add(key)
      peak()
      for (let left = keys.length; left > 0; left -= 1) {
        const held = await queue.get()
        await held!.done()
      }
      await end(queue)
    },
    async batched({ keys, peak }) {
      const queue = createQueue<string>({})
      for (let at = 0; at < keys.length; at += batch)
        await queue.addMany(keys.slice(at, at + batch))
      peak()
      for (let left = keys.length; left > 0; ) {
        const helds = await queue.getMany(batch)
        await queue.doneMany(helds)
        left -= helds.length
      }
      await end(queue)
    },
  },
}

const steady: Workload = {
  title: 'steady add, get, done',
  yardstick: 'steady',
  clientGo: clientGoThen.steady,
  goals: { awaited: 0.9 },
  bare: bareSteady,
  ours: {
    async awaited({ keys, peak }) {
      const queue = createQueue<string>({})
      for (const key of keys) {
        await queue.add(key)
        const held = await queue.get()
        await held!.done()
      }
      peak()
      await end(queue)
    },
    async batched({ keys, peak }) {
      const queue = createQueue<string>({})
      for (let at = 0; at < keys.length; at += batch) {
        await queue.addMany(keys.slice(at, at + batch))
        await queue.doneMany(await queue.getMany(batch))
      }
      peak()
      await end(queue)
    },
  },
}

const hot: Workload = {
  title: 'the same 1,000 keys again and again',
  yardstick: 'steady',
  clientGo: clientGoThen.hot,
  goals: { awaited: 0.35, batched: 1.2 },
  times: 10,
  async bare({ count, keys, peak }) {
    const loop = new BareLoop()
    for (let at = 0; at < count; at += 1) await loop.add(keys[at % hotKeys]!)
    peak()
  },
  ours: {
    async awaited({ count, keys, peak }) {
      const queue = createQueue<string>({})
      for (let at = 0; at < count; at += 1) await queue.add(keys[at % hotKeys]!)
      peak()
      await end(queue)
    },
    async batched({ count, keys, peak }) {
      const queue = createQueue<string>({})
      const same = keys.slice(0, hotKeys)
      for (let at = 0; at < count; at += hotKeys) await queue.addMany(same)
      peak()
      await end(queue)
    },
  },
}

const producerAndWorkers: Workload = {
  title: 'one producer, four workers',
  yardstick: 'steady',
  clientGo: clientGoThen.producerAndWorkers,
  goals: { awaited: 1.5 },
  async bare({ keys, peak }) {
    const loop = new BareLoop()
    let left = keys.length
    const work = async (): Promise<void> => {
      while (left > 0) {
        left -= 1
        await loop.done(await loop.get())
      }
    }
    const working = Array.from({ length: workers }, work)
    for (const key of keys) await loop.add(key)
    await Promise.all(working)
    peak()
  },
  ours: {
    async awaited({ keys, peak }) {
      const queue = createQueue<string>({})
      let left = keys.length
      const work = async (): Promise<void> => {
        while (left > 0) {
          left -= 1
          const held = await queue.get()
          await held!.done()
        }
      }
      const working = Array.from({ length: workers }, work)
      for (const key of keys) await queue.add(key)
      await Promise.all(working)
      peak()
      await end(queue)
    },
  },
}

const rateLimited: Workload = {
  title: 'addRateLimited, get, forget, done',
  yardstick: 'fill then drain',
  clientGo: clientGoThen.rateLimited,
  goals: { awaited: 1.2 },
  bare: undefined,
  ours: {
    async awaited({ keys, peak }) {
      // A delay of a microsecond: everything goes through the back-off, and nothing waits for it.
      const limiter = exponential({ baseMs: 0.001, maxMs: 1_000 })
      const queue = createRateLimitingQueue<string>({ limiter })
      const produce = async (): Promise<void> => {
        for (const key of keys) await queue.addRateLimited(key)
        peak()
      }
      const consume = async (): Promise<void> => {
        for (let left = keys.length; left > 0; left -= 1) {
          const held = await queue.get()
          await queue.forget(held!.item)
          await held!.done()
        }
      }
      await Promise.all([produce(), consume()])
      await end(queue)
    },
  },
}

const delayed: Workload = {
  title: 'addAfter an hour',
  yardstick: 'fill then drain',
  clientGo: clientGoThen.delayed,
  goals: { awaited: 2.5 },
  bare: undefined,
  ours: {
    async awaited({ keys, peak }) {
      const queue = createDelayingQueue<string>({})
      for (const key of keys) await queue.addAfter(key, 3_600_000)
      peak()
      await end(queue)
    },
  },
}

/** Everything that is measured in memory, by the name in `SLUICE_BENCH_ONLY`. */
export const workloads: Readonly<Record<string, Workload>> = {
  'fill-drain': fillDrain,
  steady,
  hot,
  'producer-workers': producerAndWorkers,
  'rate-limited': rateLimited,
  delayed,
}
