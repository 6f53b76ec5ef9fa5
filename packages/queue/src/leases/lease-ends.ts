import type { ExpireOutcome, Failure, Lease } from '@sluice/core'
import type { Claims } from '../core/backend.ts'
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
  readonly claims: Pick<Claims, 'giveBackExpired'>
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
 * the lease of a dead one has expired by then, and is reported again. So is a lease of this process
 * whose key never ran: after its event loop was blocked, the keys that it claimed ahead are given back,
 * and no failure may be counted for them.
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
    const { calls, claims, returning } = this.#owner
    const { doubtMs } = this.#clockSteps
    const leaseMs = doubtMs || this.#clockSteps.leaseMs
    claims.giveBackExpired?.()
    if (doubtMs === 0 && returning.size === 0) this.#doubted.clear()
    const doubtful = leases.filter(
      ({ token }) => (doubtMs > 0 || returning.has(token)) && this.#isDoubtful(token),
    )
    const expired = leases.filter((lease) => !doubtful.includes(lease))
    if (doubtful.length > 0) {
      await calls.call('renew', { leases: doubtful, leaseMs }, () =>
        calls.driver.renew(calls.name, doubtful, leaseMs),
      )
    }
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
