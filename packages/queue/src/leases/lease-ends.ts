import type { ExpireOutcome, Failure, Lease } from '@sluice/core'
import type { RetryPlans } from '../core/retry-plans.ts'
import type { DriverCalls } from '../driver/driver-calls.ts'
import { endedLeases, vanished } from '../driver/remarks.ts'
import { random } from '../environment/environment.ts'
import type { ClockSteps } from './clock-steps.ts'

type ExpireOutcomes = readonly (ExpireOutcome | Failure)[]

/** For how many leases the end of one is put off if clocks are stepped again and again. */
const leasesMax = 3

/** The queue object that finds leases expired. */
export interface LeaseEndsOwner {
  readonly calls: DriverCalls
  readonly plans: RetryPlans
  readonly tally: { leasesEnded(outcomes: ExpireOutcomes): void } | undefined
}

/**
 * Acts on leases that the store reports as expired: the only place where a queue object calls
 * `expire`. `moveQueues`, which has no queue object, calls it too.
 *
 * While a clock may have been stepped, the holder of a seemingly expired lease may be healthy.
 * Such a lease is extended to the end of that doubt instead. A healthy holder renews it meanwhile;
 * the lease of a dead one has expired by then, and is reported again. So are leases of the queue
 * objects of this process, whose event loop was blocked: a key that runs is renewed, as its keeper does as
 * soon as a timer fires; one that was claimed ahead and never ran is given back. No failure is counted for
 * either.
 */
export class LeaseEnds {
  readonly #owner: LeaseEndsOwner
  readonly #clockSteps: ClockSteps
  /** When each token that is in doubt was first reported, on the monotonic clock. */
  readonly #doubted = new Map<number, number>()

  constructor(owner: LeaseEndsOwner, clockSteps: ClockSteps) {
    this.#owner = owner
    this.#clockSteps = clockSteps
  }

  /** Ends or extends leases. The store then knows when the lost runs are due. */
  async end(leases: readonly Lease[]): Promise<void> {
    const { calls, plans, tally } = this.#owner
    const { doubtMs, leaseMs } = this.#clockSteps
    const running = new Set<number>()
    const returning = new Set<number>()
    for (const { owner } of calls.peers) {
      owner?.claims.giveBackExpired?.()
      for (const { token } of owner?.helds.active() ?? []) running.add(token)
      for (const token of owner?.returning.keys() ?? []) returning.add(token)
    }
    if (doubtMs === 0 && returning.size === 0) this.#doubted.clear()
    const doubtful = leases.filter(
      ({ token }) =>
        running.has(token) || ((doubtMs > 0 || returning.has(token)) && this.#isDoubtful(token)),
    )
    const expired = leases.filter((lease) => !doubtful.includes(lease))
    if (doubtful.length > 0) await calls.renew(doubtful, doubtMs || leaseMs)
    if (expired.length === 0) return
    const { driver, name } = calls
    const options = { ...plans.expire, jitter: random(), error: vanished }
    const outcomes = await calls.call('expire', { leases: expired, options }, () =>
      driver.expire(name, expired, options),
    )
    tally?.leasesEnded(outcomes)
    const remarks = endedLeases(expired, outcomes, options.maxCrashes)
    for (const remark of remarks) calls.remark(remark)
  }

  #isDoubtful(token: number): boolean {
    const now = this.#owner.calls.handle.clock.monotonicMs()
    // A doubt of before that the holder has ended by renewing does not count for this one.
    const since = Math.max(this.#doubted.get(token) ?? now, this.#clockSteps.doubtedSince)
    this.#doubted.set(token, since)
    return now - since < leasesMax * this.#clockSteps.leaseMs
  }
}
