// This folder is what a queue object does about leases: it renews its own, ends those that expired
// elsewhere, and notices steps of clocks. It is loaded where there are leases.

import type { Awaitable, ExpireOutcome, Failure, SluiceError } from '@sluice/core'
import type { RetryPlans } from '../core/retry-plans.ts'
import type { DriverCalls } from '../driver/driver-calls.ts'
import type { HeldKey } from '../held/held-key.ts'
import type { HeldSet } from '../held/held-set.ts'
import { AgeKeeper, type HoldKeeper } from '../held/hold-keeper.ts'
import { ClockSteps } from './clock-steps.ts'
import { type CommitOwner, CommitWatch } from './commit-watch.ts'
import { LeaseEnds } from './lease-ends.ts'
import { LeaseKeeper } from './lease-keeper.ts'

/** The queue object whose leases these are. */
export interface LeaseOwner extends CommitOwner {
  readonly calls: DriverCalls
  readonly helds: HeldSet
  readonly plans: RetryPlans
  readonly claims: { releasePrefetched(): Awaitable<void> }
  readonly tally: { leasesEnded(outcomes: readonly (ExpireOutcome | Failure)[]): void } | undefined
  lose(held: HeldKey<unknown>, error: SluiceError): void
}

/** The leases of one queue object, and those of others that it finds expired. */
export class Leases {
  readonly clockSteps: ClockSteps
  readonly ends: LeaseEnds
  readonly keeper: HoldKeeper
  readonly commitWatch: CommitWatch

  constructor(owner: LeaseOwner) {
    const { calls, helds, plans } = owner
    this.clockSteps = new ClockSteps(calls, () => {
      this.keeper.onClockStep()
      void owner.claims.releasePrefetched()
    })
    this.ends = new LeaseEnds(calls, this.clockSteps, plans, (outcomes) =>
      owner.tally?.leasesEnded(outcomes),
    )
    this.keeper =
      calls.options.leaseMs === Infinity
        ? new AgeKeeper(helds)
        : new LeaseKeeper(calls, helds, this.clockSteps, (held, error) => owner.lose(held, error))
    this.commitWatch = new CommitWatch(calls, owner)
  }
}
