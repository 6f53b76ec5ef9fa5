import { randomUUID } from 'node:crypto'
import {
  type Claim,
  type ClaimReply,
  type ClaimRequest,
  type Lease,
  never,
  SluiceError,
} from '@sluice/core'
import type { QueueCore } from '../core/queue-core.ts'
import { HeldKey, type HeldPolicy } from '../held/held-key.ts'
import type { NextDue } from './next-due.ts'

/** Whoever makes claims. */
export interface ClaimCaller {
  isStopped(): boolean
  /** Goes on through trouble with the store. */
  patiently<R>(call: () => Promise<R>): Promise<R>
}

/** What one claim has brought. */
export interface Claimed {
  readonly claims: HeldKey<unknown>[]
  /** Expired leases that have not been ended yet. */
  readonly leaseEnds: readonly Lease[]
  /** A step of a clock was noticed meanwhile, so that the leases may have expired already. */
  readonly isDoubtful: boolean
}

/** The verb claim, from the request to what this process then holds. */
export class ClaimCall {
  readonly #engine: QueueCore
  readonly #outlook: NextDue
  readonly #caller: ClaimCaller

  constructor(engine: QueueCore, outlook: NextDue, caller: ClaimCaller) {
    this.#engine = engine
    this.#outlook = outlook
    this.#caller = caller
  }

  async make(limit: number): Promise<Claimed> {
    const { driver, name, holder, options, handle, keeper, dueBy, clockSteps } = this.#engine
    const { leaseMs } = options
    const request: ClaimRequest = {
      limit,
      holder,
      claimId: randomUUID(),
      leaseMs,
      ...(dueBy === never ? {} : { dueBy }),
    }
    clockSteps.checkWallClock()
    const stepsBefore = clockSteps.count
    let sentAt = handle.clock.monotonicMs()
    let reply: Pick<ClaimReply, 'claims' | 'leaseEnds'>
    try {
      const answer = await this.#engine.opened(() =>
        this.#engine.call('claim', request, () => {
          sentAt = handle.clock.monotonicMs()
          return driver.claim(name, request)
        }),
      )
      this.#outlook.setStoreTime(answer.now, sentAt)
      reply = answer
    } catch (error) {
      if (!SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME') || driver.adopt === undefined) throw error
      reply = { claims: await this.#adopt(request.claimId), leaseEnds: [] }
    }
    // The queue was closed without this answer: what it brings is left to its lease.
    if (this.#caller.isStopped()) return { claims: [], leaseEnds: [], isDoubtful: false }
    clockSteps.checkWallClock()
    const deadline = keeper.deadlineOf(sentAt)
    const claims = reply.claims.map((claim) => this.#hold(claim, deadline))
    return { claims, leaseEnds: reply.leaseEnds, isDoubtful: clockSteps.count !== stepsBefore }
  }

  /** Finds the claims of a request whose answer was lost. */
  async #adopt(claimId: string): Promise<readonly Claim[]> {
    const { driver, name } = this.#engine
    return await this.#caller.patiently(
      async () =>
        await this.#engine.opened(() =>
          this.#engine.call('adopt', { claimId }, () => driver.adopt?.(name, claimId) ?? []),
        ),
    )
  }

  #hold(claim: Claim, deadline: number): HeldKey<unknown> {
    const held = new HeldKey<unknown>(this.#engine, nobodysPolicy)
    held.key = claim.key
    held.itemText = claim.item
    held.token = claim.token
    held.failures = claim.failures
    held.crashes = claim.crashes
    held.priority = claim.priority
    held.askedAt = claim.askedAt
    held.readyAt = claim.readyAt
    held.deadline = deadline
    this.#engine.track(held)
    return held
  }
}

/** Keys that nobody has asked for yet are put back if nobody ever does. */
const nobodysPolicy: HeldPolicy = {
  disposeAs: 'release',
  retryAs: () => ({ delayMs: 0 }),
}
