import assert from 'node:assert/strict'
import type { Scene } from './scene.ts'

/** Another process on the store, opened. */
export interface OtherScene {
  readonly scene: Scene
  /** Ends the process without warning. */
  kill(): Promise<void>
}

/** Starts another process on the store of `s`. */
export async function otherProcess(s: Scene, holder = 'other'): Promise<OtherScene> {
  const { subject, resources } = s.context
  assert.ok(subject.otherProcess, 'the case needs otherProcess')
  const other = await subject.otherProcess()
  const scene = await s.openOn(other.driver, holder, `${holder}: `).catch(async (error) => {
    await other.kill()
    throw error
  })
  return {
    scene,
    async kill() {
      s.log.write(`${holder} is killed`)
      resources.release(scene.driver)
      await other.kill()
    },
  }
}

/** Cuts the power, and opens a driver on the store as it is afterwards. */
export async function afterPowerCut(s: Scene): Promise<Scene> {
  const { subject, resources } = s.context
  assert.ok(subject.cutPower, 'the case needs cutPower')
  s.log.write('the power is cut')
  const next = await subject.cutPower()
  // The store does not need this, but the drivers may have resources open in this process.
  await resources.closeBroken()
  return await s.openOn(next, 'one', 'after the cut: ')
}
