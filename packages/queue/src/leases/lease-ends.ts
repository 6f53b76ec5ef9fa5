import type { Awaitable, ExpireOutcome, Failure, Lease } from '@sluice/core'
import type { RetryPlans } from '../core/retry-plans.ts'
import type { DriverCalls } from '../driver/driver-calls.ts'
import { endedLeases, vanished } from '../driver/remarks.ts'
import { random } from '../environment/environment.ts'
import type { ClockSteps } from './clock-steps.ts'

type ExpireOutcomes = readonly (ExpireOutcome | Failure)[]

/** For how many leases the end of one is put off if clocks are stepped again and again. */
const leasesMax = 3

/**
 * Acts on leases that the store reports as expired: the only place where a queue object calls
 * `expire`. `moveQueues`, which has no queue object, calls it too.
 *
 * While a clock may have been stepped, the holder of a seemingly expired lease may be healthy.
 * Such a lease is extended to the end of that doubt instead. A healthy holder renews it meanwhile;
 * the lease of a dead one has expired by then, and is reported again.
 */
export class LeaseEnds {
  readonly #calls: DriverCalls
  readonly #clockSteps: ClockSteps
  readonly #plans: RetryPlans
  readonly #onEnded: (outcomes: ExpireOutcomes) => void
  /** When each token that is in doubt was first reported, on the monotonic clock. */
  readonly #doubted = new Map<number, number>()

  constructor(
    calls: DriverCalls,
    clockSteps: ClockSteps,
    plans: RetryPlans,
    onEnded: (outcomes: ExpireOutcomes) => void,
  ) {
    this.#calls = calls
    this.#clockSteps = clockSteps
    this.#plans = plans
    this.#onEnded = onEnded
  }

  /** Ends or extends leases. The store then knows when the lost runs are due. */
  end(leases: readonly Lease[]): Awaitable<void> {
    const { doubtMs } = this.#clockSteps
    if (doubtMs === 0) {
      this.#doubted.clear()
      return this.#expire(leases)
    }
    const expired: Lease[] = []
    const doubtful: Lease[] = []
    for (const lease of leases) (this.#isDoubtful(lease) ? doubtful : expired).push(lease)
    const extending = doubtful.length === 0 ? undefined : this.#extend(doubtful, doubtMs)
    if (expired.length === 0) return extending
    return extending instanceof Promise
      ? extending.then(() => this.#expire(expired))
      : this.#expire(expired)
  }

  #isDoubtful({ token }: Lease): boolean {
    const now = this.#calls.handle.clock.monotonicMs()
    const since = this.#doubted.get(token) ?? now
    this.#doubted.set(token, since)
    return now - since < leasesMax * this.#clockSteps.leaseMs
  }

  #extend(leases: readonly Lease[], leaseMs: number): Awaitable<void> {
    const { driver, name } = this.#calls
    const extending = this.#calls.call('renew', { leases, leaseMs }, () =>
      driver.renew(name, leases, leaseMs),
    )
    return extending instanceof Promise ? extending.then(() => undefined) : undefined
  }

  #expire(leases: readonly Lease[]): Awaitable<void> {
    const { driver, name } = this.#calls
    const options = { ...this.#plans.expire, jitter: random(), error: vanished }
    const ended = this.#calls.call('expire', { leases, options }, () =>
      driver.expire(name, leases, options),
    )
    const tell = (outcomes: ExpireOutcomes): void => {
      this.#onEnded(outcomes)
      const remarks = endedLeases(leases, outcomes, options.maxCrashes)
      for (const remark of remarks) this.#calls.remark(remark)
    }
    return ended instanceof Promise ? ended.then(tell) : tell(ended)
  }
}
