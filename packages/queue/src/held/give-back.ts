import { SluiceError } from '@sluice/core'
import { isTransient } from '../driver/retryable.ts'
import type { HeldKey } from './held-key.ts'

function notGivenBack(key: string, cause: unknown): SluiceError {
  return new SluiceError(
    'ERR_LEASE_LOST',
    `key ${JSON.stringify(key)} could not be given back; it runs again when its lease ends`,
    { cause },
  )
}

/**
 * Gives back a key that does not run in this process, however long that takes while the queue is
 * open. A key that cannot be given back is no longer renewed, so that its lease expires.
 */
export async function giveBack(
  held: HeldKey<unknown>,
  finish: () => Promise<unknown> = () => held.release(),
): Promise<void> {
  const { owner } = held
  for (;;) {
    try {
      await owner.calls.attempt(finish)
      return
    } catch (error) {
      if (owner.phase !== 'closed' && !held.isLost && isTransient(error)) {
        owner.calls.reportTrouble(error)
        continue
      }
      const failure = notGivenBack(held.key, error)
      owner.calls.report(failure)
      owner.lose(held, failure)
      return
    }
  }
}
