/** What the page on comparisons says was tried: adds of one key, before and during its run. */
import { type JobsOptions, Queue, Worker } from 'bullmq'
import { Logger, makeWorkerUtils, run, type TaskSpec } from 'graphile-worker'
import PQueue from 'p-queue'
import { PgBoss, type SendOptions } from 'pg-boss'
import { createQueue, createWorker } from 'sluice'
import { expect, onTestFinished, test } from 'vitest'
import { serversOfFile } from '../pages/servers.ts'

const servers = serversOfFile()

/** What becomes of adds of one key. */
interface Seen {
  /** The runs of ten adds that no worker has taken yet. */
  readonly waiting: number
  /** How many runs came from an add during a run. */
  readonly whileRunning: number
  /** The greatest number of runs of the key at the same time. */
  readonly atOnce: number
}

/** How long a run may take to begin: only ends what hangs. */
const comesMs = 20_000

/** After how long no further run begins. */
const noneMs = 1_500

/** The runs of one key: they end when the test says so. */
class Runs {
  count = 0
  atOnce = 0
  #open = 0
  #waiting: (() => void)[] = []
  #onStart: (() => void)[] = []

  readonly handler = async (): Promise<void> => {
    this.count += 1
    this.#open += 1
    this.atOnce = Math.max(this.atOnce, this.#open)
    for (const resolve of this.#onStart.splice(0)) resolve()
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#open -= 1
  }

  /** Resolves when so many runs have begun, or to `false` if they have not within a while. */
  begun(count: number, ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.count >= count) resolve(true)
        else this.#onStart.push(look)
      }
      look()
      // real time: other processes decide when a run begins, or that none does.
      setTimeout(() => resolve(false), ms)
    })
  }

  /** Ends runs until there were so many, and no more begin. */
  async toEnd(count: number): Promise<void> {
    do for (const resolve of this.#waiting.splice(0)) resolve()
    while (await this.begun(this.count + 1, this.count < count ? comesMs : noneMs))
  }
}

interface Rival {
  add(): Promise<unknown>
  work(handler: () => Promise<void>): Promise<unknown>
}

/** Ten adds and no worker; then a worker, and two adds of which the second finds a run going on. */
async function tried({ add, work }: Rival, expected: Seen): Promise<Seen> {
  for (let adds = 0; adds < 10; adds += 1) await add()
  const waiting = new Runs()
  let runs = waiting
  await work(() => runs.handler())
  expect(await waiting.begun(1, comesMs)).toBe(true)
  await waiting.toEnd(expected.waiting)
  const again = new Runs()
  runs = again
  await add()
  expect(await again.begun(1, comesMs)).toBe(true)
  await add()
  await again.begun(2, expected.atOnce > 1 ? comesMs : noneMs)
  await again.toEnd(1 + expected.whileRunning)
  return { waiting: waiting.count, whileRunning: again.count - 1, atOnce: again.atOnce }
}

const bull = (name: string, options: JobsOptions): Rival => {
  const connection = { url: servers.redis, maxRetriesPerRequest: null }
  const queue = new Queue(name, { connection })
  onTestFinished(() => queue.close())
  return {
    add: () => queue.add('sync', { id: 42 }, options),
    async work(handler) {
      const worker = new Worker(name, handler, { connection, concurrency: 8 })
      onTestFinished(() => worker.close())
    },
  }
}

const boss = async (name: string, policy: string, options: SendOptions): Promise<Rival> => {
  const one = new PgBoss({ connectionString: servers.postgres, supervise: false, schedule: false })
  one.on('error', () => undefined)
  await one.start()
  onTestFinished(() => one.stop({ graceful: false }))
  await one.createQueue(name, { policy: policy as 'standard' })
  return {
    add: () => one.send(name, { id: 42 }, options),
    work: (handler) =>
      one.work(name, { pollingIntervalSeconds: 0.5, localConcurrency: 8 }, () => handler()),
  }
}

const graphile = async (name: string, spec: TaskSpec): Promise<Rival> => {
  const utils = await makeWorkerUtils({ connectionString: servers.postgres })
  await utils.migrate()
  onTestFinished(async () => {
    await utils.release()
  })
  return {
    add: () => utils.addJob(name, { id: 42 }, spec),
    async work(handler) {
      const runner = await run({
        connectionString: servers.postgres,
        concurrency: 8,
        noHandleSignals: true,
        crontab: '',
        logger: new Logger(() => () => undefined),
        taskList: { [name]: handler },
      })
      onTestFinished(() => runner.stop())
    },
  }
}

const sluice = (): Rival => {
  const queue = createQueue<string>({})
  onTestFinished(() => queue.close())
  return {
    add: () => queue.add('order/42'),
    async work(handler) {
      const worker = createWorker({ queue, concurrency: 8, handler })
      onTestFinished(() => worker.stop())
    },
  }
}

const plain = (): Rival => {
  const queue = new PQueue({ concurrency: 8, autoStart: false })
  let handle: () => Promise<void> = async () => undefined
  return {
    add: async () => void queue.add(() => handle()),
    async work(handler) {
      handle = handler
      queue.start()
    },
  }
}

const rivals: readonly (readonly [string, () => Rival | Promise<Rival>, Seen])[] = [
  ['Sluice', sluice, { waiting: 1, whileRunning: 1, atOnce: 1 }],
  ['BullMQ', () => bull('plain', {}), { waiting: 10, whileRunning: 1, atOnce: 2 }],
  [
    'BullMQ, deduplication',
    () => bull('simple', { deduplication: { id: '42' } }),
    { waiting: 1, whileRunning: 0, atOnce: 1 },
  ],
  [
    'BullMQ, keepLastIfActive',
    () => bull('last', { deduplication: { id: '42', keepLastIfActive: true } }),
    { waiting: 1, whileRunning: 1, atOnce: 1 },
  ],
  ['pg-boss', () => boss('plain', 'standard', {}), { waiting: 10, whileRunning: 1, atOnce: 2 }],
  [
    'pg-boss, stately',
    () => boss('stately', 'stately', { singletonKey: '42' }),
    { waiting: 1, whileRunning: 1, atOnce: 1 },
  ],
  [
    'pg-boss, exclusive',
    () => boss('exclusive', 'exclusive', { singletonKey: '42' }),
    { waiting: 1, whileRunning: 0, atOnce: 1 },
  ],
  ['graphile-worker', () => graphile('plain', {}), { waiting: 10, whileRunning: 1, atOnce: 2 }],
  [
    'graphile-worker, jobKey',
    () => graphile('keyed', { jobKey: '42' }),
    { waiting: 1, whileRunning: 1, atOnce: 2 },
  ],
  [
    'graphile-worker, jobKey and queueName',
    () => graphile('serial', { jobKey: '43', queueName: 'order/42' }),
    { waiting: 1, whileRunning: 1, atOnce: 1 },
  ],
  ['p-queue', plain, { waiting: 10, whileRunning: 1, atOnce: 2 }],
]

test.for(rivals)('%s', async ([, open, seen]) => {
  expect(await tried(await open(), seen)).toEqual(seen)
})
