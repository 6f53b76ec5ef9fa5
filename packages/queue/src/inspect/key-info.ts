import {
  decodeItem,
  type EpochMs,
  type KeyRow,
  never,
  noToken,
  parseJson,
  priorityDefault,
} from '@sluice/core'
import type { HolderInfo, KeyInfo, LastError } from './inspect.ts'

/** The last error of a row, from how it is stored. */
export function lastErrorOf(text: string): LastError {
  try {
    const parsed = parseJson(text) as LastError
    if (typeof parsed?.message === 'string') return parsed
  } catch {
    // Written by something that is not this package: shown as it is.
  }
  return { name: 'Error', message: text }
}

/** The item of a row. A text that is not JSON must not hide the other keys of a list, nor the rest of its own. */
function itemOf({ key, item }: KeyRow): unknown {
  try {
    return decodeItem(key, item)
  } catch {
    return item ?? key
  }
}

function holderOf(row: KeyRow): HolderInfo {
  return {
    holder: row.holder,
    token: row.token,
    ...(row.leaseUntil === never ? {} : { leaseUntil: row.leaseUntil }),
    ...(row.state === 'dirty' ? { dirtySince: row.askedAt } : {}),
  }
}

/**
 * A row of the store as its users see it at `now`: members that are not set are absent, and so is a
 * second run that is due like the first: one claim takes both.
 */
export function keyInfo(row: KeyRow, now: EpochMs): KeyInfo {
  const isHeld = row.token !== noToken
  const isPending = row.dueAt !== never
  const isTwice = row.laterAt !== never && (row.dueAt > now || row.laterAt > now)
  const askedAt = isHeld ? row.claimedAskedAt : row.askedAt
  return {
    key: row.key,
    state: row.state,
    item: itemOf(row),
    // Without a run, drivers may keep the priority of an earlier one.
    priority: isPending ? row.priority : isHeld ? row.claimedPriority : priorityDefault,
    ...(askedAt === never || !(isHeld || isPending) ? {} : { askedAt }),
    ...(isPending ? { dueAt: row.dueAt, why: row.why } : {}),
    ...(isTwice ? { laterAt: row.laterAt } : {}),
    ...(isPending && !isHeld ? { readyAt: row.readyAt } : {}),
    failures: row.failures,
    ...(row.failedAt === never ? {} : { failedAt: row.failedAt }),
    crashes: row.crashes,
    parked: row.parked,
    ...(isHeld ? { held: holderOf(row) } : {}),
    ...(row.lastError === undefined ? {} : { lastError: lastErrorOf(row.lastError) }),
  }
}
