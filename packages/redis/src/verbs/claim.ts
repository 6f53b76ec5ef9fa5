import {
  type Claim,
  type ClaimReply,
  type ClaimRequest,
  claimNumber,
  type Finish,
  type Lease,
  SluiceError,
} from '@sluice/core/driver'
import type { Reply } from '../connection/connections.ts'
import { instant, number, numbersAndTrace, text } from '../rows/columns.ts'
import { type RunOptions, type Store, verbStart } from '../store.ts'
import { type Finished, repeatFinishes } from './finish.ts'

/** Leases as a script lists them: key, token, key, token. */
export function leasesOf(reply: Reply | undefined): Lease[] {
  const cells = reply as readonly Reply[]
  const leases: Lease[] = []
  for (let at = 0; at < cells.length; at += 2) {
    leases.push({ key: String(cells[at]), token: number(cells[at + 1]) })
  }
  return leases
}

function claimsOf(reply: readonly Reply[]): Claim[] {
  const firstToken = number(reply[verbStart + 3])
  const leaseUntil = number(reply[verbStart + 4])
  const claims: Claim[] = []
  for (let at = verbStart + 5; at < reply.length; at += 3) {
    const position = reply[at + 2]
    // A whole number is the position of a key that has only that.
    const plain = typeof position === 'number' ? position : undefined
    const [cells, trace] = plain === undefined ? numbersAndTrace(position, 5) : [[plain]]
    const [readyAt = 0, askedAt = readyAt, priority = 0, failures = 0, crashes = 0] = cells
    claims.push({
      key: String(reply[at]),
      item: text(reply[at + 1]),
      token: firstToken + claims.length,
      failures,
      crashes,
      priority,
      askedAt,
      readyAt,
      leaseUntil,
      trace,
    })
  }
  return claims
}

/**
 * Releases keys whose claim replicas did not confirm. Nobody would work on them, and when their leases end,
 * a crash would be counted.
 */
async function giveBack(
  store: Store,
  queue: string,
  leases: readonly Lease[],
  onReleased: OnReleased,
): Promise<SluiceError> {
  const releases = leases.map(({ key, token }) => ({ as: 'release', key, token }) as const)
  try {
    // Keeps both runs of a key that was added again meanwhile, whatever the queue would have kept.
    onReleased(releases, await repeatFinishes(store, queue, releases, 'client-go'))
  } catch {
    // The primary is away. They are released as soon as there is one.
    onReleased(releases, undefined)
  }
  const message = 'the replicas did not confirm the claim in time, so its keys were released'
  return new SluiceError('ERR_STORE_BUSY', message, { retryable: true })
}

/** Called with releases that no replica has confirmed, and the reply to them if there is one. */
export type OnReleased = (releases: readonly Finish[], released: Finished | undefined) => void

/** Hands out due keys under a lease. */
export async function claim(
  store: Store,
  queue: string,
  { limit, holder, claimId, leaseMs, dueBy }: ClaimRequest,
  bytesMax: number,
  onReleased: OnReleased,
): Promise<ClaimReply> {
  let continueAfter = ''
  const confirmation: RunOptions = {
    // The rest of the lease is for the run.
    confirmMs: leaseMs / 4,
    hasWritten: (reply) => claimsOf(reply).length > 0,
    undo: (reply) => giveBack(store, queue, claimsOf(reply), onReleased),
  }
  for (;;) {
    const reply = await store.run(
      'claim',
      queue,
      [
        String(limit),
        holder,
        String(claimNumber(claimId)),
        instant(leaseMs),
        dueBy === undefined ? '' : instant(dueBy),
        String(bytesMax),
        continueAfter,
      ],
      confirmation,
    )
    continueAfter = text(reply[verbStart + 1]) ?? ''
    const mustRepeat = reply[verbStart] === 1 || continueAfter !== ''
    if (mustRepeat) continue
    return {
      claims: claimsOf(reply),
      leaseEnds: leasesOf(reply[verbStart + 2]),
      now: number(reply[0]),
    }
  }
}

/**
 * The claims of a request that are still held. Those whose leases ended while the primary was replaced, which
 * nobody counts as expired, are released.
 */
export async function adopt(
  store: Store,
  queue: string,
  claimId: string,
  onReleased: OnReleased,
): Promise<Claim[]> {
  const claims = new Map<string, Claim>()
  const ended = new Map<string, Finish>()
  let [from, skip] = ['-inf', '0']
  for (;;) {
    const reply = await store.run('adopt', queue, [String(claimNumber(claimId)), from, skip])
    for (let at = verbStart + 1; at < reply.length; at += 3) {
      const key = String(reply[at])
      const [cells, trace] = numbersAndTrace(reply[at + 2], 8)
      const [
        token = 0,
        readyAt = 0,
        askedAt = 0,
        priority = 0,
        failures = 0,
        crashes = 0,
        leaseUntil = 0,
        hasEnded = 0,
      ] = cells
      if (hasEnded === 1) ended.set(key, { as: 'release', key, token })
      if (hasEnded === 1) continue
      const item = text(reply[at + 1])
      claims.set(key, {
        key,
        item,
        token,
        failures,
        crashes,
        priority,
        askedAt,
        readyAt,
        leaseUntil,
        trace,
      })
    }
    const position = text(reply[verbStart])
    if (position === undefined) break
    ;[from = '', skip = ''] = position.split(' ')
  }
  if (ended.size > 0) await giveBack(store, queue, [...ended.values()], onReleased)
  return [...claims.values()].sort((a, b) => a.token - b.token)
}
