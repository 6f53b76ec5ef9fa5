import type { Driver, WorkerInfo } from '@sluice/core'
import { type FakeClock, fakeClock } from '@sluice/core/testing'
import {
  createRateLimitingQueue,
  createWorker,
  type Explanation,
  exponential,
  type Inspect,
  inspectStore,
  type Limiter,
  maxOf,
  type RateLimitingQueue,
  tokenBucket,
} from 'sluice'
import { describe, expect, onTestFinished, test } from 'vitest'
import { postgresKind } from '../../support/stores/postgres-kind.ts'
import { storeKinds } from '../../support/stores/store-kind.ts'

const kinds = [...storeKinds, postgresKind()]

const limiter: Limiter<string> = maxOf(
  exponential({ baseMs: 5, maxMs: 1_000_000 }),
  tokenBucket({ name: 'shared', perSecond: 0.1, burst: 3 }),
)

const leaseMs = 30_000

/** One key on one store, and an observer outside. */
interface Scene {
  readonly clock: FakeClock
  readonly driver: Driver
  readonly queue: RateLimitingQueue<string>
  readonly inspect: Inspect
  /** A worker of which the store was told. */
  register(more?: Partial<WorkerInfo>): Promise<void>
}

async function setUp(kind: { make(): Driver }): Promise<Scene> {
  const clock = fakeClock(1_000_000_000)
  const driver = kind.make()
  const store = inspectStore(driver, { clock, limiter })
  const queue = createRateLimitingQueue<string>({ name: 'q', driver, clock, limiter, leaseMs })
  onTestFinished(async () => {
    const closing = queue.close()
    await clock.step(1_000)
    await closing
    await store.close()
  })
  const register = async (more: Partial<WorkerInfo> = {}): Promise<void> => {
    const info = { holder: 'w', host: 'h', pid: 1, concurrency: 1, settings: {}, ...more }
    const request = { holder: info.holder, limit: 1, failuresExpireMs: Infinity, worker: info }
    await driver.tick('q', request)
  }
  await store.queue('q').counts()
  return { clock, driver, queue, inspect: store.queue('q'), register }
}

async function take(queue: RateLimitingQueue<string>) {
  const held = await queue.get()
  if (held === undefined) throw new Error('nothing was there')
  return held
}

/** What a row of the table looks at. */
type Told = { readonly [Member in keyof Explanation]?: Explanation[Member] | undefined } & {
  readonly until?: number
  readonly evidence?: RegExp
}

/** A way to bring a key into a state, and what is said about it then. */
interface Row {
  readonly title: string
  bring(scene: Scene): Promise<unknown>
  told(scene: Scene): Told
}

