import type { Clock } from '@sluice/core'
import type { FakeClock } from '@sluice/core/testing'
import { describe, expect, test } from 'vitest'
import { createWorker, type HandlerContext, SluiceError } from '../../src/index.ts'
import { fakeRealTime } from '../support/real-time.ts'
import { late, leasedSetups, Scene, SteppedWorker, seen } from '../support/setups.ts'

const leaseMs = 30_000
const margin = 3_000

/** A clock whose timers come late, as those of a process whose event loop is blocked. */
class BlockedClock implements Clock {
  readonly #clock: FakeClock
  #blockedMs = 0

  constructor(clock: FakeClock) {
    this.#clock = clock
  }

  /** Advances time by `ms` without firing a timer. */
  block(ms: number): void {
    this.#blockedMs += ms
  }

  now(): number {
    return this.#clock.now() + this.#blockedMs
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs() + this.#blockedMs
  }

  startTimer: Clock['startTimer'] = (ms, callback) => this.#clock.startTimer(ms, callback)

  startTicker: Clock['startTicker'] = (ms, callback) => this.#clock.startTicker(ms, callback)
}

/** Has another process end the lease of a key and take it. */
async function takeAway(scene: Scene, key: string): Promise<number | undefined> {
  const row = await scene.row(key)
  const lease = { key, token: row?.token ?? 0 }
  const ended = await scene.inner.expire('q', [lease], { dedupe: 'client-go', maxCrashes: 9 })
  expect(ended).toEqual(['expired'])
  const request = { limit: 1, holder: 'other', claimId: 'other', leaseMs: 10 * leaseMs }
  const { claims } = await scene.inner.claim('q', request)
  expect(claims.map((claim) => claim.key)).toEqual([key])
  return claims[0]?.token
}

describe('Leases: nothing is handed out whose local deadline has passed', () => {
  test('the answer of a claim that comes too late', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.add('a')
    scene.late.hold('claim')
    const waiting = seen(queue.get())
    await scene.clock.step(leaseMs - margin)
    scene.late.letGo('claim')
    await scene.quiet()
    // It was given back, and claimed again under another token.
    const [release] = scene.late.requests('finish').flat() as { token: number }[]
    expect(release).toMatchObject({ as: 'release', key: 'a' })
    expect(waiting.value).toMatchObject({ key: 'a', failures: 0, crashes: 0 })
    expect(waiting.value?.token).toBeGreaterThan(release?.token ?? Infinity)
    expect(waiting.value?.signal.aborted).toBe(false)
  })

  test('one that is found again after its answer was lost', async () => {
    const scene = new Scene(late)
    const queue = scene.queue()
    await queue.add('a')
    let losses = 1
    scene.late.after = ({ verb }) => {
      if (verb !== 'claim' || losses-- <= 0) return
      throw new SluiceError('ERR_UNKNOWN_OUTCOME', 'lost')
    }
    scene.late.hold('adopt')
    const waiting = seen(queue.get())
    await scene.clock.step(leaseMs - margin)
    scene.late.letGo('adopt')
    await scene.quiet()
    expect(waiting.value).toMatchObject({ key: 'a', crashes: 0 })
  })
})

describe('Leases: a key that was claimed ahead, and whose lease ended before it is given back', () => {
  async function setUp() {
    const scene = new Scene(late)
    const clock = new BlockedClock(scene.clock)
    const queue = scene.queue({ clock, prefetch: 5, timeoutMs: 10 * leaseMs })
    await queue.addMany(['first', 'second'])
    const stepped = new SteppedWorker(queue)
    await scene.quiet()
    scene.late.hold('finish')
    clock.block(leaseMs)
    return { scene, clock, queue, stepped }
  }

  test('stays with its process for another lease, and for three at most', async () => {
    const { scene, clock, queue, stepped } = await setUp()
    await queue.shutDown()
    await scene.quiet()
    expect(await scene.row('second')).toMatchObject({ leaseUntil: clock.now() + leaseMs })
    const other = scene.queue({ clock })
    const waiting = seen(other.get())
    await scene.clock.step(2.5 * leaseMs)
    expect(await scene.row('second')).toMatchObject({ crashes: 0 })
    await scene.clock.step(leaseMs)
    expect(waiting.value).toMatchObject({ key: 'second', crashes: 1 })
    scene.late.letGo('finish')
    stepped.endAll()
    await stepped.worker.stop()
  })

  test('is reported when it cannot be renewed', async () => {
    const { scene, queue, stepped } = await setUp()
    const time = fakeRealTime()
    const error = new SluiceError('ERR_STORE', 'out of reach', { retryable: true })
    scene.late.before = ({ verb }) => {
      if (verb === 'renew') throw error
    }
    const down = queue.shutDown()
    await scene.quiet()
    expect(scene.errors).toContain(error)
    expect(scene.late.count('expire')).toBe(0)
    scene.late.before = () => undefined
    scene.late.letGo('finish')
    await time.pass(2_000)
    await down
    scene.errors = []
    stepped.endAll()
    await stepped.worker.stop()
  })
})

