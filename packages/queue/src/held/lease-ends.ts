import type { Awaitable, ExpireOutcome, Failure, Lease } from '@sluice/core'
import type { QueueCore } from '../core/queue-core.ts'
import { random } from '../environment/environment.ts'

/** For how many leases the end of one is put off if clocks are stepped again and again. */
const leasesMax = 3

/**
 * Acts on leases that the store reports as expired: the only place that calls `expire`.
 *
 * While a clock may have been stepped, the holder of a seemingly expired lease may be healthy.
 * Such a lease is extended to the end of that doubt instead. A healthy holder renews it meanwhile;
 * that of a dead one has expired by then, and is reported again.
 */
export class LeaseEnds {
  readonly #engine: QueueCore
  /** When each token that is in doubt was first reported, on the monotonic clock. */
  readonly #doubted = new Map<number, number>()

  constructor(engine: QueueCore) {
    this.#engine = engine
  }

  /** Ends or extends leases. When the lost runs are due is for the store to say afterwards. */
  end(leases: readonly Lease[]): Awaitable<void> {
    const { clockSteps } = this.#engine
    const { doubtMs } = clockSteps
    if (doubtMs === 0) {
      this.#doubted.clear()
      return this.#expire(leases)
    }
    const over: Lease[] = []
    const doubtful: Lease[] = []
    for (const lease of leases) (this.#isDoubtful(lease) ? doubtful : over).push(lease)
    const extending = doubtful.length === 0 ? undefined : this.#extend(doubtful, doubtMs)
    if (over.length === 0) return extending
    return extending instanceof Promise
      ? extending.then(() => this.#expire(over))
      : this.#expire(over)
  }

  #isDoubtful({ token }: Lease): boolean {
    const now = this.#engine.handle.clock.monotonicMs()
    const since = this.#doubted.get(token) ?? now
    this.#doubted.set(token, since)
    return now - since < leasesMax * this.#engine.clockSteps.leaseMs
  }

  #extend(leases: readonly Lease[], leaseMs: number): Awaitable<void> {
    const { driver, name } = this.#engine
    const extending = this.#engine.call('renew', { leases, leaseMs }, () =>
      driver.renew(name, leases, leaseMs),
    )
    return extending instanceof Promise ? extending.then(() => undefined) : undefined
  }

  #expire(leases: readonly Lease[]): Awaitable<void> {
    const { driver, name, plans } = this.#engine
    const options = { ...plans.expire, jitter: random() }
    const ended = this.#engine.call('expire', { leases, options }, () =>
      driver.expire(name, leases, options),
    )
    return ended instanceof Promise
      ? ended.then((outcomes) => this.#ended(outcomes))
      : this.#ended(ended)
  }

  #ended(outcomes: readonly (ExpireOutcome | Failure)[]): void {
    this.#engine.tally.leasesEnded(outcomes)
  }
}
