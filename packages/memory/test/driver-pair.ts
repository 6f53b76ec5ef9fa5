import { type KeyRow, never } from '@sluice/core'
import { expect } from 'vitest'
import { memoryDriver } from '../src/index.ts'
import { HandClock } from './hand-clock.ts'
import { NaiveQueue } from './naive-driver.ts'

export const queueName = 'q'

/** The failuresExpireMs of some adds, which sweep by it. */
export const shortExpireMs = 100

/** A key that was claimed, under its token here and its token there. */
interface Held {
  readonly key: string
  readonly token: number
  readonly naiveToken: number
  /** If it was claimed through the direct queue. */
  readonly handle?: number
}

/** The memory driver and a naive one, and what both have done so far. */
export class DriverPair {
  readonly clock = new HandClock(1_000_000)
  readonly driver = memoryDriver()
  /** Goes on at the pace of the other clock, and ignores steps of that. */
  readonly time = new HandClock(1_000_000)
  readonly naive = new NaiveQueue(this.time)
  /** Also those that were finished since, whose tokens are stale. */
  readonly held: Held[] = []

  constructor() {
    void this.driver.open({ clock: this.clock })
  }

  pick(index: number): Held | undefined {
    // The latest ones first: they are the likeliest to be held still.
    return this.held.at(-1 - (index % Math.max(this.held.length, 1)))
  }

  check(): void {
    const { driver, naive } = this
    const { rows } = driver.list(queueName, { limit: 1_000 }) as { rows: readonly KeyRow[] }
    // Adds sweep along, when and how much is the driver's choice: but only what is stale.
    naive.sweep(shortExpireMs, (key) => !rows.some((row) => row.key === key))
    for (const { key, lastError } of rows) if (lastError === undefined) naive.forgetError(key)
    expect(rows.map(meaningOf)).toEqual(naive.rows().map(meaningOf))
    expect(driver.counts(queueName, { cap: 1_000 })).toEqual({ ...naive.counts(), capped: false })
    const direct = driver.direct!(queueName)
    const ready = naive.counts().ready
    expect(direct.ready()).toBe(ready)
    const nextAt = direct.nextAt()
    if (ready > 0 && !naive.isPaused) expect(nextAt).toBeLessThanOrEqual(this.time.now())
    else expect(nextAt).toBe(naive.nextAt())
  }
}

/** A row without what means nothing in its state, and without numbers that are anyone's choice. */
function meaningOf(row: KeyRow): Partial<KeyRow> {
  const { key, state, item, holder, lastError, dueAt, laterAt, failures, crashes, parked } = row
  const isHeld = holder !== undefined
  return {
    key,
    state,
    item,
    holder,
    lastError,
    dueAt,
    laterAt,
    failures,
    crashes,
    parked,
    ...((failures > 0 || crashes > 0) && { failedAt: row.failedAt }),
    ...(dueAt !== never && {
      why: row.why,
      readyAt: row.readyAt,
      priority: row.priority,
      askedAt: row.askedAt,
      trace: row.trace,
    }),
    ...(laterAt !== never && { laterWhy: row.laterWhy }),
    ...(isHeld && {
      leaseUntil: row.leaseUntil,
      claimedDueAt: row.claimedDueAt,
      claimedWhy: row.claimedWhy,
      claimedLaterAt: row.claimedLaterAt,
      claimedReadyAt: row.claimedReadyAt,
      claimedPriority: row.claimedPriority,
      claimedAskedAt: row.claimedAskedAt,
      claimedTrace: row.claimedTrace,
    }),
  }
}
