import { type DueReason, emptyKeyState, type KeyState, noToken } from '@sluice/core'
import type { Row } from '../connection/client-shapes.ts'
import { flag, instant, number, text } from './columns.ts'

/** Reasons as the column `why` numbers them. */
export const dueReasons: readonly DueReason[] = ['add', 'delay', 'backoff']

/** A row of the table of keys: its state, and the columns that are not part of it. */
export interface StoredKey {
  readonly key: string
  readonly state: KeyState
  item: string | undefined
  holder: string | undefined
  lastError: string | undefined
}

function reason(value: unknown): DueReason {
  return dueReasons[number(value ?? 0)] ?? 'add'
}

function orZero(value: unknown): number {
  return value === null || value === undefined ? 0 : Number(value)
}

/** Reads a row. */
export function storedKey(row: Row): StoredKey {
  const state = emptyKeyState()
  state.dueAt = instant(row['due_at'])
  state.why = reason(row['why'])
  state.laterAt = instant(row['later_at'])
  state.laterWhy = reason(row['later_why'])
  state.readyAt = instant(row['ready_at'])
  state.seq = number(row['seq'])
  state.priority = number(row['priority'])
  state.askedAt = instant(row['asked_at'])
  state.trace = text(row['trace'])
  state.failures = number(row['failures'])
  state.crashes = number(row['crashes'])
  state.failedAt = instant(row['failed_at'])
  state.parked = flag(row['parked'])
  const token = text(row['token'])
  if (token !== undefined) {
    state.token = Number(token)
    state.leaseUntil = instant(row['lease_until'])
    state.claimedDueAt = instant(row['claimed_due_at'])
    state.claimedWhy = reason(row['claimed_why'])
    state.claimedLaterAt = instant(row['claimed_later_at'])
    state.claimedReadyAt = instant(row['claimed_ready_at'])
    state.claimedSeq = orZero(row['claimed_seq'])
    state.claimedPriority = orZero(row['claimed_priority'])
    state.claimedAskedAt = instant(row['claimed_asked_at'])
    state.claimedTrace = text(row['claimed_trace'])
  }
  return {
    key: String(row['key']),
    state,
    item: text(row['item']),
    holder: state.token === noToken ? undefined : text(row['holder']),
    lastError: text(row['last_error']),
  }
}
