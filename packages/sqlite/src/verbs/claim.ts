import {
  type Claim,
  type ClaimReply,
  type ClaimRequest,
  claimNumber,
  type EpochMs,
  type Lease,
  leaseEndsMax,
  priorityMax,
  transitions,
} from '@sluice/core/driver'
import type { Statements } from '../connection/statements.ts'
import { instantOf, storedInstant } from '../rows/columns.ts'
import { holderNumber } from '../rows/holder.ts'
import type { QueueRow } from '../rows/queue-row.ts'
import type { StoreRow } from '../rows/store-row.ts'
import type { WriteTransaction } from '../rows/write-transaction.ts'

/** What is stored of a key that a claim says, too. */
interface ClaimedColumns {
  readonly key: string
  readonly item: string | null
  readonly failures: number
  readonly crashes: number
  readonly priority: number
  readonly asked_at: number | null
  readonly ready_at: number
  readonly trace: string | null
}

interface Candidate extends ClaimedColumns {
  readonly id: number
  readonly later_at: number | null
}

function claimOf(row: ClaimedColumns, token: number, leaseUntil: EpochMs): Claim {
  return {
    key: row.key,
    item: row.item ?? undefined,
    token,
    failures: row.failures,
    crashes: row.crashes,
    priority: row.priority,
    askedAt: instantOf(row.asked_at),
    readyAt: row.ready_at,
    leaseUntil,
    trace: row.trace ?? undefined,
  }
}

/** A priority that has pending keys, and when the first of them is ready. */
export interface Level {
  readonly priority: number
  readonly ready_at: number
}

/** Expired leases, at most `limit` of them. */
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
 * The reply to a claim that finds no key, without taking the write lock; `undefined` if there is a
 * key to claim. Every commit of another process wakes the waiting ones, usually without a key for
 * them.
 */
export function claimNothing(
  statements: Statements,
  { queue, now }: StoreRow,
  request: ClaimRequest,
): ClaimReply | undefined {
  if (queue === undefined) return { claims: [], leaseEnds: [], now }
  if (!queue.isPaused) {
    const bound = Math.min(now, request.dueBy ?? now)
    if (candidates(statements, queue.id, now, bound, 1).length > 0) return undefined
  }
  return { claims: [], leaseEnds: expiredLeases(statements, queue.id, now, leaseEndsMax), now }
}

/** Hands out due keys under a lease. */
export function claimVerb(tx: WriteTransaction, request: ClaimRequest): ClaimReply {
  const { statements, queueId, now } = tx
  const bound = Math.min(now, request.dueBy ?? now)
  const found = tx.isPaused
    ? []
    : crashedAlone(candidates(statements, queueId, now, bound, request.limit))
  const claims = found.length === 0 ? [] : take(tx, found, request)
  return { claims, leaseEnds: expiredLeases(statements, queueId, now, leaseEndsMax), now }
}

/**
 * The first keys in the order of claims: the due keys of each priority, from the highest down. A
 * priority without a due key costs one step, however many delayed keys it has.
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

/** A key that has crashed twice is handed out alone, so that a crash of its handler affects no other key. */
function crashedAlone(found: Candidate[]): Candidate[] {
  const index = found.findIndex(({ crashes }) => crashes > 1)
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
  return found.map((row, index) => {
    const token = firstToken + index
    if (row.later_at !== null) takeWithSecondRun(tx, row.key, token, hold)
    return claimOf(row, token, hold.leaseUntil)
  })
}

/** The values that a claim writes into the held half of each of its keys. */
interface Hold {
  readonly leaseUntil: EpochMs
  readonly holder: number
  readonly claim: number
}

/** Claims the keys with one pending run. Their rows keep the run and get the holder. */
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
    tx.changed(-1)
    return
  }
  // Null matches no id, and keeps the indexes of the ids behind it.
  const ids = found.map(({ id, later_at }) => (later_at === null ? id : null))
  const taken = tx.statements.claimTake.run(firstToken, until, holder, claim, JSON.stringify(ids))
  tx.changed(-Number(taken.changes))
}

/** The second pending run moves up when the first is claimed; the transitions do that. */
function takeWithSecondRun(
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

interface HeldRow extends ClaimedColumns {
  readonly token: number
  readonly lease_until: number | null
}

/** The claims of a request that are still held. */
export function adoptVerb(
  statements: Statements,
  queue: QueueRow | undefined,
  claimId: string,
): Claim[] {
  if (queue === undefined) return []
  const held = statements.claimAdopt.all(queue.id, claimNumber(claimId)) as HeldRow[]
  return held.map((row) => claimOf(row, row.token, instantOf(row.lease_until)))
}
