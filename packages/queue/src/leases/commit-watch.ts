import { batchKeysMax, type Lease, systemClock } from '@sluice/core'
import type { Phase } from '../core/queue-errors.ts'
import type { DriverCalls } from '../driver/driver-calls.ts'
import { retryDelayMs } from '../driver/retryable.ts'
import type { HeldKey } from '../held/held-key.ts'

/** How long to wait between looking whether transactions of the caller's have committed. */
const checkDelay = { first: 5, longest: 1_000 }

/** A key that was given back in a transaction whose end is not known. */
interface UnknownFinish {
  readonly lease: Lease
  // Its user needs it no more after a commit. Until that is known, a Held that is collected would be reported as dropped.
  readonly held: HeldKey<unknown>
}

/** The queue object that hands out the keys. */
export interface CommitOwner {
  readonly phase: Phase
  /** A transaction of the caller's that gave back a key has committed. */
  committed(held: HeldKey<unknown>): void
}

/**
 * Finds out whether the transactions have committed in which keys were given back, by renewing the
 * leases of these keys. While the transaction is open the renewal fails, since the row is locked;
 * after a commit the lease is lost; after a rollback it is renewed.
 */
export class CommitWatch {
  readonly #calls: DriverCalls
  readonly #owner: CommitOwner
  readonly #unknown = new Map<number, UnknownFinish>()
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
    this.#unknown.set(token, { lease: { key, token }, held })
    this.#tries = 0
    if (!this.#isRunning) void this.#run()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#unknown.size > 0) {
      this.#tries += 1
      await unreferencedPause(retryDelayMs(this.#tries, checkDelay))
      try {
        await this.#check()
      } catch (error) {
        this.#calls.reportTrouble(error)
      }
    }
    this.#isRunning = false
  }

  async #check(): Promise<void> {
    for (const [token, { held }] of this.#unknown) {
      if (!this.#isOpen(held)) this.#unknown.delete(token)
    }
    const unknown = [...this.#unknown.values()].slice(0, batchKeysMax)
    if (unknown.length === 0) return
    const calls = this.#calls
    const leases = unknown.map(({ lease }) => lease)
    const replies = await calls.attempt(() => calls.renew(leases, calls.options.leaseMs), false)
    unknown.forEach((finish, index) => {
      const outcome = replies[index]?.outcome
      if (outcome === 'lost' || outcome === 'renewed') this.#resolve(finish, outcome === 'lost')
    })
  }

  #resolve(finish: UnknownFinish, hasCommitted: boolean): void {
    const { held } = finish
    // The answer is for an earlier finish of the key, in another transaction.
    if (this.#unknown.get(finish.lease.token) !== finish) return
    this.#unknown.delete(finish.lease.token)
    if (!this.#isOpen(held)) return
    if (hasCommitted) this.#owner.committed(held)
    else held.mayBeGivenBack = false
  }

  #isOpen({ phase, isLost }: HeldKey<unknown>): boolean {
    return phase === 'held' && !isLost && this.#owner.phase !== 'closed'
  }
}

function unreferencedPause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    systemClock.startTimer(ms, resolve)
  })
}
