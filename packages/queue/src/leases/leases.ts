// This folder is what a queue object does about leases: it renews its own, ends those that expired
// elsewhere, and notices steps of clocks. It is loaded where there are leases.

import type { SluiceError } from '@sluice/core'
import type { Claims } from '../core/backend.ts'
import type { HeldKey } from '../held/held-key.ts'
import type { HeldSet } from '../held/held-set.ts'
import { AgeKeeper, type HoldKeeper } from '../held/hold-keeper.ts'
import { ClockSteps } from './clock-steps.ts'
import { type CommitOwner, CommitWatch } from './commit-watch.ts'
import { LeaseEnds, type LeaseEndsOwner } from './lease-ends.ts'
import { LeaseKeeper } from './lease-keeper.ts'

/** The queue object whose leases these are. */
export interface LeaseOwner extends CommitOwner, LeaseEndsOwner {
  readonly helds: HeldSet
  readonly claims: Claims
  lose(held: HeldKey<unknown>, error: SluiceError): void
}

/** The leases of one queue object, and those of others that it finds expired. */
export class Leases {
  readonly clockSteps: ClockSteps
  readonly ends: LeaseEnds
  readonly keeper: HoldKeeper
  readonly commitWatch: CommitWatch

  constructor(owner: LeaseOwner) {
    const { calls, helds } = owner
    this.clockSteps = new ClockSteps(calls, () => {
      this.keeper.onClockStep()
      void owner.claims.releasePrefetched()
    })
    this.ends = new LeaseEnds(owner, this.clockSteps)
    this.keeper =
      calls.options.leaseMs === Infinity
        ? new AgeKeeper(helds)
        : new LeaseKeeper(calls, helds, this.clockSteps, (held, error) => owner.lose(held, error))
    this.commitWatch = new CommitWatch(calls, owner)
  }
}
