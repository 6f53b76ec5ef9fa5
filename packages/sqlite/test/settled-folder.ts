import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect } from 'vitest'
import type { fakeEnvironment } from './store.ts'

/**
 * Gives an environment the wall clock of the system, after nothing has changed in the folder of a file for a
 * moment. This takes real time: the file system has no other clock.
 */
export async function useSettledFolder(
  file: string,
  environment: ReturnType<typeof fakeEnvironment>,
): Promise<void> {
  const folder = dirname(file)
  await expect.poll(() => Date.now() - statSync(folder).ctimeMs).toBeGreaterThan(100)
  environment.clock.now = () => Date.now()
}
