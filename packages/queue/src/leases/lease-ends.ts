import type { ExpireOutcome, Failure, Lease } from '@sluice/core'
import type { Claims } from '../core/backend.ts'
import type { RetryPlans } from '../core/retry-plans.ts'
import type { DriverCalls } from '../driver/driver-calls.ts'
import { endedLeases, vanished } from '../driver/remarks.ts'
import { random } from '../environment/environment.ts'
import type { HeldSet } from '../held/held-set.ts'
import type { ClockSteps } from './clock-steps.ts'

type ExpireOutcomes = readonly (ExpireOutcome | Failure)[]

/** For how many leases the end of one is put off if clocks are stepped again and again. */
const leasesMax = 3

/** The queue object that finds leases expired. */
export interface LeaseEndsOwner {
  readonly calls: DriverCalls
  readonly plans: RetryPlans
  readonly claims: Pick<Claims, 'giveBackExpired'>
  readonly helds: Pick<HeldSet, 'active'>
  /** Keys that are being given back without having run, by their tokens. */
  readonly returning: ReadonlyMap<number, unknown>
  readonly tally: { leasesEnded(outcomes: ExpireOutcomes): void } | undefined
}

/**
 * Acts on leases that the store reports as expired: the only place where a queue object calls
 * `expire`. `moveQueues`, which has no queue object, calls it too.
 *
 * While a clock may have been stepped, the holder of a seemingly expired lease may be healthy.
 * Such a lease is extended to the end of that doubt instead. A healthy holder renews it meanwhile;
 * the lease of a dead one has expired by then, and is reported again. So are leases of this queue
 * object, whose event loop was blocked: a key that runs is renewed, as its keeper does as soon as a timer
 * fires; one that was claimed ahead and never ran is given back. No failure is counted for either.
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
    const { calls, claims, helds, returning } = this.#owner
    const { doubtMs } = this.#clockSteps
    const leaseMs = doubtMs || this.#clockSteps.leaseMs
    claims.giveBackExpired?.()
    if (doubtMs === 0 && returning.size === 0) this.#doubted.clear()
    const own = helds.active()
    const doubtful = leases.filter(
      ({ token }) =>
        own.some((held) => held.token === token) ||
        ((doubtMs > 0 || returning.has(token)) && this.#isDoubtful(token)),
    )
    const expired = leases.filter((lease) => !doubtful.includes(lease))
    if (doubtful.length > 0) await calls.renew(doubtful, leaseMs)
    if (expired.length > 0) await this.#expire(expired)
  }

  #isDoubtful(token: number): boolean {
    const now = this.#owner.calls.handle.clock.monotonicMs()
    const since = this.#doubted.get(token) ?? now
    this.#doubted.set(token, since)
    return now - since < leasesMax * this.#clockSteps.leaseMs
  }

  async #expire(leases: readonly Lease[]): Promise<void> {
    const { calls, plans, tally } = this.#owner
    const { driver, name } = calls
    const options = { ...plans.expire, jitter: random(), error: vanished }
    const outcomes = await calls.call('expire', { leases, options }, () =>
      driver.expire(name, leases, options),
    )
    tally?.leasesEnded(outcomes)
    const remarks = endedLeases(leases, outcomes, options.maxCrashes)
    for (const remark of remarks) calls.remark(remark)
  }
}
