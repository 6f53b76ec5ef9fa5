import { createRateLimitingQueue, defaultItemLimiter } from '../../../packages/queue/dist/index.js'
import { BareLoop } from './bare-loop.ts'

/** A workload over `count` keys; resolves when it is done. */
export type Workload = (keys: readonly string[]) => Promise<void>

const batch = 1_000
const hotKeys = 1_000
const workers = 4

function makeQueue() {
  // The bucket of the default limiter would make the failing keys wait: here only the cost counts.
  return createRateLimitingQueue<string>({ limiter: defaultItemLimiter() })
}

/** Every workload on the queue, awaited call by call unless its name says `batched`. */
export const workloads: Readonly<Record<string, Workload>> = {
  async 'fill then drain'(keys) {
    const queue = makeQueue()
    for (const key of keys) await queue.add(key)
    for (let left = keys.length; left > 0; left -= 1) await (await queue.get())!.done()
    await queue.close()
  },

  async 'fill then drain, batched'(keys) {
    const queue = makeQueue()
    for (let at = 0; at < keys.length; at += batch) await queue.addMany(keys.slice(at, at + batch))
    for (let left = keys.length; left > 0; ) {
      const helds = await queue.getMany(batch)
      left -= helds.length
      await queue.doneMany(helds)
    }
    await queue.close()
  },

  async steady(keys) {
    const queue = makeQueue()
    for (const key of keys) {
      await queue.add(key)
      await (await queue.get())!.done()
    }
    await queue.close()
  },

  async 'hot keys'(keys) {
    const queue = makeQueue()
    for (let at = 0; at < keys.length; at += 1) await queue.add(keys[at % hotKeys]!)
    await queue.close()
  },

  async 'hot keys, batched'(keys) {
    const queue = makeQueue()
    const hot = keys.slice(0, hotKeys)
    for (let at = 0; at < keys.length; at += hotKeys) await queue.addMany(hot)
    await queue.close()
  },

  async 'producer and four workers'(keys) {
    const queue = makeQueue()
    let left = keys.length
    const work = async () => {
      for (;;) {
        const held = await queue.get()
        if (held === undefined) return
        await held.done()
        left -= 1
        if (left === 0) await queue.shutDown()
      }
    }
    const working = Array.from({ length: workers }, work)
    for (const key of keys) await queue.add(key)
    await Promise.all(working)
    await queue.close()
  },

  async 'rate-limited requeue'(keys) {
    const queue = makeQueue()
    const drain = async () => {
      for (let left = keys.length; left > 0; left -= 1) {
        const held = await queue.get()
        await queue.forget(held!.item)
        await held!.done()
      }
    }
    const draining = drain()
    for (const key of keys) await queue.addRateLimited(key)
    await draining
    await queue.close()
  },

  async 'delayed inserts'(keys) {
    const queue = makeQueue()
    for (const key of keys) await queue.addAfter(key, 3_600_000)
    await queue.close()
  },
}

/** The yardstick: the two workloads whose bare loops were measured beside client-go. */
export const bareLoops: Readonly<Record<string, Workload>> = {
  async 'fill then drain'(keys) {
    const loop = new BareLoop()
    for (const key of keys) await loop.add(key)
    for (let left = keys.length; left > 0; left -= 1) await loop.done(await loop.get())
  },

  async steady(keys) {
    const loop = new BareLoop()
    for (const key of keys) {
      await loop.add(key)
      await loop.done(await loop.get())
    }
  },

  async 'fill then drain, synchronous'(keys) {
    const loop = new BareLoop()
    for (const key of keys) loop.addNow(key)
    for (let left = keys.length; left > 0; left -= 1) loop.doneNow(loop.getNow())
  },

  async 'steady, synchronous'(keys) {
    const loop = new BareLoop()
    for (const key of keys) {
      loop.addNow(key)
      loop.doneNow(loop.getNow())
    }
  },
}
