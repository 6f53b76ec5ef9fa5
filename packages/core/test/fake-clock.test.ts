import assert from 'node:assert/strict'
import { describe, test } from 'vitest'
import { SluiceError } from '../src/errors.ts'
import { type FakeClock, fakeClock } from '../src/testing/index.ts'

/** A clock at 0 and a log of what fired, each entry with the instant at which it did. */
function logged(): {
  clock: FakeClock
  log: string[]
  note: (name: string) => () => void
} {
  const clock = fakeClock(0)
  const log: string[] = []
  const note = (name: string) => () => {
    log.push(`${name}@${clock.now()}`)
  }
  return { clock, log, note }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('standing still', () => {
  test('it starts at the first instant of 2025, or at the given one', () => {
    assert.equal(new Date(fakeClock().now()).toISOString(), '2025-01-01T00:00:00.000Z')
    assert.equal(fakeClock(12.5).now(), 12.5)
    assert.equal(fakeClock(-1).now(), -1)
    for (const bad of [Number.NaN, '1', null]) {
      assert.throws(() => fakeClock(bad as number), TypeError)
    }
    assert.throws(() => fakeClock(Infinity), RangeError)
    for (const bad of [null, 1, { setle: async () => {} }, { settle: 1 }]) {
      assert.throws(
        () => fakeClock(0, bad as object),
        (error) => SluiceError.is(error, 'ERR_INVALID_INPUT'),
      )
    }
  })

  test('time moves only by a step, however long the code runs', async () => {
    const clock = fakeClock()
    const [now, monotonic] = [clock.now(), clock.monotonicMs()]
    await turn()
    assert.equal(clock.now(), now)
    assert.equal(clock.monotonicMs(), monotonic)
  })

  test('two clocks know nothing of each other', async () => {
    const [a, b] = [fakeClock(0), fakeClock(0)]
    b.startTimer(1, () => assert.fail('fired by the wrong clock'))
    await a.step(10)
    assert.deepEqual([a.now(), b.now(), a.waiters(), b.waiters()], [10, 0, 0, 1])
  })
})

describe('timers', () => {
  test('nothing fires at registration, and step(0) is enough for what is due', async () => {
    const { clock, log, note } = logged()
    clock.startTimer(0, note('zero'))
    clock.startTimer(-5, note('negative'))
    clock.startTimer(-Infinity, note('long ago'))
    clock.startTimer(1, note('later'))
    await turn()
    assert.deepEqual(log, [])
    await clock.step(0)
    assert.deepEqual(log, ['zero@0', 'negative@0', 'long ago@0'])
  })

  // The original fires in the order of registration, and every callback sees the end of the step.
  test('each fires at its own instant, in the order of the instants', async () => {
    const { clock, log, note } = logged()
    clock.startTimer(3_000, note('slow'))
    clock.startTimer(1_000, note('fast'))
    await clock.step(5_000)
    assert.deepEqual(log, ['fast@1000', 'slow@3000'])
    assert.equal(clock.now(), 5_000)
  })

  test('equal instants go in the order of registration', async () => {
    const { clock, log, note } = logged()
    for (const name of ['a', 'b', 'c']) clock.startTimer(10, note(name))
    await clock.step(4)
    clock.startTimer(6, note('d'))
    clock.startTimer(5.5, note('before'))
    await clock.step(6)
    assert.deepEqual(log, ['before@9.5', 'a@10', 'b@10', 'c@10', 'd@10'])
  })

  test('exactly due is due, a hair before is not', async () => {
    const { clock, log, note } = logged()
    clock.startTimer(10, note('timer'))
    await clock.step(9.999)
    assert.deepEqual(log, [])
    clock.setTime(9.999)
    await clock.step(clock.nextAt()! - clock.now())
    assert.deepEqual(log, ['timer@10'])
  })

  test('one shot: it fires once', async () => {
    const { clock, log, note } = logged()
    clock.startTimer(1, note('once'))
    await clock.step(10)
    await clock.step(10)
    assert.deepEqual(log, ['once@1'])
    assert.equal(clock.waiters(), 0)
  })

  test('stop returns whether it was pending, and then nothing fires', async () => {
    const { clock, log, note } = logged()
    const stopped = clock.startTimer(1, note('stopped'))
    const fired = clock.startTimer(1, note('fired'))
    assert.equal(stopped.stop(), true)
    assert.equal(stopped.stop(), false)
    await clock.step(1)
    assert.equal(fired.stop(), false)
    assert.deepEqual(log, ['fired@1'])
  })

  test('reset starts over from now, and returns whether it was pending', async () => {
    const { clock, log, note } = logged()
    const timer = clock.startTimer(10, note('timer'))
    await clock.step(5)
    assert.equal(timer.reset(10), true)
    await clock.step(9)
    assert.deepEqual(log, [])
    await clock.step(1)
    assert.deepEqual(log, ['timer@15'])
    // The original deadlocks when a timer that has fired is armed again and fires.
    assert.equal(timer.reset(1), false)
    await clock.step(1)
    assert.deepEqual(log, ['timer@15', 'timer@16'])
    timer.stop()
    assert.equal(timer.reset(0), false)
    await clock.step(0)
    assert.deepEqual(log.at(-1), 'timer@16')
    assert.equal(log.length, 3)
  })

  test('reset registers again: among equals it goes last', async () => {
    const { clock, log, note } = logged()
    const first = clock.startTimer(10, note('first'))
    clock.startTimer(10, note('second'))
    first.reset(10)
    await clock.step(10)
    assert.deepEqual(log, ['second@10', 'first@10'])
  })

  test('a timer may stop, reset and start timers while it fires', async () => {
    const { clock, log, note } = logged()
    const victim = clock.startTimer(5, note('victim'))
    let rounds = 0
    const timer = clock.startTimer(1, () => {
      note('timer')()
      rounds += 1
      if (rounds === 1) assert.equal(victim.stop(), true)
      if (rounds < 3) assert.equal(timer.reset(2), false)
      else clock.startTimer(0, note('child'))
    })
    await clock.step(10)
    assert.deepEqual(log, ['timer@1', 'timer@3', 'timer@5', 'child@5'])
  })

  test('an infinite delay never comes due, but is pending', async () => {
    const { clock, log, note } = logged()
    const timer = clock.startTimer(Infinity, note('never'))
    assert.deepEqual([clock.waiters(), clock.nextAt()], [1, undefined])
    await clock.step(Number.MAX_VALUE)
    assert.equal(timer.stop(), true)
    assert.deepEqual(log, [])
  })

  test('a delay that is no number is refused, where the original would never fire', () => {
    const { clock, note } = logged()
    const timer = clock.startTimer(1, note('timer'))
    for (const bad of [Number.NaN, '5', undefined, 5n]) {
      assert.throws(() => clock.startTimer(bad as number, note('bad')), TypeError)
      assert.throws(() => timer.reset(bad as number), TypeError)
      assert.throws(() => clock.startTicker(bad as number, note('bad')), TypeError)
    }
    assert.equal(clock.waiters(), 1)
    assert.equal(timer.stop(), true)
  })

  test('delays beyond what real timers hold are honoured', async () => {
    const { clock, log, note } = logged()
    const years10 = 10 * 365.25 * 86_400_000
    clock.startTimer(years10, note('timer'))
    await clock.step(years10 - 1)
    assert.deepEqual(log, [])
    await clock.step(1)
    assert.deepEqual(log, [`timer@${years10}`])
  })

  test('a pending timer keeps the process alive only once it is ref\u2019d', async () => {
    const { clock, note } = logged()
    const [a, b] = [clock.startTimer(1, note('a')), clock.startTimer(2, note('b'))]
    clock.startTicker(5, note('ticker'))
    assert.equal(clock.refCount(), 0)
    a.ref()
    a.ref()
    b.ref()
    assert.equal(clock.refCount(), 2)
    b.unref()
    assert.equal(clock.refCount(), 1)
    await clock.step(1)
    assert.equal(clock.refCount(), 0)
    a.reset(1)
    assert.equal(clock.refCount(), 1)
    a.stop()
    assert.equal(clock.refCount(), 0)
  })
})

describe('tickers', () => {
  // The original drops all but one tick of a long step: its channel holds only one.
  test('every tick fires at its own instant', async () => {
    const { clock, log, note } = logged()
    clock.startTicker(2, note('tick'))
    await clock.step(7)
    assert.deepEqual(log, ['tick@2', 'tick@4', 'tick@6'])
    assert.equal(clock.nextAt(), 8)
    await clock.step(0.5)
    assert.equal(log.length, 3)
    await clock.step(0.5)
    assert.deepEqual(log.at(-1), 'tick@8')
  })

  // In the original, stopping a ticker of the fake clock does nothing.
  test('stop ends the ticking, also from within a tick', async () => {
    const { clock, log, note } = logged()
    const outer = clock.startTicker(2, note('outer'))
    const inner = clock.startTicker(3, () => {
      note('inner')()
      assert.equal(inner.stop(), true)
    })
    assert.equal(clock.waiters(), 2)
    await clock.step(4)
    assert.equal(inner.stop(), false)
    assert.equal(outer.stop(), true)
    assert.equal(outer.stop(), false)
    assert.equal(clock.waiters(), 0)
    await clock.step(100)
    assert.deepEqual(log, ['outer@2', 'inner@3', 'outer@4'])
  })

  test('a ticker keeps its place among equals', async () => {
    const { clock, log, note } = logged()
    clock.startTicker(5, note('tick'))
    clock.startTimer(10, note('timer'))
    await clock.step(10)
    assert.deepEqual(log, ['tick@5', 'tick@10', 'timer@10'])
  })

  // In the original such a ticker fires once and vanishes.
  test('a period that is not above zero is refused', () => {
    const { clock, note } = logged()
    for (const bad of [0, -0, -1, -Infinity]) {
      assert.throws(() => clock.startTicker(bad, note('tick')), RangeError)
    }
    assert.equal(clock.waiters(), 0)
  })
})

describe('the wall clock', () => {
  test('setTime moves it both ways, at once, and moves nothing else', async () => {
    const { clock, log, note } = logged()
    const startMs = clock.monotonicMs()
    clock.startTimer(10, note('timer'))
    await clock.step(4)
    for (const [jump, dueAt] of [
      [1_000_000, 1_000_006],
      [-50, -44],
      [0.25, 6.25],
    ] as const) {
      clock.setTime(jump)
      assert.deepEqual([clock.now(), clock.nextAt()], [jump, dueAt])
      assert.equal(clock.monotonicMs() - startMs, 4)
    }
    await clock.step(5)
    assert.deepEqual(log, [])
    await clock.step(1)
    assert.deepEqual(log, ['timer@6.25'])
    assert.deepEqual([clock.now(), clock.monotonicMs() - startMs], [6.25, 10])
  })

  test('a jump undoes nothing: what fired does not fire again', async () => {
    const { clock, log, note } = logged()
    clock.startTimer(5, note('timer'))
    await clock.step(5)
    clock.setTime(0)
    await clock.step(100)
    assert.deepEqual(log, ['timer@5'])
  })

  test('a jump in the middle of a step leaves the rest of the step as long as it was', async () => {
    const { clock, log, note } = logged()
    const startMs = clock.monotonicMs()
    clock.startTimer(2, () => clock.setTime(1_000))
    clock.startTimer(5, note('timer'))
    clock.startTimer(11, note('too late'))
    await clock.step(10)
    assert.deepEqual(log, ['timer@1003'])
    assert.deepEqual([clock.now(), clock.monotonicMs() - startMs], [1_008, 10])
  })

  test('timers that a jump rounds to one instant go in the order of registration, and can be stopped', async () => {
    const { clock, log, note } = logged()
    const first = clock.startTimer(0.000_3, note('first'))
    clock.startTimer(0.000_2, note('second'))
    clock.startTimer(0.000_1, note('third'))
    clock.setTime(1e15)
    assert.equal(first.stop(), true)
    await clock.step(0)
    assert.deepEqual(log, ['second@1000000000000000', 'third@1000000000000000'])
  })

  test('an instant that is none is refused', () => {
    const clock = fakeClock(7)
    assert.throws(() => clock.setTime(Number.NaN), TypeError)
    assert.throws(() => clock.setTime(Infinity), RangeError)
    assert.equal(clock.now(), 7)
  })

  test('a timer fires at its exact instant, with any fractions', async () => {
    const clock = fakeClock()
    await clock.step(0.1)
    for (const delayMs of [0.1, 0.3, 1 / 3, 1e-9, 12_345.678_9]) {
      const instant = clock.now() + delayMs
      let firedAt: number | undefined
      clock.startTimer(instant - clock.now(), () => {
        firedAt = clock.now()
      })
      await clock.step(20_000)
      assert.equal(firedAt, instant)
    }
  })
})

describe('knowing what is pending', () => {
  test('waiters counts timers and tickers, nextAt names the first instant', async () => {
    const { clock, note } = logged()
    assert.deepEqual([clock.waiters(), clock.nextAt()], [0, undefined])
    const timer = clock.startTimer(9, note('timer'))
    clock.startTicker(4, note('ticker'))
    assert.deepEqual([clock.waiters(), clock.nextAt()], [2, 4])
    await clock.step(8)
    assert.deepEqual([clock.waiters(), clock.nextAt()], [2, 9])
    timer.stop()
    assert.deepEqual([clock.waiters(), clock.nextAt()], [1, 12])
  })

  test('waitForWaiters resolves when enough are pending, at once if they are', async () => {
    const { clock, note } = logged()
    await clock.waitForWaiters(0)
    const seen: string[] = []
    const one = clock.waitForWaiters(1).then(() => seen.push('one'))
    const two = clock.waitForWaiters(2).then(() => seen.push('two'))
    await turn()
    assert.deepEqual(seen, [])
    const first = clock.startTimer(1, note('first'))
    await one
    await turn()
    assert.deepEqual(seen, ['one'])
    first.reset(5)
    first.stop()
    first.reset(5)
    await turn()
    assert.deepEqual(seen, ['one'])
    clock.startTicker(1, note('second'))
    await two
    await clock.waitForWaiters(2)
    assert.deepEqual(seen, ['one', 'two'])
  })

  test('waitForWaiters refuses a count that is none', async () => {
    const clock = fakeClock()
    for (const bad of [Number.NaN, 1.5, Infinity, '1']) {
      await assert.rejects(clock.waitForWaiters(bad as number), (error) =>
        SluiceError.is(error, 'ERR_INVALID_INPUT'),
      )
    }
  })
})