const rows: readonly Row[] = [
  {
    title: 'absent',
    bring: async () => undefined,
    told: () => ({ state: 'absent', blockedBy: 'NOT_FOUND' }),
  },
  {
    title: 'ready, and nobody is there',
    bring: ({ queue }) => queue.add('k'),
    told: () => ({ state: 'ready', blockedBy: 'NO_WORKERS', evidence: /no worker is online/ }),
  },
  {
    title: 'ready, and the only worker has stopped',
    async bring({ queue, register }) {
      await queue.add('k')
      await register({ concurrency: 0 })
    },
    told: () => ({ state: 'ready', blockedBy: 'NO_WORKERS' }),
  },
  {
    title: 'ready, and as many keys are ahead of it as workers are free',
    async bring({ queue, register }) {
      await queue.addMany(['other', 'k'])
      await register()
    },
    told: () => ({ state: 'ready', blockedBy: undefined, estimate: undefined }),
  },
  {
    title: 'ready, and the only worker has vanished',
    async bring({ queue, register, clock }) {
      await queue.add('k')
      await register()
      await clock.step(50_000)
    },
    told: () => ({ state: 'ready', blockedBy: 'NO_WORKERS', estimate: undefined }),
  },
  {
    title: 'ready, and a worker is free',
    async bring({ queue, register, clock }) {
      await queue.add('k')
      await register()
      await clock.step(2_000)
    },
    told: ({ clock }) => ({
      state: 'ready',
      blockedBy: undefined,
      estimate: { startAt: clock.now(), confidence: 'high' },
    }),
  },
  {
    title: 'ready, and all workers are busy',
    async bring({ queue, register }) {
      await queue.add('other')
      await take(queue)
      await queue.add('k')
      await register()
    },
    told: () => ({ state: 'ready', blockedBy: 'WORKERS_BUSY', evidence: /1 key held/ }),
  },
  {
    title: 'paused',
    async bring({ queue, inspect, register }) {
      await queue.add('k')
      await register()
      await inspect.pause()
    },
    told: () => ({ state: 'ready', blockedBy: 'QUEUE_PAUSED', estimate: undefined }),
  },
  {
    title: 'delayed',
    async bring({ queue, register }) {
      await queue.addAfter('k', 5_000)
      await register()
    },
    told: ({ clock }) => ({
      state: 'delayed',
      blockedBy: 'DELAYED',
      until: clock.now() + 5_000,
      next: { at: clock.now() + 5_000, to: 'ready' },
      estimate: { startAt: clock.now() + 5_000, confidence: 'medium' },
    }),
  },
  {
    title: 'in back-off for its own failures',
    async bring({ queue, clock }) {
      await queue.addRateLimited('k')
      await queue.addRateLimited('k')
      await queue.inspect.runNow('k')
      const held = await take(queue)
      await clock.step(100)
      await held.retry(new Error('no'))
    },
    told: ({ clock }) => ({
      state: 'backoff',
      blockedBy: 'BACKOFF_ITEM',
      until: clock.now() + 20,
      retry: { failures: 3, perKeyMs: 20, words: '5 ms x 2^2 = 20 ms' },
    }),
  },
  {
    title: 'in back-off for a bucket',
    async bring({ queue }) {
      for (const key of ['a', 'b', 'c', 'd', 'k']) await queue.addRateLimited(key)
    },
    told: ({ clock }) => ({
      state: 'backoff',
      blockedBy: 'BACKOFF_BUCKET',
      until: clock.now() + 20_000,
      retry: {
        failures: 1,
        perKeyMs: 5,
        bucketMs: 20_000,
        words: '5 ms x 2^0 = 5 ms; the bucket "shared" asked for 20 s, which is more',
      },
    }),
  },
  {
    title: 'processing',
    async bring({ queue }) {
      await queue.addRateLimited('k')
      await queue.inspect.runNow('k')
      await take(queue)
    },
    told: ({ clock }) => ({
      state: 'processing',
      blockedBy: 'PROCESSING',
      until: clock.now() + leaseMs,
      next: { at: clock.now() + leaseMs, to: 'backoff' },
      retry: { failures: 1, perKeyMs: 10, words: 'if this run fails: 5 ms x 2^1 = 10 ms' },
    }),
  },
  {
    title: 'dirty',
    async bring({ queue }) {
      await queue.add('k')
      await take(queue)
      await queue.add('k')
    },
    told: ({ clock }) => ({
      state: 'dirty',
      blockedBy: 'PROCESSING',
      next: { at: clock.now() + leaseMs, to: 'ready' },
    }),
  },
  {
    title: 'parked while it is held',
    async bring({ queue }) {
      await queue.add('k')
      await take(queue)
      await queue.inspect.park('k')
    },
    told: ({ clock }) => ({
      state: 'processing',
      blockedBy: 'PARKED',
      next: { at: clock.now() + leaseMs, to: 'parked' },
    }),
  },
  {
    title: 'held under a lease that is over',
    async bring({ queue, driver, clock }) {
      await queue.add('k')
      await driver.claim('q', { limit: 1, holder: 'gone', claimId: 'c', leaseMs: 1_000 })
      await clock.step(1_500)
    },
    told: () => ({
      state: 'processing',
      blockedBy: 'LEASE_EXPIRED_AWAITING_REAP',
      evidence: /^the lease of gone under token \d+ has expired/,
      // It takes a worker to end the lease.
      conditions: expect.arrayContaining([
        expect.objectContaining({ code: 'NO_WORKERS', ok: false }),
      ]),
    }),
  },
  {
    title: 'in back-off after its holder vanished',
    async bring({ queue, driver, clock }) {
      await queue.add('k')
      const request = { limit: 1, holder: 'gone', claimId: 'c', leaseMs: 1_000 }
      const { claims } = await driver.claim('q', request)
      await clock.step(1_002)
      await driver.expire('q', claims, { dedupe: 'client-go', plan: limiter.plan, maxCrashes: 5 })
    },
    told: ({ clock }) => ({
      state: 'backoff',
      blockedBy: 'BACKOFF_ITEM',
      until: clock.now() + 3,
      retry: { failures: 1, perKeyMs: 5, words: '5 ms x 2^0 = 5 ms' },
    }),
  },
  {
    title: 'parked',
    async bring({ queue, inspect }) {
      await queue.add('k')
      await inspect.park('k')
    },
    told: () => ({ state: 'parked', blockedBy: 'PARKED', evidence: /it is parked, after 0 fail/ }),
  },
  {
    title: 'idle',
    async bring({ queue }) {
      await queue.addRateLimited('k')
      await queue.inspect.runNow('k')
      await (await take(queue)).done()
    },
    told: () => ({
      state: 'idle',
      blockedBy: 'NOTHING_PENDING',
      next: undefined,
      retry: undefined,
    }),
  },
]

