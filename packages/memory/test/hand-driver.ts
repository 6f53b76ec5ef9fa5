import { type AskOptions, type Claim, type ClaimReply, type Driver, never } from '@sluice/core'
import { memoryDriver } from '../src/index.ts'
import { HandClock } from './hand-clock.ts'

/** Options of an add that no test is about. */
export const options: AskOptions = { dedupe: 'client-go', failuresExpireMs: 86_400_000 }

/** A driver that is open, on a clock that a test moves by hand. */
export function open(clock = new HandClock()): { driver: Driver; clock: HandClock } {
  const driver = memoryDriver()
  void driver.open({ clock })
  return { driver, clock }
}

/** Claims keys of the queue of the tests. */
export function claim(driver: Driver, limit: number, leaseMs = never): readonly Claim[] {
  const request = { limit, leaseMs, holder: 'h', claimId: 'c' }
  return (driver.claim('q', request) as ClaimReply).claims
}
