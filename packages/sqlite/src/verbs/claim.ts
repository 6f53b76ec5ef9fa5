import {
  type Claim,
  type ClaimReply,
  type ClaimRequest,
  type EpochMs,
  type Lease,
  leaseEndsMax,
  priorityMax,
  transitions,
} from '@sluice/core/driver'
import type { Statements } from '../connection/statements.ts'
import { claimNumber } from '../rows/claim-number.ts'
import { instantOf, storedInstant } from '../rows/columns.ts'
import { holderNumber } from '../rows/holder.ts'
import { findQueue } from '../rows/queue-row.ts'
import type { WriteTransaction } from '../rows/write-transaction.ts'

interface Candidate {
  readonly id: number
  readonly key: string
  readonly item: string | null
  readonly failures: number
  readonly crashes: number
  readonly priority: number
  readonly asked_at: number | null
  readonly ready_at: number
  readonly later_at: number | null
}

/** A priority that has pending keys, and when the first of them is ready. */
export interface Level {
  readonly priority: number
  readonly ready_at: number
}

/** Leases that are over. */
export function expiredLeases(
  statements: Statements,
  queueId: number,
  now: EpochMs,
  limit: number,
): Lease[] {
  const rows = statements.claimExpiredLeases.all(queueId, now, limit) as Lease[]
  return rows.map(({ key, token }) => ({ key, token }))
}

/**
 * The answer to a claim that finds nothing, without taking the write lock; `undefined` if there is
 * something to take. Whoever waits is woken by every commit of another process, mostly in vain.
 */
export function claimNothing(
  statements: Statements,
  queue: string,
  request: ClaimRequest,
  now: EpochMs,
): ClaimReply | undefined {
  const row = findQueue(statements, queue)
  if (row === undefined) return { claims: [], leaseEnds: [], now }
  if (!row.isPaused) {
    const bound = Math.min(now, request.dueBy ?? now)
    if (candidates(statements, row.id, now, bound, 1).length > 0) return undefined
  }
  return { claims: [], leaseEnds: expiredLeases(statements, row.id, now, leaseEndsMax), now }
}

/** Hands out keys that are due, under a lease. */
export function claimVerb(tx: WriteTransaction, request: ClaimRequest): ClaimReply {
  const { statements, queueId, now } = tx
  const bound = Math.min(now, request.dueBy ?? now)
  const found = tx.isPaused ? [] : alone(candidates(statements, queueId, now, bound, request.limit))
  const claims = found.length === 0 ? [] : take(tx, found, request)
  return { claims, leaseEnds: expiredLeases(statements, queueId, now, leaseEndsMax), now }
}

/**
 * The first keys in the order of claims: from the highest priority down, of each those that are
 * due. A priority at which nothing is due yet costs one step, however many keys are delayed there.
 */
function candidates(
  statements: Statements,
  queueId: number,
  now: EpochMs,
  bound: EpochMs,
  limit: number,
): Candidate[] {
  let found: Candidate[] = []
  let below = priorityMax + 1
  for (;;) {
    const level = statements.claimLevel.get(queueId, below) as Level | undefined
    if (level === undefined) return found
    below = level.priority
    if (level.ready_at > now) continue
    const left = limit - found.length
    const rows = statements.claimCandidates.all(queueId, below, now, bound, left) as Candidate[]
    found = found.length === 0 ? rows : found.concat(rows)
    if (found.length === limit) return found
  }
}

/** A key with crashes is handed out alone, so that it takes only itself down. */
function alone(found: Candidate[]): Candidate[] {
  const index = found.findIndex(({ crashes }) => crashes > 0)
  return index === -1 ? found : found.slice(0, Math.max(1, index))
}

function take(tx: WriteTransaction, found: readonly Candidate[], request: ClaimRequest): Claim[] {
  const { statements, now } = tx
  const hold: Hold = {
    leaseUntil: now + request.leaseMs,
    holder: holderNumber(statements, request.holder),
    claim: claimNumber(request.claimId),
  }
  const firstToken = tx.store.drawTokens(found.length)
  takePlain(tx, found, firstToken, hold)
  return found.map((row, index): Claim => {
    const token = firstToken + index
    if (row.later_at !== null) takeWithSecondPromise(tx, row.key, token, hold)
    return {
      key: row.key,
      item: row.item ?? undefined,
      token,
      failures: row.failures,
      crashes: row.crashes,
      priority: row.priority,
      askedAt: instantOf(row.asked_at),
      readyAt: row.ready_at,
      leaseUntil: hold.leaseUntil,
    }
  })
}

/** What a claim writes into the held half of every key that it takes. */
interface Hold {
  readonly leaseUntil: EpochMs
  readonly holder: number
  readonly claim: number
}

/** Takes all that are owed one run. Their rows keep the run, and get who holds it. */
function takePlain(
  tx: WriteTransaction,
  found: readonly Candidate[],
  firstToken: number,
  { leaseUntil, holder, claim }: Hold,
): void {
  const until = storedInstant(leaseUntil)
  const [only] = found
  if (only !== undefined && found.length === 1) {
    if (only.later_at !== null) return
    tx.statements.claimTakeOne.run(firstToken, until, holder, claim, only.id)
    tx.wrote(-1)
    return
  }
  // Null is nobody's id, and keeps the places of those behind it.
  const ids = found.map(({ id, later_at }) => (later_at === null ? id : null))
  const taken = tx.statements.claimTake.run(firstToken, until, holder, claim, JSON.stringify(ids))
  tx.wrote(-Number(taken.changes))
}

/** A second promise moves up when the first is claimed, which the transitions know how to do. */
function takeWithSecondPromise(
  tx: WriteTransaction,
  key: string,
  token: number,
  { leaseUntil, holder, claim }: Hold,
): void {
  const stored = tx.key(key)
  tx.change(stored, ({ state }) => {
    transitions.claim(state, token, leaseUntil, tx.now, tx.drawSeqs(1))
    stored.holder = holder
    stored.claim = claim
  })
}

interface HeldRow {
  readonly key: string
  readonly item: string | null
  readonly token: number
  readonly failures: number
  readonly crashes: number
  readonly priority: number
  readonly asked_at: number | null
  readonly ready_at: number
  readonly lease_until: number | null
}

/** What is still held of the claims that were made under a name. */
export function adoptVerb(statements: Statements, queue: string, claimId: string): Claim[] {
  const row = findQueue(statements, queue)
  if (row === undefined) return []
  const held = statements.claimAdopt.all(row.id, claimNumber(claimId)) as HeldRow[]
  return held.map((each) => ({
    key: each.key,
    item: each.item ?? undefined,
    token: each.token,
    failures: each.failures,
    crashes: each.crashes,
    priority: each.priority,
    askedAt: instantOf(each.asked_at),
    readyAt: each.ready_at,
    leaseUntil: instantOf(each.lease_until),
  }))
}
