import {
  type Claim,
  type ClaimReply,
  type ClaimRequest,
  type Lease,
  never,
} from '@sluice/core/driver'
import type { Row } from '../connection/client-shapes.ts'
import type { Store } from '../connection/store.ts'
import { instant, number, numbers, text, texts } from '../rows/columns.ts'

/** How many held keys one claim looks at, to find expired leases. */
const leaseLooks = 64

/** The token below which the first claim looks for them: above any. */
const fromLatest = '9223372036854775807'

function claimOf(row: Row): Claim {
  return {
    key: String(row['key']),
    item: text(row['item']),
    token: number(row['token']),
    failures: number(row['failures']),
    crashes: number(row['crashes']),
    priority: number(row['priority']),
    askedAt: instant(row['asked_at']),
    readyAt: instant(row['ready_at']),
    leaseUntil: instant(row['at']),
    trace: text(row['trace']),
  }
}

/**
 * For how long claims do without that, in milliseconds, and how many times as long as the last one that did it
 * took: a tick finds the rest. Looking takes a tenth of the time of a claim of one key.
 */
const unlookedMs = 100
const unlookedShare = 9

/** The token below which a claim looks for expired leases next, and when, on the monotonic clock. */
interface LeaseLook {
  readonly before: string
  readonly atMs: number
}

/** Where and when claims look for expired leases, by the names of queues. */
export type LeaseLookByQueue = Map<string, LeaseLook>

/** The verb claim. */
export async function claim(
  store: Store,
  leaseLookOf: LeaseLookByQueue,
  queue: string,
  { limit, holder, claimId, leaseMs, dueBy = never }: ClaimRequest,
): Promise<ClaimReply> {
  const { before, atMs } = leaseLookOf.get(queue) ?? { before: fromLatest, atMs: -Infinity }
  const moment = store.time.moment()
  const sentMs = store.time.monotonicMs()
  // What holds back vacuum leaves an entry of each run in the index, and all are passed over.
  const isLooking = moment.now !== null || sentMs >= atMs
  const look = isLooking ? [before, leaseLooks] : [fromLatest, 0]
  const values = [queue, limit, holder, claimId, leaseMs, dueBy, ...look]
  // A new connection may lead to another server, which need not know the last tokens.
  const first = { statement: store.statements.raiseTokens, values: [moment.least] }
  const all = [...values, moment.now, moment.least]
  const rows = await store.run('claim', all, { first })
  const [row = {}] = rows
  const now = number(row['now'])
  store.time.noteAnswer(now, moment)
  if (isLooking) {
    const answeredMs = store.time.monotonicMs()
    leaseLookOf.set(queue, {
      before: text(row['look_before']) ?? fromLatest,
      atMs: answeredMs + Math.max(unlookedMs, unlookedShare * (answeredMs - sentMs)),
    })
  }
  const endedTokens = numbers(row['ended_tokens'])
  const leaseEnds = texts(row['ended_keys']).map((key, at): Lease => {
    return { key: String(key), token: endedTokens[at]! }
  })
  return { claims: claimsOf(rows, now + leaseMs), leaseEnds, now }
}

function claimsOf(rows: readonly Row[], leaseUntil: number): Claim[] {
  const [row = {}, ...itemRows] = rows
  const tokens = numbers(row['tokens'])
  const count = tokens.length
  // One column after the other; long items, and that of a single claim, come as they are.
  const fromTexts = texts(row['texts'])
  const fromNumbers = numbers(row['numbers'])
  const bareItems = count === 1 ? rows : itemRows
  const claims = tokens.map((token, at): Claim => {
    const item = bareItems.length > 0 ? text(bareItems[at]?.['item']) : fromTexts[count + at]
    return {
      key: fromTexts[at]!,
      item: item ?? undefined,
      token,
      failures: fromNumbers[at]!,
      crashes: fromNumbers[count + at]!,
      priority: fromNumbers[2 * count + at]!,
      askedAt: fromNumbers[3 * count + at]!,
      readyAt: fromNumbers[4 * count + at]!,
      leaseUntil,
      trace: fromTexts[2 * count + at] ?? undefined,
    }
  })
  // Tokens rise in the order of claims; an update meets rows in that of their ctids, mostly the same.
  return tokens.every((token, at) => at === 0 || token > tokens[at - 1]!)
    ? claims
    : claims.sort((a, b) => a.token - b.token)
}

/** The verb adopt. */
export async function adopt(store: Store, queue: string, claimId: string): Promise<Claim[]> {
  return (await store.run('claimAdopt', [queue, claimId])).map(claimOf)
}
