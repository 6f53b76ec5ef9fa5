import { type ErrorCode, SluiceError } from '@sluice/core'
import { memoryDriver } from '@sluice/memory'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createRateLimitingQueue,
  createWorker,
  type Held,
  type RateLimitingQueue,
  type Worker,
} from '../../src/index.ts'
import { type Call, LateDriver, nextTurn } from '../support/late-driver.ts'
import { fakeRealTime, type RealTime } from '../support/real-time.ts'
import { seen } from '../support/setups.ts'

const minute = 60_000

function failure(code: ErrorCode): SluiceError {
  return new SluiceError(code, 'trouble', { retryable: code !== 'ERR_UNKNOWN_OUTCOME' })
}

const writes = new Set(['add', 'claim', 'finish', 'renew', 'expire', 'open'])

function isWrite({ verb, request }: Call): boolean {
  const brings = verb === 'tick' && (request as { worker?: unknown }).worker !== undefined
  return writes.has(verb) || brings
}

/** A store on which real time is under control, and queues and workers on it. */
class Site {
  readonly time: RealTime = fakeRealTime({ withDate: true })
  readonly driver = new LateDriver(memoryDriver())
  readonly told: unknown[] = []
  readonly started: string[] = []
  readonly #workers: Worker[] = []
  readonly #queues: RateLimitingQueue<string>[] = []
  #calls = 0

