import assert from 'node:assert/strict'
import { nextTurn, systemClock } from '@sluice/core'
import { realTime } from './real-time.ts'
import type { Scene } from './scene.ts'

/**
 * Watches, runs `act`, and waits until each of `queues` was woken after it. A wake without a queue
 * counts for all queues. Wakes of `earlier` queues may still arrive for changes before it. `look` is the
 * call by which the watcher finds nothing to do.
 */
export async function allWake(
  watching: Scene,
  queues: readonly string[],
  act: () => Promise<unknown>,
  earlier: readonly string[] = [],
  look: (scene: Scene) => Promise<unknown> = (scene) => scene.tick(),
): Promise<void> {
  const missing = new Set(queues)
  const known = new Set([...queues, ...earlier])
  const strangers = new Set<string>()
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const stop = await watching.driver.watch?.((queue) => {
    if (queue === undefined) missing.clear()
    else if (!missing.delete(queue) && !known.has(queue)) strangers.add(queue)
    if (missing.size === 0) end()
  })
  assert.ok(stop, 'watch answers with how to stop')
  // Hints are for watchers whose tick, or claim, found nothing to do.
  for (const queue of queues) await look(watching.on(queue))
  await act()
  // Of a process that was held up, the timer comes before a wake that has arrived meanwhile.
  const timer = systemClock.startTimer(watching.context.hintMs, () => void nextTurn(end))
  timer.ref()
  await ended
  timer.stop()
  await stop()
  assert.deepEqual([...missing], [], 'a wake comes for each')
  assert.deepEqual([...strangers], [], 'no wake names a queue in which nothing was done')
}

/** Watches, runs `act`, and waits for a wake after it. */
export async function wakes(watching: Scene, act: () => Promise<unknown>): Promise<void> {
  await allWake(watching, [watching.queue], act)
}

/** How often `noneWakes` runs it: a store that did not answer for seconds wakes its watchers once it does. */
const runsMax = 3

/** Runs `act`, and asserts that it has woken no watcher after a while. It may be run again, with the next number. */
export async function noneWakes(
  watching: readonly Scene[],
  act: (run: number) => Promise<unknown>,
): Promise<void> {
  // Wakes for earlier changes may still arrive.
  await pause(watching)
  let woken = 0
  const stops = await Promise.all(
    watching.map(({ driver }) =>
      driver.watch?.(() => {
        woken += 1
      }),
    ),
  )
  // A new watcher may be called for earlier changes.
  await pause(watching)
  for (let run = 1; run === 1 || (woken > 0 && run <= runsMax); run += 1) {
    woken = 0
    await act(run)
    await pause(watching)
  }
  for (const stop of stops) await stop?.()
  assert.equal(woken, 0, 'no watcher is woken')
}

/** How long to wait for a wake that must not come, in milliseconds: several polls of a driver. */
const quietMs = 120

async function pause(watching: readonly Scene[]): Promise<void> {
  const ms = Math.min(quietMs, ...watching.map(({ context }) => context.hintMs))
  // Nothing else can show that a wake does not come.
  await realTime(ms)
}
