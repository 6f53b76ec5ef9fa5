import type { Capabilities, Clock, OpenOptions } from '@sluice/core'
import { describe, expect, test } from 'vitest'
import { createWorker, type Queue, SluiceError } from '../../src/index.ts'
import { LateDriver } from '../support/late-driver.ts'
import { late, Scene, type Setup, SteppedWorker, seen, take } from '../support/setups.ts'

const leaseMs = 30_000
const hour = 3_600_000
const forward = [
  ['a second', 1_000],
  ['a lease', leaseMs],
  ['an hour', hour],
  ['ten years', 87_660 * hour],
] as const

/** For each clock the one that a store was opened with: always the same. */
const followsWall = new WeakMap<Clock, Clock>()

/** By how much the clock of a store was stepped alone, as that of another machine. */
const storeAhead = new WeakMap<Clock, number>()

/** A clock for a store that follows each step of the wall clock, as those of servers do. */
function wallOf(clock: Clock): Clock {
  let wall = followsWall.get(clock)
  if (wall === undefined) {
    const now = () => clock.now() + (storeAhead.get(clock) ?? 0)
    wall = {
      now,
      monotonicMs: now,
      startTimer: (ms, callback) => clock.startTimer(ms, callback),
      startTicker: (ms, callback) => clock.startTicker(ms, callback),
    }
    followsWall.set(clock, wall)
  }
  return wall
}

/** A driver of a store that follows the wall clock, and is reached over a network. */
class WallDriver extends LateDriver {
  override capabilities: Capabilities = { ...this.inner.capabilities, time: 'wall' }

  override open(options: OpenOptions): Promise<void> {
    return super.open({ clock: wallOf(options.clock as Clock) })
  }
}

const following: Setup = { ...late, driver: (inner) => new WallDriver(inner) }

/** Two processes with one clock and one store, of which each has a driver of its own. */
class TwoProcesses extends Scene {
  readonly otherDriver: LateDriver = new WallDriver(this.inner)
  readonly other: Queue<string>
  /** The keys that the other process got, and when, since {@link watch} or a step. */
  taken: { readonly key: string; readonly afterMs: number }[] = []
  #since = 0

  constructor() {
    super(following)
    this.other = this.queue({ driver: this.otherDriver })
  }

  override async quiet(): Promise<void> {
    do await super.quiet()
    while (this.otherDriver?.inFlight > 0)
  }

