import { fakeClock } from '@sluice/core/testing'
import { describe, expect, test } from 'vitest'
import { Alarm } from '../../src/core/alarm.ts'

/** An alarm that is set again each time it goes off, as if something were due in `inMs`. */
function alarmWith(wall: number, inMs: () => number) {
  const clock = fakeClock(wall)
  const alarms: number[] = []
  const startMs = clock.monotonicMs()
  const alarm: Alarm = new Alarm(
    () => clock,
    false,
    () => ({ isWanted: true, isWaitedFor: false, inMs: inMs() }),
    () => {
      alarms.push(clock.monotonicMs() - startMs)
      alarm.set()
    },
  )
  alarm.set()
  return { clock, alarms, alarm }
}

describe('an alarm', () => {
  test.each([0, 1_763_726_400_000 + 1 / 3, 8_640_000_000_000_000])(
    'that goes off in vain lets time continue, with a wall clock of %d',
    async (wall) => {
      const { clock, alarms, alarm } = alarmWith(wall, () => 0)
      await clock.step(10)
      expect(alarms).toHaveLength(11)
      alarm.off()
    },
  )

  test('that is set for less than the resolution of the clock lets time continue', async () => {
    const { clock, alarms, alarm } = alarmWith(8_640_000_000_000_000, () => 0.3)
    await clock.step(10)
    expect(alarms).toHaveLength(11)
    alarm.off()
  })

  test('goes off on time within the resolution of the clock, however soon that is', async () => {
    const { clock, alarms, alarm } = alarmWith(1_000_000, () => 0.25)
    await clock.step(1)
    expect(alarms).toEqual([0.25, 0.5, 0.75, 1])
    alarm.off()
  })
})
