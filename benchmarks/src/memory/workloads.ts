import {
  createDelayingQueue,
  createQueue,
  createRateLimitingQueue,
  exponential,
  type Limiter,
  maxOf,
  type Queue,
  tokenBucket,
} from '../../../packages/queue/src/index.ts'
import { DelayingSetsQueue } from './delaying-sets-queue.ts'
import { clockAndAwait, clockAndFourAwaits, handOver, oneAwait, threeAwaits } from './floors.ts'
import { SetsQueue } from './sets-queue.ts'

/** The keys to work on, and what to call where the most is in memory. */
export interface Task {
  readonly keys: readonly string[]
  /** How many adds; more than there are keys where keys are added again. */
  readonly count: number
  readonly peak: () => void
}

// The loops count, since a loop over the iterator of an array takes 50 ns more for a key, queue or not.

/** One way of doing the work of a workload. */
export type Contestant = (task: Task) => Promise<void>

export interface Workload {
  readonly title: string
  /** Ours, by form. The Go queue does the same, by the name of the workload. */
  readonly ours: Readonly<Record<string, Contestant>>
  /** Loops that do what no queue can avoid, and the rules of the Go queue in plain JavaScript. */
  readonly floor?: Readonly<Record<string, Contestant>>
  /** The ratio to Go that is the goal, by form. */
  readonly goals: Readonly<Record<string, number>>
  /** The form whose keys are ropes; the keys of the others are flat. */
  readonly ropes?: string
  /** How many adds there are for each key. */
  readonly times?: number
}

const batch = 1_000
const hotKeys = 1_000
const workers = 4
const ropes = 'awaited, ropes'
const twoSets = 'two sets and a list'

async function end(queue: Queue<string>): Promise<void> {
  await queue.close()
}

const fillThenDrain: Contestant = async ({ keys, peak }) => {
  const queue = createQueue<string>({})
  for (let at = 0; at < keys.length; at += 1) await queue.add(keys[at]!)
  peak()
  for (let left = keys.length; left > 0; left -= 1) {
    const held = await queue.get()
    await held!.done()
  }
  await end(queue)
}

const fillDrain: Workload = {
  title: 'fill, then drain',
  goals: { awaited: 1.5, [ropes]: 1.5, batched: 2 },
  ropes,
  ours: {
    awaited: fillThenDrain,
    [ropes]: fillThenDrain,
    async batched({ keys, peak }) {
      const queue = createQueue<string>({})
      for (let at = 0; at < keys.length; at += batch) {
        await queue.addMany(keys.slice(at, at + batch))
      }
      peak()
      for (let left = keys.length; left > 0; ) {
        const helds = await queue.getMany(batch)
        await queue.doneMany(helds)
        left -= helds.length
      }
      await end(queue)
    },
  },
  floor: {
    'floor: three awaits': threeAwaits,
    async [twoSets]({ keys }) {
      const queue = new SetsQueue()
      for (let at = 0; at < keys.length; at += 1) await queue.add(keys[at]!)
      for (let left = keys.length; left > 0; left -= 1) await queue.done(await queue.get())
    },
  },
}

const addGetDone: Contestant = async ({ keys, peak }) => {
  const queue = createQueue<string>({})
  for (let at = 0; at < keys.length; at += 1) {
    await queue.add(keys[at]!)
    const held = await queue.get()
    await held!.done()
  }
  peak()
  await end(queue)
}