  /** Has the other process take all it is given, and hold it. */
  watch(): void {
    void (async () => {
      for (let held = await this.other.get(); held !== undefined; held = await this.other.get()) {
        this.taken.push({ key: held.key, afterMs: this.clock.monotonicMs() - this.#since })
      }
    })()
  }

  /** Steps the wall clock of all. */
  async stepWall(ms: number): Promise<void> {
    this.clock.setTime(this.clock.now() + ms)
    this.#since = this.clock.monotonicMs()
    this.taken = []
    this.otherDriver.calls = []
    await this.quiet()
  }

  /** Steps the clock of the machine of the store, and of no other one. */
  stepStore(ms: number): void {
    storeAhead.set(this.clock, ms)
  }

  /** A notification wakes the other process, which then claims. */
  async wakeOther(): Promise<void> {
    await this.inner.add('q', [{ key: 'wake-up', item: undefined, priority: 0, delayMs: 0 }], {
      dedupe: 'client-go',
      failuresExpireMs: hour,
    })
    await this.quiet()
    expect(this.taken.map(({ key }) => key)).toContain('wake-up')
    const row = await this.row('wake-up')
    await this.inner.finish(
      'q',
      [{ as: 'done', key: 'wake-up', token: row?.token ?? 0, forget: true }],
      { dedupe: 'client-go', failuresExpireMs: hour },
    )
    this.taken = this.taken.filter(({ key }) => key !== 'wake-up')
  }

  /** Has a process take a key and never say anything again. */
  async holdDead(key: string): Promise<void> {
    await this.inner.open({ clock: wallOf(this.clock) })
    const request = { limit: 1, holder: 'gone', claimId: 'gone', leaseMs }
    const { claims } = await this.inner.claim('q', request)
    expect(claims.map((claim) => claim.key)).toEqual([key])
  }
}

/** When, since the last renewal, the wall clock is stepped: right after it, between, right before. */
const moments = [0, 5_000, 9_999]

describe.each(forward)('Time: a step forward by %s', (_name, ms) => {
  test.each(moments)('hands out no key of a healthy holder, %d ms after a renewal', async (at) => {
    const two = new TwoProcesses()
    const queue = two.queue()
    await queue.addMany(['a', 'b'])
    const helds = await queue.getMany(2)
    two.watch()
    await two.clock.step(10_000 + at)
    await two.stepWall(ms)
    await two.wakeOther()
    await two.clock.step(3 * leaseMs)
    expect(two.taken).toEqual([])
    expect(helds.map(({ signal }) => signal.aborted)).toEqual([false, false])
    expect(await queue.doneMany(helds)).toEqual(['idle', 'idle'])
  })

  test.each(moments)('gives back that of a dead one within a lease, after %d ms', async (at) => {
    const two = new TwoProcesses()
    await two.delaying().add('a')
    await two.holdDead('a')
    two.watch()
    await two.clock.step(at)
    await two.stepWall(ms)
    await two.wakeOther()
    await two.clock.step(2 * leaseMs)
    expect(two.taken.map(({ key }) => key)).toEqual(['a'])
    // A back-off of 5 ms is added; a second less than a lease may have been left of the lease.
    expect(two.taken[0]?.afterMs).toBeLessThanOrEqual(leaseMs + 5)
  })

  test('gives it back also if that is found at the next heartbeat only', async () => {
    const two = new TwoProcesses()
    await two.delaying().add('a')
    await two.holdDead('a')
    two.watch()
    await two.clock.step(1)
    await two.stepWall(ms)
    await two.clock.step(2 * leaseMs)
    expect(two.taken.map(({ key }) => key)).toEqual(['a'])
    expect(two.taken[0]?.afterMs).toBeLessThanOrEqual(leaseMs + 10_000 + 5)
  })
})

test.each(moments)(
  'Time: a step of the store alone hands out no key of a healthy holder, %d ms after a renewal',
  async (at) => {
    const two = new TwoProcesses()
    const queue = two.queue()
    await queue.addMany(['a', 'b'])
    const helds = await queue.getMany(2)
    two.watch()
    await two.clock.step(10_000 + at)
    two.stepStore(hour)
    await two.wakeOther()
    await two.clock.step(3 * leaseMs)
    expect(two.taken).toEqual([])
    expect(helds.map(({ signal }) => signal.aborted)).toEqual([false, false])
  },
)

test('Time: the cost of a step for an idle process', async () => {
  const two = new TwoProcesses()
  await two.delaying().add('a')
  await two.holdDead('a')
  two.watch()
  await two.clock.step(15_000)
  await two.stepWall(hour)
  await two.clock.step(leaseMs - 1_000)
  const verbs = two.otherDriver.calls.map(({ verb }) => verb)
  // One lease is extended, and looked whether more is due; then heartbeats only.
  expect(verbs).toEqual(['claim', 'renew', 'tick', 'claim', 'tick', 'tick'])
})

describe('Time: a clock that is stepped again', () => {
  test('after half a lease', async () => {
    const two = new TwoProcesses()
    const queue = two.queue()
    await queue.addMany(['dead', 'alive'])
    await two.holdDead('dead')
    const held = await take(queue)
    two.watch()
    await two.clock.step(1)
    await two.stepWall(hour)
    await two.wakeOther()
    await two.clock.step(leaseMs / 2)
    await two.stepWall(hour)
    await two.wakeOther()
    await two.clock.step(2 * leaseMs)
    expect(two.taken.map(({ key }) => key)).toEqual(['dead'])
    expect(two.taken[0]?.afterMs).toBeLessThanOrEqual(leaseMs + 5)
    expect(held.signal.aborted).toBe(false)
  })

  test('and again keeps the key of a dead holder for three leases and no longer', async () => {
    const two = new TwoProcesses()
    await two.delaying().add('dead')
    await two.holdDead('dead')
    two.watch()
    await two.clock.step(1)
    for (let steps = 1; two.taken.length === 0; steps += 1) {
      expect(steps).toBeLessThan(8)
      await two.stepWall(hour)
      await two.wakeOther()
      await two.clock.step(leaseMs / 2)
    }
    expect(two.taken.map(({ key }) => key)).toEqual(['dead'])
  })
})

describe('Time: a clock that is stepped again after many leases', () => {
  test('leaves the key to its holder as the first time', async () => {
    const two = new TwoProcesses()
    const queue = two.queue()
    await queue.add('alive')
    const held = await take(queue)
    two.watch()
    for (let steps = 0; steps < 2; steps += 1) {
      await two.clock.step(5 * leaseMs)
      await two.stepWall(hour)
      await two.wakeOther()
      await two.clock.step(1)
      expect([two.taken, held.signal.aborted]).toEqual([[], false])
    }
  })
})

// A step that is none costs a dead holder's key another lease, and what was claimed ahead is put back.
describe('Time: what is a step', () => {
  async function renewals(setup: Setup, ofLeaseMs: number, stepMs: number): Promise<number> {
    const scene = new Scene(setup)
    const queue = scene.queue({ leaseMs: ofLeaseMs })
    await queue.add('a')
    await take(queue)
    // Right after a renewal.
    await scene.clock.step(ofLeaseMs * 1.05)
    const before = scene.late.count('renew')
    scene.clock.setTime(scene.clock.now() + stepMs)
    await scene.clock.step(ofLeaseMs / 6)
    return scene.late.count('renew') - before
  }

  test.each([
    [leaseMs, 7_000, 0],
    [leaseMs, 8_000, 1],
    [2_000, 900, 0],
    [2_000, -900, 0],
    [2_000, 1_100, 1],
  ])('of a lease of %d ms, one by %d ms makes %d renewals', async (ofLeaseMs, stepMs, count) => {
    expect(await renewals(following, ofLeaseMs, stepMs)).toBe(count)
  })

  test('of the wall clock, where the store follows none, is none', async () => {
    expect(await renewals(late, leaseMs, hour)).toBe(0)
  })
})

describe('Time: a holder after a step', () => {
  test.each([
    ['forward', hour],
    ['back', -hour],
  ])('%s renews at once', async (_way, ms) => {
    const scene = new TwoProcesses()
    const queue = scene.queue()
    await queue.add('a')
    await take(queue)
    await scene.clock.step(12_500)
    await scene.stepWall(ms)
    const before = scene.late.count('renew')
    await scene.clock.step(1_000)
    expect(scene.late.count('renew')).toBe(before + 1)
    // And from then on as before.
    await scene.clock.step(9_499)
    expect(scene.late.count('renew')).toBe(before + 1)
    await scene.clock.step(1)
    expect(scene.late.count('renew')).toBe(before + 2)
  })

  test('trusts its lease a third of it longer, if the renewal is not answered', async () => {
    const scene = new TwoProcesses()
    const queue = scene.queue()
    await queue.add('a')
    const held = await take(queue)
    await scene.clock.step(10_500)
    scene.late.hold('renew')
    await scene.stepWall(hour)
    await scene.clock.step(500 + leaseMs / 3 - 1)
    expect(held.signal.aborted).toBe(false)
    await scene.clock.step(1)
    expect(SluiceError.is(held.signal.reason, 'ERR_LEASE_LOST')).toBe(true)
    scene.late.letGo('renew')
  })

  test('starts nothing that was claimed ahead; it is put back', async () => {
    const scene = new TwoProcesses()
    const queue = scene.queue({ prefetch: 5 })
    await queue.addMany(['a', 'b', 'c'])
    const stepped = new SteppedWorker(queue)
    await scene.quiet()
    const { token } = (await scene.row('b')) ?? {}
    expect(new Set(Object.values(await scene.states()))).toEqual(new Set(['processing']))
    await scene.stepWall(hour)
    stepped.end()
    await scene.quiet()
    expect(stepped.started).toEqual(['a', 'b'])
    expect((await scene.row('b'))?.token).toBeGreaterThan(token ?? Infinity)
  })

  test('starts nothing whose claim was under way meanwhile; it is claimed again', async () => {
    const scene = new TwoProcesses()
    const queue = scene.queue()
    await queue.add('a')
    scene.late.hold('claim')
    const waiting = seen(queue.get())
    await scene.quiet()
    await scene.stepWall(hour)
    scene.late.letGo('claim')
    await scene.quiet()
    expect(waiting.value?.key).toBe('a')
    expect(scene.late.count('claim')).toBe(2)
    const { token } = (await scene.row('a')) ?? {}
    expect(waiting.value?.token).toBe(token)
    expect(waiting.value).toMatchObject({ failures: 0, crashes: 0 })
  })

  test('claims ever more rarely while each claim meets another step, and soon after the last', async () => {
    const scene = new TwoProcesses()
    const queue = scene.queue()
    await queue.add('a')
    let steps = 0
    scene.late.after = ({ verb }) => {
      if (verb !== 'claim' || steps === 20) return
      steps += 1
      scene.clock.setTime(scene.clock.now() + hour)
    }
    const waiting = seen(queue.get())
    await scene.clock.step(1_000)
    expect(steps).toBeLessThan(12)
    await scene.clock.step(15_000)
    expect(waiting.value?.key).toBe('a')
  })

  test('whose clock alone was stepped does not notice more of it', async () => {
    const scene = new TwoProcesses()
    const queue = scene.queue()
    await queue.addMany(['a', 'b', 'c'])
    const ran: string[] = []
    const worker = createWorker({ queue, concurrency: 2, handler: (item) => void ran.push(item) })
    await scene.quiet()
    await scene.stepWall(-hour)
    await scene.stepWall(2 * hour)
    await queue.add('d')
    await scene.quiet()
    expect(ran).toEqual(['a', 'b', 'c', 'd'])
    await worker.stop()
  })
})

test('Time: keys of a store that is ahead of the clock that it was given are claimed on time', async () => {
  const aheadMs = 5_000
  class AheadDriver extends WallDriver {
    override open(options: OpenOptions): Promise<void> {
      const clock = options.clock as Clock
      return super.open({ clock: { ...wallOf(clock), now: () => clock.now() + aheadMs } })
    }
  }
  const scene = new Scene({ ...late, driver: (inner) => new AheadDriver(inner) })
  const queue = scene.delaying()
  const waiting = seen(queue.get())
  await queue.addAfter('a', 30)
  await scene.clock.step(30)
  await scene.quiet()
  expect(waiting.state).toBe('resolved')
})

test.each([-hour, hour])(
  'a key is due by the clock of its store, %d ms from that of the process',
  async (offMs) => {
    const scene = new Scene(late)
    const { late: driver } = scene
    let steppedMs = 0
    const open = driver.open.bind(driver)
    driver.open = ({ clock = scene.clock }) =>
      open({
        clock: {
          now: () => clock.now() + offMs,
          monotonicMs: () => clock.monotonicMs() + steppedMs,
          startTimer: (ms, callback) => clock.startTimer(ms, callback),
          startTicker: (ms, callback) => clock.startTicker(ms, callback),
        },
      })
    const queue = scene.delaying()
    for (const key of ['a', 'b', 'after a step']) {
      if (key === 'after a step') steppedMs = hour
      const waiting = seen(queue.get())
      await scene.quiet()
      await queue.addAfter(key, 5_000)
      await scene.clock.step(4_999)
      expect(waiting.state).toBe('waiting')
      await scene.clock.step(1)
      expect(waiting.value?.key).toBe(key)
    }
  },
)
