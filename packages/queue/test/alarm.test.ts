import { fakeClock } from '@sluice/core/testing'
import { describe, expect, test } from 'vitest'
import { Alarm } from '../src/core/alarm.ts'

/** An alarm that is set again each time it goes off, as if something were due in `inMs`. */
function ringing(wall: number, inMs: () => number) {
  const clock = fakeClock(wall)
  const rings: number[] = []
  const alarm: Alarm = new Alarm(
    () => clock,
    false,
    () => ({ isWanted: true, isWaitedFor: false, inMs: inMs() }),
    () => {
      rings.push(clock.monotonicMs())
      alarm.set()
    },
  )
  alarm.set()
  return { clock, rings, alarm }
}

describe('an alarm', () => {
  test.each([0, 1_763_726_400_000 + 1 / 3, 8_640_000_000_000_000])(
    'that rings in vain lets time go on, on a wall of %d',
    async (wall) => {
      const { clock, rings, alarm } = ringing(wall, () => 0)
      await clock.step(10)
      expect(rings).toHaveLength(11)
      alarm.off()
    },
  )

  test('that is set for less than the resolution of the clock lets time continue', async () => {
    const { clock, rings, alarm } = ringing(8_640_000_000_000_000, () => 0.3)
    await clock.step(10)
    expect(rings).toHaveLength(11)
    alarm.off()
  })

  test('goes off on time within the resolution of the clock, however soon that is', async () => {
    const { clock, rings, alarm } = ringing(1_000_000, () => 0.25)
    await clock.step(1)
    expect(rings).toEqual([0.25, 0.5, 0.75, 1])
    alarm.off()
  })
})
