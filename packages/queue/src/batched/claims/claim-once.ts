import {
  type Claim,
  type ClaimReply,
  type ClaimRequest,
  heartbeatMs,
  type Lease,
  never,
  SluiceError,
  type Timer,
} from '@sluice/core'
import type { QueueCore } from '../../core/queue-core.ts'
import type { DriverCalls } from '../../driver/driver-calls.ts'
import { randomName } from '../../environment/environment.ts'
import { inTime } from '../../environment/timing.ts'
import { giveBack } from '../../held/give-back.ts'
import { HeldKey, type HeldPolicy } from '../../held/held-key.ts'
import type { NextDue } from './next-due.ts'
import { untilAnswered } from './until-answered.ts'

/** The loop that makes claims. */
export interface ClaimCaller {
  readonly isStopped: boolean
  /** The timers of claims without an answer that are looked for once more. */
  readonly lateLooks: Set<Timer>
}

/** The keys of one claim. */
export interface Claimed {
  readonly claims: HeldKey<unknown>[]
  /** Expired leases that have not been ended yet. */
  readonly leaseEnds: readonly Lease[]
  /** A step of a clock was detected meanwhile, so that the leases may have expired already. */
  readonly isDoubtful: boolean
}

/** Keys that were claimed for no getter yet are put back if none ever comes. */
const unclaimedPolicy: HeldPolicy = {
  disposeAs: 'release',
  retryAs: () => ({ delayMs: 0 }),
}

/**
 * Makes one claim of at most `limit` keys, from the request to the keys that this process holds.
 */
export async function claimOnce(
  core: QueueCore,
  nextDue: NextDue,
  caller: ClaimCaller,
  limit: number,
): Promise<Claimed> {
  const { calls, keeper, dueBy } = core
  const { clockSteps } = nextDue.leases
  const { driver, name, holder, options, handle } = calls
  const { leaseMs } = options
  const request: ClaimRequest = {
    limit,
    holder,
    claimId: randomName(),
    leaseMs,
    ...(dueBy === never ? {} : { dueBy }),
  }
  clockSteps.checkWallClock()
  const stepsBefore = clockSteps.count
  let sentAt = handle.clock.monotonicMs()
  let reply: Pick<ClaimReply, 'claims' | 'leaseEnds'>
  try {
    const answer = await calls.call('claim', request, () => {
      sentAt = handle.clock.monotonicMs()
      return driver.claim(name, request)
    })
    nextDue.setStoreTime(answer.now, sentAt)
    reply = answer
  } catch (error) {
    if (!SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME') || driver.adopt === undefined) throw error
    const claims = await untilAnswered(core, () => adopt(calls, request.claimId))
    reply = { claims, leaseEnds: [] }
    if (claims.length === 0 && !caller.isStopped) releaseLate(core, caller, request.claimId)
  }
  // The queue was closed without this answer: the keys in it are left to their leases.
  if (caller.isStopped) return { claims: [], leaseEnds: [], isDoubtful: false }
  clockSteps.checkWallClock()
  const deadline = keeper.deadlineOf(sentAt)
  const claims = reply.claims.map((claim) => hold(core, claim, deadline))
  return { claims, leaseEnds: reply.leaseEnds, isDoubtful: clockSteps.count !== stepsBefore }
}

/** Finds the claims of a request whose answer was lost. */
async function adopt(calls: DriverCalls, claimId: string): Promise<readonly Claim[]> {
  const { driver, name } = calls
  return await calls.call('adopt', { claimId }, () => driver.adopt?.(name, claimId) ?? [])
}

/**
 * Looks once more for a claim without an answer, and releases its keys: the server may have been at work on it
 * while it was looked for, or a pooler may have sent it later. Otherwise they would be held for nobody until their
 * leases end, and count a crash.
 */
function releaseLate(core: QueueCore, { lateLooks }: ClaimCaller, claimId: string): void {
  const { calls, keeper } = core
  const { clock } = calls.handle
  const look = clock.startTimer(Math.min(calls.options.leaseMs / 3, heartbeatMs), () => {
    lateLooks.delete(look)
    const deadline = keeper.deadlineOf(clock.monotonicMs())
    adopt(calls, claimId).then(
      (claims) => {
        for (const claim of claims) void giveBack(hold(core, claim, deadline))
      },
      (error: unknown) => calls.reportTrouble(error),
    )
  })
  lateLooks.add(look)
}

function hold(core: QueueCore, claim: Claim, deadline: number): HeldKey<unknown> {
  const held = new HeldKey<unknown>(core, unclaimedPolicy)
  held.key = claim.key
  held.itemText = claim.item
  held.token = claim.token
  held.failures = claim.failures
  held.crashes = claim.crashes
  held.priority = claim.priority
  held.askedAt = claim.askedAt
  held.readyAt = claim.readyAt
  held.deadline = deadline
  core.track(held)
  return held
}

/** The result of one claim, after its keys were handed out. */
export interface ClaimResult {
  readonly count: number
  /** A key that has crashed workers twice comes alone, so there may be more behind it. */
  readonly hasCrashed: boolean
  /** Expired leases that have not been ended yet. */
  readonly leaseEnds: readonly Lease[]
}

/** The claims that have no answer yet, and how many keys they can bring. */
export class ClaimsInFlight {
  readonly #timeoutMs: number
  readonly #claims = new Set<Promise<ClaimResult>>()
  /** How many keys the claims in flight can bring. */
  keysMax = 0
  /** How many claims have been made. */
  count = 0

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  /** How many claims are in flight. */
  get size(): number {
    return this.#claims.size
  }

  /** Waits for a claim, but no longer than `timeoutMs`; its keys are handed out all the same. */
  async track(limit: number, bringing: Promise<ClaimResult>): Promise<ClaimResult> {
    const claim = Promise.resolve(inTime(bringing, this.#timeoutMs, 'claim keys'))
    this.count += 1
    this.keysMax += limit
    this.#claims.add(claim)
    try {
      return await claim
    } finally {
      this.keysMax -= limit
      this.#claims.delete(claim)
    }
  }

  /** Resolves when each of the claims that are in flight now has been answered or given up. */
  async answered(): Promise<void> {
    await Promise.allSettled([...this.#claims])
  }
}
