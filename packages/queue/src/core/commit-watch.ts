import { batchKeysMax, type Lease, systemClock } from '@sluice/core'
import type { DriverCalls } from '../driver/driver-calls.ts'
import { retryDelayMs } from '../driver/retryable.ts'
import type { HeldKey } from '../held/held-key.ts'
import type { Phase } from './refusals.ts'

/** How long to wait between looking whether transactions of the caller's have committed. */
const commitPatience = { first: 5, longest: 1_000 }

/** A key that was given back in a transaction whose end is not known. */
interface Doubt {
  readonly lease: Lease
  // Weakly: a Held that is dropped after a rollback must still be noticed.
  readonly ref: WeakRef<HeldKey<unknown>>
}

/** The queue object that hands out the keys. */
export interface CommitOwner {
  readonly phase: Phase
  /** A transaction of the caller's that gave back a key has committed. */
  committed(held: HeldKey<unknown>): void
}

/**
 * Finds out whether the transactions have committed in which keys were given back, by renewing their
 * leases: while a transaction is open that fails, since the row is locked; after a commit the lease
 * is lost, and after a rollback it is renewed.
 */
export class CommitWatch {
  readonly #calls: DriverCalls
  readonly #owner: CommitOwner
  readonly #doubts = new Map<number, Doubt>()
  #isRunning = false
  #tries = 0

  constructor(calls: DriverCalls, owner: CommitOwner) {
    this.#calls = calls
    this.#owner = owner
  }

  /** A key was given back in a transaction of the caller's. */
  add(held: HeldKey<unknown>): void {
    const { key, token } = held
    held.mayBeGivenBack = true
    this.#doubts.set(token, { lease: { key, token }, ref: new WeakRef(held) })
    this.#tries = 0
    if (!this.#isRunning) void this.#run()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#doubts.size > 0) {
      this.#tries += 1
      await unreferencedPause(retryDelayMs(this.#tries, commitPatience))
      try {
        await this.#look()
      } catch (error) {
        this.#calls.reportTrouble(error)
      }
    }
    this.#isRunning = false
  }

  async #look(): Promise<void> {
    for (const [token, { ref }] of this.#doubts) {
      if (!this.#isOpen(ref.deref())) this.#doubts.delete(token)
    }
    const doubts = [...this.#doubts.values()].slice(0, batchKeysMax)
    if (doubts.length === 0) return
    const { driver, name, options } = this.#calls
    const { leaseMs } = options
    const leases = doubts.map(({ lease }) => lease)
    const replies = await this.#calls.attempt(
      () =>
        this.#calls.call('renew', { leases, leaseMs }, () => driver.renew(name, leases, leaseMs)),
      false,
    )
    doubts.forEach((doubt, at) => {
      const outcome = replies[at]?.outcome
      if (outcome === 'lost' || outcome === 'renewed') this.#settle(doubt, outcome === 'lost')
    })
  }

  #settle(doubt: Doubt, hasCommitted: boolean): void {
    const held = doubt.ref.deref()
    // A later finish of the key, in another transaction, is not what was asked about.
    if (this.#doubts.get(doubt.lease.token) !== doubt) return
    this.#doubts.delete(doubt.lease.token)
    if (!this.#isOpen(held)) return
    if (hasCommitted) this.#owner.committed(held)
    else held.mayBeGivenBack = false
  }

  #isOpen(held: HeldKey<unknown> | undefined): held is HeldKey<unknown> {
    return held?.phase === 'held' && !held.isLost && this.#owner.phase !== 'closed'
  }
}

function unreferencedPause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    systemClock.startTimer(ms, resolve)
  })
}
