import assert from 'node:assert/strict'
import type { Transfer } from '@sluice/core'
import type { Scene } from './scene.ts'

/** The verbs of a driver that move keys to another store. */
export function transferVerbs({ driver }: Scene): Transfer {
  assert.ok(driver.transfer, 'the driver has verbs to move keys')
  return driver.transfer
}
