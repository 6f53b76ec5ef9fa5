import { describe, expect, it } from 'vitest'
import { risingTimeOf } from '../src/driver/index.ts'
import { RisingTime } from '../src/index.ts'
import { fakeClock } from '../src/testing/index.ts'

const hour = 3_600_000

describe('RisingTime', () => {
  it('is the wall clock while that is not set', async () => {
    const clock = fakeClock()
    const time = new RisingTime(clock)
    expect(time.now()).toBe(clock.now())
    await clock.step(12_345.5)
    expect(time.now()).toBe(clock.now())
    expect(time.ahead).toBe(0)
  })

  it.each([1, 500, 30_000, hour, 10 * 365 * 24 * hour])(
    'goes on at its pace after the wall clock was set back by %d ms',
    async (back) => {
      const clock = fakeClock()
      const time = new RisingTime(clock)
      const before = time.now()
      clock.setTime(clock.now() - back)
      expect(time.now()).toBe(before)
      await clock.step(5_000)
      expect(time.now()).toBeCloseTo(before + 5_000, 2)
      expect(time.ahead).toBeCloseTo(back, 2)
    },
  )

  it('counts the time between the last reading and the step back', async () => {
    const clock = fakeClock()
    const time = new RisingTime(clock)
    const before = time.now()
    await clock.step(9_000)
    clock.setTime(clock.now() - 5_000)
    expect(time.now()).toBeCloseTo(before + 9_000, 2)
  })

  it('goes on from the last reading, not from one before', async () => {
    const clock = fakeClock()
    const time = new RisingTime(clock)
    time.now()
    await clock.step(9_000)
    const last = time.now()
    clock.setTime(clock.now() - 20_000)
    expect(time.now()).toBeCloseTo(last, 2)
  })

  it.each([400, -400])(
    'follows a step of %d ms since the last reading: it may be drift',
    async (ms) => {
      const clock = fakeClock()
      const time = new RisingTime(clock)
      time.now()
      await clock.step(9_000)
      clock.setTime(clock.now() + ms)
      expect(time.now()).toBe(clock.now())
      expect(time.ahead).toBe(0)
    },
  )

  it('follows the wall clock forward', () => {
    const clock = fakeClock()
    const time = new RisingTime(clock)
    time.now()
    clock.setTime(clock.now() + hour)
    expect(time.now()).toBe(clock.now())
    expect(time.ahead).toBe(0)
  })

  it('goes on from what another process has read', async () => {
    const clock = fakeClock()
    const time = new RisingTime(clock)
    time.atLeast(clock.now() + 700)
    expect(time.ahead).toBe(700)
    expect(time.latest).toBe(clock.now() + 700)
    expect(time.now()).toBeCloseTo(clock.now() + 700, 2)
    await clock.step(1_000)
    expect(time.now()).toBeCloseTo(clock.now() + 700, 2)
    time.atLeast(clock.now())
    expect(time.now()).toBeCloseTo(clock.now() + 700, 2)
  })

  it('is at least as far ahead as an earlier process was', () => {
    const clock = fakeClock()
    const time = new RisingTime(clock)
    time.startAhead(700)
    time.startAhead(300)
    expect(time.now()).toBe(clock.now() + 700)
  })

  it('is one for all that ask for that of a clock', () => {
    const clock = fakeClock()
    expect(risingTimeOf(clock)).toBe(risingTimeOf(clock))
    expect(risingTimeOf(clock)).not.toBe(risingTimeOf(fakeClock()))
  })
})
