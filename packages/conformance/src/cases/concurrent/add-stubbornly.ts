import assert from 'node:assert/strict'
import { type AskReply, type Failure, SluiceError } from '@sluice/core'
import type { Scene } from '../../scene/scene.ts'
import { type AskParts, succeeded } from '../../scene/scene-parts.ts'

/**
 * More than fit into the time of a case where each waits for a lock: that time is the limit, except for
 * a driver that rejects without waiting.
 */
const attemptsMax = 1_000

/** Adds keys again while another driver has locked them, all or some, as a queue does. */
export async function addStubbornly(
  scene: Scene,
  keys: readonly string[],
  parts: AskParts = {},
): Promise<readonly AskReply[]> {
  const added: AskReply[] = []
  let left = keys
  for (let attempt = 1; left.length > 0; attempt += 1) {
    const isLast = attempt === attemptsMax
    try {
      const asks = left.map((key) => scene.ask(key, parts))
      const replies = await scene.driver.add(scene.queue, asks, scene.options())
      assert.equal(replies.length, left.length, 'one answer for each ask')
      left = left.filter((_, at) => {
        const reply = replies[at] as AskReply | Failure
        if (!isLast && isFailure(reply) && isBusy(reply.error)) return true
        added.push(succeeded<AskReply>(reply))
        return false
      })
    } catch (error) {
      if (isLast || !isBusy(error)) throw error
    }
  }
  return added
}

function isFailure(reply: AskReply | Failure): reply is Failure {
  return reply.outcome === 'failed'
}

function isBusy(error: unknown): boolean {
  return SluiceError.is(error, 'ERR_STORE_BUSY')
}
