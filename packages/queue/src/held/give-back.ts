import { SluiceError } from '@sluice/core'
import { leaseLost } from '../core/queue-errors.ts'
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
 *
 * It goes on after the local deadline: the store may still have the key under this token, for which
 * it would count a crash, and a token that is not the key's any more changes nothing.
 */
export function giveBack(
  held: HeldKey<unknown>,
  finish: () => Promise<unknown> = () => held.release(),
): Promise<void> {
  const { owner, token } = held
  const attempts = async (): Promise<void> => {
    for (;;) {
      try {
        await owner.calls.attempt(finish)
      } catch (error) {
        if (owner.phase !== 'closed' && isTransient(error)) {
          owner.calls.reportTrouble(error)
          continue
        }
        const failure = notGivenBack(held.key, error)
        owner.calls.report(failure)
        owner.lose(held, failure)
      }
      return
    }
  }
  const given = attempts().finally(() => owner.returning.delete(token))
  owner.returning.set(token, given)
  return given
}

/**
 * Whether the run of a key may begin. A key whose lease may have expired is lost, and given back in
 * case it has not.
 */
export function mayStart(held: HeldKey<unknown>): boolean {
  const { owner, deadline, isLost } = held
  const isTrusted = deadline === Infinity || deadline > owner.calls.handle.clock.monotonicMs()
  if (isTrusted && !isLost) return true
  owner.lose(held, leaseLost(held.key, 'it ended before work on it could begin'))
  void giveBack(held)
  return false
}
