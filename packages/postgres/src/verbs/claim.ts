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

/** How much longer claims do without that than the last one that did it took: a tick finds the rest. */
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
  const [row = {}, ...itemRows] = await store.run('claim', all, { first })
  const now = number(row['now'])
  store.time.noteAnswer(now, moment)
  if (isLooking) {
    const answeredMs = store.time.monotonicMs()
    leaseLookOf.set(queue, {
      before: text(row['look_before']) ?? fromLatest,
      atMs: answeredMs + unlookedShare * (answeredMs - sentMs),
    })
  }
  const endedTokens = numbers(row['ended_tokens'])
  const leaseEnds = texts(row['ended_keys']).map((key, at): Lease => {
    return { key: String(key), token: endedTokens[at]! }
  })
  return { claims: claimsOf(row, itemRows), leaseEnds, now }
}

function itemOf(row: Row): string | undefined {
  return text(row['item'])
}

function claimsOf(row: Row, itemRows: readonly Row[]): Claim[] {
  const tokens = numbers(row['tokens'])
  if (tokens.length === 0) return []
  const keys = texts(row['keys'])
  // Long items come in rows of their own.
  const items = itemRows.length > 0 ? itemRows.map(itemOf) : texts(row['items'])
  const failures = numbers(row['failures'])
  const crashes = numbers(row['crashes'])
  const priorities = numbers(row['priorities'])
  const asked = numbers(row['asked'])
  const ready = numbers(row['ready'])
  const traces = texts(row['traces'])
  const leaseUntil = number(row['until'])
  const claims = tokens.map((token, at): Claim => {
    return {
      key: keys[at]!,
      item: items[at] ?? undefined,
      token,
      failures: failures[at]!,
      crashes: crashes[at]!,
      priority: priorities[at]!,
      askedAt: asked[at]!,
      readyAt: ready[at]!,
      leaseUntil,
      trace: traces[at] ?? undefined,
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
