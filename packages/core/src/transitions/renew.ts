import type { RenewOutcome } from '../driver/outcomes.ts'
import type { EpochMs } from '../time/clock.ts'
import { isHeldBy } from './finish.ts'
import type { KeyState } from './key-state.ts'

/** renew: the lease lasts at least until `leaseUntil`. */
export function renew(state: KeyState, token: number, leaseUntil: EpochMs): RenewOutcome {
  if (!isHeldBy(state, token)) return 'lost'
  // A lease that does not expire is longer than any other.
  if (leaseUntil > state.leaseUntil) state.leaseUntil = leaseUntil
  return 'renewed'
}
