import assert from 'node:assert/strict'
import { systemClock } from '@sluice/core'
import type { Scene } from '../scene.ts'

/** Watches, does something, and waits for a wake that comes after it. */
export async function wakes(watching: Scene, act: () => Promise<unknown>): Promise<void> {
  let woken = (_: string | undefined): void => {}
  const wake = new Promise<string | undefined>((resolve) => {
    woken = resolve
  })
  const stop = await watching.driver.watch?.((queue) => woken(queue))
  assert.ok(stop, 'watch answers with how to stop')
  await act()
  const timer = systemClock.startTimer(watching.stage.hintMs, () => woken('too late'))
  timer.ref()
  const queue = await wake
  timer.stop()
  await stop()
  assert.notEqual(queue, 'too late', 'a wake comes')
  if (queue !== undefined) assert.equal(queue, watching.queue)
}