  constructor() {
    onTestFinished(async () => {
      this.well()
      const ends = [...this.#workers.map((worker) => worker.stop({ graceMs: 0 }))]
      const closes = this.#queues.map((queue) => queue.close())
      const ended = seen(Promise.all([...ends, ...closes]))
      await this.time.pass(5_000)
      expect(ended.state).toBe('resolved')
      expect(this.time.timers()).toBe(0)
    })
  }

  queue(name = 'q', timeoutMs = 15_000): RateLimitingQueue<string> {
    const onError = (error: unknown): unknown => this.told.push(error)
    const queue = createRateLimitingQueue<string>({
      name,
      driver: this.driver,
      leaseMs: 30_000,
      timeoutMs,
      onError,
    })
    this.#queues.push(queue)
    return queue
  }

  worker(queue: RateLimitingQueue<string>, concurrency = 1): Worker {
    const worker = createWorker({
      queue,
      concurrency,
      handler: (item) => {
        this.started.push(item)
      },
    })
    this.#workers.push(worker)
    return worker
  }

  /** Every call fails in this way from now on; `fails` may let some pass. */
  fail(code: ErrorCode, fails: (call: Call) => boolean = () => true, afterMs = 0): void {
    this.driver.before = async (call) => {
      await nextTurn()
      if (call.verb === 'close' || !fails(call)) return
      this.#calls += 1
      // real time: is under control here, and so is a store that takes its time to fail.
      if (afterMs > 0) await new Promise((resolve) => setTimeout(resolve, afterMs))
      throw failure(code)
    }
  }

  well(): void {
    this.driver.before = nextTurn
  }

  /** Lets time pass until the next call fails. */
  async nextFailure(): Promise<void> {
    const calls = this.#calls
    while (this.#calls === calls) await this.time.pass(50)
  }

  /** How many calls failed since this was asked last. */
  takeCalls(): number {
    const calls = this.#calls
    this.#calls = 0
    return calls
  }
}

/** Gives a key back as a user does: an error is returned to the caller, which repeats the call. */
async function finished(held: Held<string> | undefined): Promise<unknown> {
  for (;;) {
    try {
      return await held?.done()
    } catch (error) {
      if (!SluiceError.is(error, 'ERR_STORE')) throw error
    }
  }
}

/** Ways in which a store may be in trouble. */
const troubles: { readonly how: string; begin(site: Site): void }[] = [
  { how: 'is down', begin: (site) => site.fail('ERR_STORE') },
  { how: 'is busy', begin: (site) => site.fail('ERR_STORE_BUSY') },
  { how: 'is full', begin: (site) => site.fail('ERR_STORE_FULL', isWrite) },
  { how: 'is slow', begin: (site) => site.fail('ERR_TIMEOUT', () => true, 700) },
  { how: 'cuts connections', begin: (site) => site.fail('ERR_UNKNOWN_OUTCOME') },
  {
    how: 'answers every other call',
    begin: (site) => {
      let calls = 0
      site.fail('ERR_STORE', () => {
        calls += 1
        return calls % 2 === 0
      })
    },
  },
]

describe.each(troubles)('a store that $how', ({ begin, how }) => {
  const isHalf = how === 'answers every other call'

  test('a worker whose key falls due then attempts two calls a second at most', async () => {
    const site = new Site()
    const queue = site.queue()
    site.worker(queue)
    await queue.addAfter('due', 5_000)
    await site.time.pass(1_000)
    begin(site)
    await site.time.pass(minute)
    const calls = site.takeCalls()
    if (!isHalf) expect(calls).toBeGreaterThan(20)
    expect(calls).toBeLessThanOrEqual(120)
    site.well()
    await site.time.pass(2_000)
    expect(new Set(site.started)).toEqual(new Set(['due']))
  })

  test('and so do fifty waiters', async () => {
    const site = new Site()
    const queue = site.queue()
    await queue.addAfter('due', 5_000)
    const waits = Array.from({ length: 50 }, () =>
      seen(queue.get().then(async (held) => await finished(held))),
    )
    await site.time.pass(1_000)
    begin(site)
    await site.time.pass(minute)
    expect(site.takeCalls()).toBeLessThanOrEqual(120)
    site.well()
    await site.time.pass(2_000)
    expect(waits.filter(({ state }) => state === 'resolved')).toHaveLength(1)
  })

  test('and twenty queue objects with workers together', async () => {
    const site = new Site()
    const queues = Array.from({ length: 20 }, (_, at) => site.queue(`q${at}`))
    for (const queue of queues) {
      site.worker(queue)
      await queue.addAfter(`due in ${queue.name}`, 5_000)
    }
    await site.time.pass(1_000)
    begin(site)
    await site.time.pass(minute)
    // All of them may have a call under way when the trouble begins.
    expect(site.takeCalls()).toBeLessThanOrEqual(120 + 20)
    site.well()
    await site.time.pass(2_000)
    expect(new Set(site.started).size).toBe(20)
  })

  test('and the renewals of a key that is held', async () => {
    const site = new Site()
    const queue = site.queue()
    await queue.add('held')
    const held = await queue.get()
    begin(site)
    await site.time.pass(20_000)
    expect(site.takeCalls()).toBeLessThanOrEqual(40)
    site.well()
    await site.time.pass(minute)
    expect(held?.signal.aborted).toBe(false)
    await held?.done()
  })

  test('and adds that no caller awaits', async () => {
    const site = new Site()
    const queue = site.queue()
    await queue.len()
    begin(site)
    for (let at = 0; at < 200; at += 1) queue.addSoon(`soon/${at}`)
    await site.time.pass(minute)
    expect(site.takeCalls()).toBeLessThanOrEqual(122)
    site.well()
    await site.time.pass(2_000)
    expect(await queue.len()).toBe(200)
  })
})

test.each([1_000, 600_000])(
  'after an outage of %i ms work goes on within two seconds',
  async (ms) => {
    const site = new Site()
    const queue = site.queue()
    site.worker(queue)
    await queue.addAfter('due', 500)
    await site.time.pass(100)
    site.fail('ERR_STORE')
    await site.time.pass(ms)
    site.well()
    const adding = seen(queue.add('added'))
    await site.time.pass(2_000)
    expect(adding.value).toBe('added')
    expect(site.started.sort()).toEqual(['added', 'due'])
  },
)

test('the first try of a call is made at once, however long the store was away', async () => {
  const site = new Site()
  const queue = site.queue()
  site.worker(queue)
  site.fail('ERR_STORE')
  await site.time.pass(minute)
  for (let at = 0; at < 10; at += 1) {
    const adding = seen(queue.add('k'))
    await nextTurn()
    await nextTurn()
    await nextTurn()
    expect(adding.error).toMatchObject({ code: 'ERR_STORE' })
  }
  site.well()
  expect(await queue.add('k')).toBe('added')
})

test('a call that is answered shortens the pause of waiting attempts', async () => {
  const site = new Site()
  const queue = site.queue()
  site.worker(queue)
  await queue.addAfter('due', 500)
  site.fail('ERR_STORE')
  await site.time.pass(minute)
  await site.nextFailure()
  await site.time.pass(450)
  expect(site.started).toEqual([])
  site.well()
  expect(await site.queue('other').len()).toBe(0)
  await site.time.pass(100)
  expect(site.started).toEqual(['due'])
})

test('a getter that gave up does not keep others waiting with its turn', async () => {
  const site = new Site()
  const [one, other] = [site.queue('one'), site.queue('other')]
  await other.add('k')
  const holders: unknown[] = []
  site.fail('ERR_STORE', ({ request }) => {
    holders.push((request as { holder?: string }).holder)
    return true
  })
  const controller = new AbortController()
  const getting = seen(one.get({ signal: controller.signal }))
  const waiting = seen(other.get())
  await site.time.pass(minute)
  // The other one has just failed, so that the next turn is the first one's.
  const isOther = (): boolean => holders.at(-1) !== holders[0]
  do await site.nextFailure()
  while (!isOther())
  controller.abort()
  site.well()
  await site.time.pass(1_550)
  expect(getting.state).toBe('rejected')
  expect(waiting.value?.key).toBe('k')
  await waiting.value?.done()
})

test('an add that timed out does not delay others by its turn', async () => {
  const site = new Site()
  const [one, other] = [site.queue('one', 500), site.queue('other')]
  await other.add('k')
  site.fail('ERR_STORE')
  const waiting = seen(other.get())
  await site.time.pass(minute)
  await site.nextFailure()
  site.fail('ERR_UNKNOWN_OUTCOME')
  const adding = seen(one.add('late'))
  await site.nextFailure()
  // The add is the second in line; it times out before the pause ends.
  site.fail('ERR_STORE')
  await site.nextFailure()
  expect(adding.state).toBe('rejected')
  site.well()
  await site.time.pass(1_550)
  expect(waiting.value?.key).toBe('k')
  await waiting.value?.done()
})

test('a store that cannot be opened is tried twice a second at most, and reported once a minute', async () => {
  const site = new Site()
  site.fail('ERR_UNKNOWN_OUTCOME', ({ verb }) => verb === 'open')
  const queue = site.queue()
  const worker = site.worker(queue)
  await site.time.pass(minute - 1_000)
  expect(site.takeCalls()).toBeLessThanOrEqual(120)
  expect(site.told.map((error) => (error as SluiceError).code)).toEqual(['ERR_STORE'])
  expect(worker.health()).toMatchObject({ live: true, ready: false })
  expect(worker.health().reasons).toContain('DEGRADED')
  await site.time.pass(minute)
  expect(site.told).toHaveLength(2)
  site.well()
  await site.time.pass(2_000)
  expect(worker.health()).toMatchObject({ live: true, ready: true, reasons: [] })
})