const steady: Workload = {
  title: 'steady add, get, done',
  goals: { awaited: 0.9, [ropes]: 0.9 },
  ropes,
  ours: {
    awaited: addGetDone,
    [ropes]: addGetDone,
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
  floor: {
    'floor: three awaits': threeAwaits,
    async [twoSets]({ keys }) {
      const queue = new SetsQueue()
      for (let at = 0; at < keys.length; at += 1) {
        await queue.add(keys[at]!)
        await queue.done(await queue.get())
      }
    },
  },
}

const hot: Workload = {
  title: 'the same 1,000 keys again and again',
  goals: { awaited: 0.35, batched: 1.2 },
  times: 10,
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
  floor: {
    'floor: one await': oneAwait,
    async [twoSets]({ count, keys }) {
      const queue = new SetsQueue()
      for (let at = 0; at < count; at += 1) await queue.add(keys[at % hotKeys]!)
    },
  },
}

const producerAndWorkers: Workload = {
  title: 'one producer, four workers',
  goals: { awaited: 1.5 },
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
      for (let at = 0; at < keys.length; at += 1) await queue.add(keys[at]!)
      await Promise.all(working)
      peak()
      await end(queue)
    },
  },
  floor: {
    'floor: handing over': handOver,
    async [twoSets]({ keys }) {
      const queue = new SetsQueue()
      let left = keys.length
      const work = async (): Promise<void> => {
        while (left > 0) {
          left -= 1
          await queue.done(await queue.get())
        }
      }
      const working = Array.from({ length: workers }, work)
      for (let at = 0; at < keys.length; at += 1) await queue.add(keys[at]!)
      await Promise.all(working)
    },
  },
}

function requeue(limiter: () => Limiter<string>): Contestant {
  return async ({ keys, peak }) => {
    const queue = createRateLimitingQueue<string>({ limiter: limiter() })
    const produce = async (): Promise<void> => {
      for (let at = 0; at < keys.length; at += 1) await queue.addRateLimited(keys[at]!)
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
  }
}

// A delay of a microsecond: everything goes through the back-off, and nothing waits for it.
const baseMs = 0.001
const maxMs = 1_000_000
const backOff = (): Limiter<string> => exponential({ baseMs, maxMs })

const rateLimited: Workload = {
  title: 'addRateLimited, get, forget, done',
  goals: { awaited: 1.2 },
  ours: { awaited: requeue(backOff) },
  floor: {
    'floor: a clock and four awaits': clockAndFourAwaits,
    async [twoSets]({ keys }) {
      const queue = new DelayingSetsQueue(baseMs, maxMs)
      const produce = async (): Promise<void> => {
        for (let at = 0; at < keys.length; at += 1) await queue.addRateLimited(keys[at]!)
      }
      const consume = async (): Promise<void> => {
        for (let left = keys.length; left > 0; left -= 1) {
          const held = await queue.get()
          await queue.forget(held.key)
          await queue.done(held)
        }
      }
      await Promise.all([produce(), consume()])
      queue.close()
    },
  },
}

// The shape of the default limiter of controllers, with a bucket that does not run out.
const rateLimitedBucket: Workload = {
  title: 'the same with a token bucket',
  goals: {},
  ours: {
    awaited: requeue(() => maxOf(backOff(), tokenBucket({ perSecond: 1e9, burst: 1e9 }))),
  },
}

const delayed: Workload = {
  title: 'addAfter an hour',
  goals: { awaited: 2.5 },
  ours: {
    async awaited({ keys, peak }) {
      const queue = createDelayingQueue<string>({})
      for (let at = 0; at < keys.length; at += 1) await queue.addAfter(keys[at]!, 3_600_000)
      peak()
      await end(queue)
    },
  },
  floor: {
    'floor: a clock and an await': clockAndAwait,
    async [twoSets]({ keys }) {
      const queue = new DelayingSetsQueue(baseMs, maxMs)
      for (let at = 0; at < keys.length; at += 1) await queue.addAfter(keys[at]!, 3_600_000)
      queue.close()
    },
  },
}

/** Everything that is measured in memory, by the name in `SLUICE_BENCH_ONLY` and in Go. */
export const workloads: Readonly<Record<string, Workload>> = {
  'fill-drain': fillDrain,
  steady,
  hot,
  'producer-workers': producerAndWorkers,
  'rate-limited': rateLimited,
  'rate-limited-bucket': rateLimitedBucket,
  delayed,
}
