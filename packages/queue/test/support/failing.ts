import { nextTurn } from './late-driver.ts'
import type { Scene } from './setups.ts'

/** Lets the calls of a verb fail as often as this. */
export function failing(scene: Scene, verb: string, error: Error, times: number): void {
  let left = times
  scene.late.before = async (call) => {
    await nextTurn()
    if (call.verb !== verb || left <= 0) return
    left -= 1
    throw error
  }
}
