import {
  type Claim,
  type ClaimReply,
  type ClaimRequest,
  type ExpireOptions,
  type ExpireOutcome,
  type Failure,
  type Lease,
  never,
  perKeyDelay,
  type RenewReply,
  transitions,
} from '@sluice/core'
import type { Row } from '../connection/client-shapes.ts'
import type { Store } from '../connection/store.ts'
import { arrayLiteral } from '../rows/array-literal.ts'
import { instant, number, numbers, text, texts } from '../rows/columns.ts'
import { sortedByKey } from '../rows/key-order.ts'
import { lockAndChange } from '../rows/lock-and-change.ts'
import { lockedFailure, skipLocked } from '../rows/skip-locked.ts'

/** At how many held keys one claim looks, for leases that are over. */
const leaseLooks = 64

/** Before which token to look for them at first: above any. */
const fromLatest = '9223372036854775807'

/**
 * Which part of the lease a renewal may take, so that another connection can be tried twice before
 * the lease ends; a busy server has to manage it, too.
 */
const renewShare = 1 / 6
const renewMsMin = 1_000

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
  }
}

/** Where the next claim goes on looking for leases that are over, by queue. */
export type LeaseCursors = Map<string, string>

/** The verb claim. */
export async function claim(
  store: Store,
  cursors: LeaseCursors,
  queue: string,
  { limit, holder, claimId, leaseMs, dueBy = never }: ClaimRequest,
): Promise<ClaimReply> {
  const before = cursors.get(queue) ?? fromLatest
  const moment = store.time.moment()
  const asked = [queue, limit, holder, claimId, leaseMs, dueBy, before, leaseLooks]
  const [row = {}, ...itemRows] = await store.run('claim', [...asked, moment.now, moment.least])
  const now = number(row['now'])
  store.time.heard(now, moment)
  const lookBefore = text(row['look_before'])
  if (lookBefore === undefined) cursors.delete(queue)
  else cursors.set(queue, lookBefore)
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
  const places = numbers(row['ords'])
  if (places.length === 0) return []
  const keys = texts(row['keys'])
  // Long ones come in rows of their own.
  const items = itemRows.length > 0 ? itemRows.map(itemOf) : texts(row['items'])
  const tokens = numbers(row['tokens'])
  const failures = numbers(row['failures'])
  const crashes = numbers(row['crashes'])
  const priorities = numbers(row['priorities'])
  const asked = numbers(row['asked'])
  const ready = numbers(row['ready'])
  const leaseUntil = number(row['until'])
  const claims = new Array<Claim | undefined>(places.length)
  for (let at = 0; at < places.length; at += 1) {
    // An update gives its rows in any order; each knows its place.
    claims[places[at]! - 1] = {
      key: keys[at]!,
      item: items[at] ?? undefined,
      token: tokens[at]!,
      failures: failures[at]!,
      crashes: crashes[at]!,
      priority: priorities[at]!,
      askedAt: asked[at]!,
      readyAt: ready[at]!,
      leaseUntil,
    }
  }
  // A place stays empty if its row went away in between.
  return claims.filter((one) => one !== undefined)
}

/** The verb adopt. */
export async function adopt(store: Store, queue: string, claimId: string): Promise<Claim[]> {
  return (await store.run('claimAdopt', [queue, claimId])).map(claimOf)
}

/** The verb renew: one statement, which waits for nobody. */
export async function renew(
  store: Store,
  queue: string,
  leases: readonly Lease[],
  leaseMs: number,
): Promise<readonly (RenewReply | Failure)[]> {
  const sorted = sortedByKey(leases)
  const { now, least } = store.time.moment()
  const values = [
    queue,
    arrayLiteral(sorted.map(({ key }) => key)),
    arrayLiteral(sorted.map(({ entry }) => entry.token)),
    leaseMs,
    now,
    least,
  ]
  // The leases of a clock that is given are no lengths of real time.
  const withinMs = now === null ? Math.max(renewMsMin, leaseMs * renewShare) : Infinity
  const rows = await store.run('renew', values, { withinMs })
  const replies = new Array<RenewReply | Failure>(leases.length)
  for (const row of rows) {
    const { key, place } = sorted[number(row['place']) - 1]!
    const outcome = number(row['outcome'])
    if (outcome === 2) replies[place] = lockedFailure(key)
    else if (outcome === 1) replies[place] = { outcome: 'lost', leaseUntil: never }
    else replies[place] = { outcome: 'renewed', leaseUntil: instant(row['lease_until']) }
  }
  return replies
}

/** The verb expire, beside keys that somebody else has locked. */
export async function expire(
  store: Store,
  queue: string,
  leases: readonly Lease[],
  { dedupe, plan, jitter, maxCrashes }: ExpireOptions,
): Promise<readonly (ExpireOutcome | Failure)[]> {
  return await skipLocked<Lease, ExpireOutcome>({
    entries: leases,
    keyOf: ({ key }) => key,
    findLocked: (keys) => store.locked(queue, keys, false),
    serve: (some) =>
      store.transaction((connection) =>
        lockAndChange(connection, store.statements, {
          queue,
          keys: some.map(({ key }) => key),
          creates: false,
          time: store.time,
          change: ({ now, seq, key: find }) =>
            some.map(({ key, token }, place) => {
              const { state } = find(key)
              const delayMs =
                plan === undefined ? 0 : perKeyDelay(plan, state.failures, jitter ?? 0)
              return transitions.expire(state, token, delayMs, maxCrashes, dedupe, now, seq(place))
            }),
        }),
      ),
  })
}
