import { type EpochMs, SluiceError, systemClock } from '@sluice/core/driver'
import type { Statements } from '../connection/statements.ts'
import { newerError, schemaVersion } from '../schema/migrate.ts'
import type { QueueRow } from './queue-row.ts'
import type { StoredTime, StoreTime } from './store-time.ts'

/** How old the newest instant in the file may become before a write updates it, in milliseconds. */
const latestMsMax = 1_000

/** From which difference on a process writes to the file how far it is ahead, in milliseconds. */
const aheadMsMin = 1

/** The last token that was drawn over each connection, whether or not that was committed. */
const lastDrawn = new WeakMap<Statements, number>()

interface StoreColumns extends StoredTime {
  readonly token: number
  readonly seq: number
  readonly queue_id: number | null
  readonly paused: number
  readonly pending: number | null
  readonly breaking: number
}

/**
 * The one row of a store within one transaction: its time, and what all its queues share. With the row
 * of the queue that the transaction is about: one statement reads both.
 */
export class StoreRow {
  /** The store's time, one instant for the whole transaction. */
  readonly now: EpochMs
  /** `undefined` if the queue was never written to, or there is none. */
  readonly queue: QueueRow | undefined
  readonly #statements: Statements
  readonly #time: StoreTime
  readonly #before: StoreColumns
  #token: number
  #seq: number
  #mustSaveSeq = false

  constructor(statements: Statements, time: StoreTime, queue: string | null) {
    const row = statements.storeRead.get(queue) as StoreColumns | undefined
    if (row === undefined) {
      throw new SluiceError('ERR_STORE_DAMAGED', 'the row of the token counter is missing')
    }
    // A newer package may migrate a file that this process has open.
    if (row.breaking > schemaVersion) throw newerError('the store', row.breaking)
    this.#statements = statements
    this.#time = time
    this.#before = row
    this.#token = row.token
    this.#seq = row.seq
    this.now = time.agree(row)
    this.queue =
      row.queue_id === null
        ? undefined
        : { id: row.queue_id, isPaused: row.paused === 1, pending: row.pending }
  }

  /** The last token that was handed out. */
  get token(): number {
    return this.#token
  }

  /**
   * Draws `n` tokens; returns the first. A file that was restored, or that lost its last commits with the power,
   * does not know the last tokens. A store gives out fewer than one in a microsecond, so all are below the clock:
   * not below a given one.
   */
  drawTokens(n: number): number {
    const drawn = lastDrawn.get(this.#statements) ?? Number.MAX_SAFE_INTEGER
    if (this.#token < drawn) this.raiseToken(Math.floor(systemClock.now() * 1_000))
    const first = this.#token + 1
    if (this.#token > Number.MAX_SAFE_INTEGER - n) {
      throw new SluiceError('ERR_STORE', 'no token is left below 2^53, so no key can be claimed')
    }
    this.#token += n
    lastDrawn.set(this.#statements, this.#token)
    return first
  }

  /** Draws `n` positions in the order; returns the first. */
  drawSeqs(n: number): number {
    const first = this.#seq + 1
    this.#seq += n
    return first
  }

  /** Hands out only greater positions than `floor` from now on. */
  raiseSeq(floor: number): void {
    this.#seq = Math.max(this.#seq, floor)
  }

  /**
   * Records that more was done than inserting keys with positions that were drawn: stored keys were
   * changed or deleted, so that their rows do not show the last position any more.
   */
  changed(): void {
    this.#mustSaveSeq = true
  }

  /** Hands out only greater tokens than `floor` from now on. */
  raiseToken(floor: number): void {
    this.#token = Math.max(this.#token, floor)
  }

  /** Writes back the changes. To be called once, at the end of a transaction that writes. */
  save(): void {
    const { token, seq, ahead, latest } = this.#before
    const isCurrent =
      !this.#mustSaveSeq &&
      this.#token === token &&
      this.now - latest < latestMsMax &&
      this.#time.ahead - ahead < aheadMsMin
    if (isCurrent) return
    // Other processes look for keys when the last position has risen.
    if (this.#mustSaveSeq && this.#seq === seq) this.#seq += 1
    const aheadNow = Math.max(ahead, this.#time.ahead)
    this.#statements.storeSave.run(this.#token, this.#seq, aheadNow, this.now)
  }
}
