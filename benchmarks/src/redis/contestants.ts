import { createRequire } from 'node:module'
import type { Queue as BullQueue, Worker as BullWorker } from 'bullmq'
import { createQueue, createWorker, type Queue } from '../../../packages/queue/src/index.ts'
import { type RedisOptions, redisDriver } from '../../../packages/redis/src/index.ts'

const { Queue: BullMQ, Worker } = createRequire(import.meta.url)('bullmq') as {
  Queue: typeof BullQueue
  Worker: typeof BullWorker
}

/** A queue that is measured. */
export interface Contestant {
  readonly name: string
  /** Adds keys, all at the same time, by one call for each. */
  addEach(keys: readonly string[]): Promise<unknown>
  /** The same for keys that may be pending already, of which the newest item has to win. */
  addAgain(keys: readonly string[]): Promise<unknown>
  /** Adds keys by one call. */
  addBatch(keys: readonly string[]): Promise<unknown>
  /** Runs a handler that does nothing for so many keys, and resolves when all are finished. */
  work(count: number, concurrency: number): Promise<void>
  close(): Promise<unknown>
}

/** What both are told about the server. */
export interface Target {
  readonly url: string
  /** How many replicas have to confirm a write; only Sluice can be told. */
  readonly replicas?: number
}

/** `done` resolves when `one` has been called so often. */
function countdown(count: number): { one(): void; readonly done: Promise<void> } {
  let left = count
  let resolve = (): void => {}
  const done = new Promise<void>((yes) => {
    resolve = yes
  })
  const one = (): void => {
    left -= 1
    if (left === 0) resolve()
  }
  return { one, done }
}

/** Sluice, with its default settings. */
export async function sluice({ url, replicas = 0 }: Target): Promise<Contestant> {
  const options: RedisOptions =
    replicas === 0 ? { url } : { url, durability: { replicas, disk: false } }
  const queue: Queue<string> = createQueue<string>({ name: 'q', driver: redisDriver(options) })
  await queue.len()
  const addEach = (keys: readonly string[]): Promise<unknown> =>
    Promise.all(keys.map((key) => queue.add(key)))
  return {
    name: replicas === 0 ? 'Sluice' : `Sluice, ${replicas} replica confirms`,
    addEach,
    addAgain: addEach,
    addBatch: (keys) => queue.addMany(keys),
    async work(count, concurrency) {
      const { one, done } = countdown(count)
      const worker = createWorker({ queue, concurrency, handler: async () => one() })
      await done
      // When it has stopped, everything has been finished in the store.
      await worker.stop()
    },
    close: () => queue.close(),
  }
}

/** BullMQ, with jobs that are removed when they are done, as keys are. */
export async function bullmq({ url }: Target): Promise<Contestant> {
  const { hostname: host, port } = new URL(url)
  const connection = { host, port: Number(port), maxRetriesPerRequest: null }
  const queue = new BullMQ('q', {
    connection,
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
  })
  await queue.waitUntilReady()
  return {
    name: 'BullMQ',
    addEach: (keys) => Promise.all(keys.map((key) => queue.add('job', { key }))),
    addAgain: (keys) =>
      Promise.all(
        keys.map((key) =>
          queue.add('job', { key }, { deduplication: { id: key, keepLastIfActive: true } }),
        ),
      ),
    addBatch: (keys) => queue.addBulk(keys.map((key) => ({ name: 'job', data: { key } }))),
    async work(count, concurrency) {
      const { one, done } = countdown(count)
      const worker = new Worker('q', async () => undefined, { connection, concurrency })
      worker.on('completed', one)
      await done
      await worker.close()
    },
    close: () => queue.close(),
  }
}