describe.each(leasedSetups)('Leases: after a blocked event loop, over $way', (setup) => {
  test('a key that was claimed ahead is not handed out', async () => {
    const scene = new Scene(setup)
    const clock = new BlockedClock(scene.clock)
    const queue = scene.queue({ clock, prefetch: 5 })
    await queue.addMany(['first', 'second'])
    const stepped = new SteppedWorker(queue)
    await scene.quiet()
    const theirs = await scene.row('second')
    expect(theirs?.state).toBe('processing')
    clock.block(leaseMs)
    const token = await takeAway(scene, 'second')
    stepped.end()
    await scene.quiet()
    expect(stepped.started).toEqual(['first'])
    expect((await scene.row('second'))?.token).toBe(token)
  })

  test('no crash is counted of keys that were claimed ahead, and never ran', async () => {
    const scene = new Scene(setup)
    const clock = new BlockedClock(scene.clock)
    const queue = scene.queue({ clock, prefetch: 5 })
    await queue.addMany(['first', 'second', 'third'])
    const stepped = new SteppedWorker(queue)
    await scene.quiet()
    expect((await scene.row('third'))?.state).toBe('processing')
    clock.block(leaseMs)
    // It asks for the store's time, and the answer names the leases that have expired.
    await queue.shutDown()
    await scene.quiet()
    for (const key of ['second', 'third']) {
      expect(await scene.row(key)).toMatchObject({ failures: 0, crashes: 0 })
    }
    stepped.end()
    await scene.quiet()
    stepped.end()
    await scene.quiet()
    expect(stepped.started).toEqual(['first', 'second', 'third'])
    stepped.end()
    await stepped.worker.stopped
  })

  test('no crash is counted of a key that runs while another handler blocks the event loop', async () => {
    const scene = new Scene(setup)
    const clock = new BlockedClock(scene.clock)
    const queue = scene.queue({ clock, prefetch: 0 })
    await queue.addMany(['blocking', 'running', 'next'])
    const stepped = new SteppedWorker(queue, 2)
    await scene.quiet()
    const { token } = (await scene.row('running')) ?? {}
    clock.block(leaseMs)
    // The claim for its slot is answered before a timer can renew what is held.
    stepped.end()
    await scene.quiet()
    expect(await scene.row('running')).toMatchObject({ token, failures: 0, crashes: 0 })
    stepped.endAll()
    await scene.quiet()
    expect(await scene.row('running')).toBeUndefined()
    stepped.endAll()
    await stepped.worker.stop()
  })

  test('no crash is counted of keys of another queue object on the same driver', async () => {
    const scene = new Scene(setup)
    const clock = new BlockedClock(scene.clock)
    const queue = scene.queue({ clock, prefetch: 5 })
    await queue.addMany(['running', 'ahead'])
    const stepped = new SteppedWorker(queue)
    await scene.quiet()
    const { token } = (await scene.row('running')) ?? {}
    expect((await scene.row('ahead'))?.state).toBe('processing')
    const other = scene.queue({ clock })
    clock.block(leaseMs)
    // Its claim is answered before a timer of the first one can renew what that holds.
    const waiting = seen(other.get())
    await scene.quiet()
    expect(await scene.row('running')).toMatchObject({ token, failures: 0, crashes: 0 })
    // Nor is it delayed: it never ran.
    expect(waiting.value).toMatchObject({ key: 'ahead', failures: 0, crashes: 0 })
    await waiting.value?.done()
    stepped.endAll()
    await scene.quiet()
    expect(stepped.started).toEqual(['running'])
    expect(await scene.row('running')).toBeUndefined()
    await stepped.worker.stop()
  })

  test('a handler is not called for a key that was handed over before it', async () => {
    const scene = new Scene(setup)
    const clock = new BlockedClock(scene.clock)
    const queue = scene.queue({ clock })
    await queue.addMany(['first', 'second'])
    const began = new Map<string, HandlerContext>()
    const worker = createWorker({
      queue,
      concurrency: 2,
      handler: (item, context) => {
        began.set(item, context)
        // Both were handed over in one turn; this handler computes for longer than the lease.
        if (item === 'first') clock.block(leaseMs)
      },
    })
    await scene.quiet()
    // Claimed together they had tokens in a row; the second was given back, and claimed again.
    const [first, second] = [began.get('first'), began.get('second')]
    expect(second?.token).toBeGreaterThan((first?.token ?? 0) + 1)
    expect([second?.crashes, second?.signal.aborted]).toEqual([0, false])
    await worker.stop()
  })
})
