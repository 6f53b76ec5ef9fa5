import { describe, expect, test } from 'vitest'
import {
  batchedSetups,
  cutOff,
  leasedSetups,
  Scene,
  SteppedWorker,
  seen,
  setups,
  take,
} from '../support/setups.ts'

/** Wall clocks by which sums of instants are rounded: fractions, and where doubles are whole numbers. */
const wallTimes = [
  1_000_000.1,
  1_763_726_400_000 + 1 / 3,
  1_763_726_400_000 + 2 ** -12,
  4_503_599_627_370_495.5,
  8_639_999_999_000_000,
  8_640_000_000_000_000,
]

const delays = [0.05, 0.3, 0.5, 1 / 3, 1.000_1, 5.3, 33.333, 12_345.678]

/** A scene with such a wall clock, at a monotonic time that is no whole number either. */
async function oddScene(setup: (typeof setups)[number], wallTime: number): Promise<Scene> {
  const scene = new Scene(setup)
  await scene.clock.step(0.7)
  scene.clock.setTime(wallTime)
  return scene
}

// A timer that fires, finds nothing due and is set for the same instant again makes `step` reject.

describe.each(setups)('on odd instants, over $way', (setup) => {
  test.each(wallTimes)(
    'delayed keys come when they are due, with a wall clock of %d',
    async (wallTime) => {
      const scene = await oddScene(setup, wallTime)
      const queue = scene.delaying()
      for (const delay of delays) {
        const getting = seen(queue.get())
        await scene.quiet()
        await queue.addAfter('k', delay)
        await scene.clock.step(delay + 2)
        expect(getting.state, `a delay of ${delay}`).toBe('resolved')
        await getting.value?.done()
        await scene.clock.step(0.37)
      }
    },
  )

  test.each(wallTimes)('failed keys come back, with a wall clock of %d', async (wallTime) => {
    const scene = await oddScene(setup, wallTime)
    const queue = scene.limited()
    await queue.add('k')
    for (let failures = 0; failures < 12; failures += 1) {
      const held = await take(queue)
      await held.retry()
      const getting = seen(queue.get())
      await scene.clock.step(5 * 2 ** failures + 2)
      expect(getting.state, `after ${failures + 1} failures`).toBe('resolved')
      await getting.value?.release()
      await scene.clock.step(0.21)
    }
  })
})

describe.each(leasedSetups)('leases on odd instants, over $way', (setup) => {
  test.each(wallTimes)(
    'end when they are not renewed, with a wall clock of %d',
    async (wallTime) => {
      for (const leaseMs of [333.3, 1_000 / 3, 1_234.567, 12_345.678_9]) {
        const scene = await oddScene(setup, wallTime)
        const queue = scene.queue({ leaseMs })
        await queue.addMany(['a', 'b'])
        const [first] = await queue.getMany(1)
        await scene.clock.step(0.123)
        const [second] = await queue.getMany(1)
        scene.inner.renew = cutOff
        await scene.clock.step(leaseMs + 1)
        expect([first?.signal.aborted, second?.signal.aborted]).toEqual([true, true])
        scene.takeErrors()
        await scene.end()
      }
    },
  )

  test.each(wallTimes)(
    'are given back if no run begins, with a wall clock of %d',
    async (wallTime) => {
      for (const leaseMs of [333.3, 1_000 / 3, 1_234.567]) {
        const scene = await oddScene(setup, wallTime)
        const queue = scene.queue({ leaseMs, prefetch: 4 })
        await queue.addMany(['a', 'b', 'c'])
        const stepped = new SteppedWorker(queue)
        await scene.quiet()
        expect(await scene.states()).toMatchObject({ b: 'processing' })
        await scene.clock.step(102)
        expect(await scene.states()).toMatchObject({ a: 'processing', b: 'ready', c: 'ready' })
        stepped.end()
        await scene.quiet()
        stepped.end()
        await scene.quiet()
        stepped.end()
        await stepped.worker.stop()
        await scene.end()
      }
    },
  )
})

describe.each(batchedSetups)(
  'keys that others have locked, on odd instants, over $way',
  (setup) => {
    test.each(wallTimes)(
      'are due again after a while, with a wall clock of %d',
      async (wallTime) => {
        const scene = await oddScene(setup, wallTime)
        const { claim } = scene.inner
        let claims = 0
        scene.inner.claim = function (...args) {
          claims += 1
          return claims <= 10
            ? { claims: [], leaseEnds: [], now: scene.clock.now() }
            : claim.apply(this, args)
        }
        const queue = scene.queue()
        const getting = seen(queue.get())
        await scene.quiet()
        await queue.add('k')
        await scene.clock.step(5_000)
        expect(getting.state).toBe('resolved')
        expect(claims).toBeLessThan(20)
        await getting.value?.done()
      },
    )
  },
)

describe.each(setups)('a wall clock in whole milliseconds, over $way', (setup) => {
  test('a delay of less comes in time', async () => {
    const scene = new Scene(setup)
    const { clock } = scene
    // No notification comes for changes by this very queue object.
    Object.assign(scene.inner, { watch: undefined })
    const whole = {
      now: () => Math.floor(clock.now()),
      monotonicMs: () => clock.monotonicMs(),
      startTimer: clock.startTimer.bind(clock),
      startTicker: clock.startTicker.bind(clock),
    }
    const queue = scene.limited({ clock: whole })
    for (let at = 0; at < 40; at += 1) {
      const getting = seen(queue.get())
      await scene.quiet()
      // The estimate of the store's time is ahead of it by now.
      await clock.step(0.45)
      await queue.addAfter('k', 0.3)
      await clock.step(3)
      expect(getting.state, `the ${at}th time`).toBe('resolved')
      await getting.value?.done()
      await clock.step(0.17)
    }
  })
})