describe.each(kinds)('why a key does not run, on $name', (kind) => {
  test.each(rows)('$title', async ({ bring, told }) => {
    const scene = await setUp(kind)
    await bring(scene)
    const explained = await scene.inspect.explain('k')
    const { until, evidence, ...expected } = told(scene)
    expect({ ...nothing(expected), ...explained }).toMatchObject(expected)
    expect(explained.inspectedAt).toBe(scene.clock.now())
    const blocking = explained.conditions.find(({ code }) => code === explained.blockedBy)
    if (expected.blockedBy !== undefined) expect(blocking?.ok).toBe(false)
    if (until !== undefined) expect(blocking?.until).toBe(until)
    if (evidence !== undefined) expect(blocking?.evidence).toMatch(evidence)
  })

  test('what workers have counted tells when it may be, and how far that is to be trusted', async () => {
    const { inspect, queue, register, clock } = await setUp(kind)
    await queue.addMany(Array.from({ length: 12 }, (_, at) => `k${at}`))
    await take(queue)
    await take(queue)
    const work = new Array<number>(24).fill(0)
    const stats = { busy: 2, runs: 0, failed: 0, asked: 0, merged: 0, wait: work, work }
    await register({ concurrency: 2, stats })
    expect((await inspect.explain('k11')).estimate).toBeUndefined()
    // 300 runs of more than 512 ms and up to 1,024 ms.
    work[12] = 300
    await register({ concurrency: 2, stats: { ...stats, runs: 300 } })
    expect((await inspect.explain('k11')).estimate).toEqual({
      startAt: clock.now() + (10 * 768) / 2,
      confidence: 'medium',
    })
    await queue.addAfter('later', 1_000)
    await queue.addAfter('much later', 60_000)
    expect((await inspect.explain('later')).estimate).toEqual({
      startAt: clock.now() + (11 * 768) / 2,
      confidence: 'low',
    })
    expect((await inspect.explain('much later')).estimate).toEqual({
      startAt: clock.now() + 60_000,
      confidence: 'low',
    })
  })

  test('a process without the limiter explains by that of the workers', async () => {
    const { queue, driver } = await setUp(kind)
    const worker = createWorker({ queue, handler: () => undefined })
    await expect
      .poll(async () => (await queue.inspect.workers()).map(({ settings }) => settings['limiter']))
      .toEqual([expect.stringContaining('"shared"')])
    await queue.inspect.pause()
    for (const key of ['a', 'b', 'c', 'd', 'k']) await queue.addRateLimited(key)
    await using other = inspectStore(driver)
    const { blockedBy, retry } = await other.queue('q').explain('k')
    expect(retry).toMatchObject({ failures: 1, perKeyMs: 5, bucketMs: 20_000 })
    expect(blockedBy).toBe('QUEUE_PAUSED')
    const codes = (await other.queue('q').explain('k')).conditions.map(({ code }) => code)
    expect(codes).toContain('BACKOFF_BUCKET')
    await worker.stop()
  })
})

/** The same members, all undefined: what is expected to be absent must be. */
function nothing(expected: object): object {
  return Object.fromEntries(Object.keys(expected).map((name) => [name, undefined]))
}
