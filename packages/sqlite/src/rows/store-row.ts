import { type Clock, type EpochMs, RisingTime, SluiceError } from '@sluice/core'
import type { Session } from '../connection/statements.ts'

/** How old the newest instant in the file may become before a write renews it, in milliseconds. */
const latestMsMax = 1_000

/** From which difference on a process says in the file by how much it is ahead, in milliseconds. */
const aheadMsMin = 1

interface StoreColumns {
  readonly token: number
  readonly ahead: number
  readonly latest: EpochMs
}

/** The time of one store by one clock: never earlier than what any process has written down. */
export class StoreTime {
  readonly #rising: RisingTime
  #hasStarted = false

  constructor(clock: Clock) {
    this.#rising = new RisingTime(clock)
  }

  /** By how much it is ahead of its clock. */
  get ahead(): number {
    return this.#rising.ahead
  }

  /**
   * Reads the clock. The more often it is read, the less of a step back is taken for time that
   * passed.
   */
  read(): void {
    // Before a transaction has read the file's row, this process does not know how far it is ahead.
    if (this.#hasStarted) this.#rising.now()
  }

  /** The present, agreed with the other processes through the file. */
  agree({ ahead, latest }: Pick<StoreColumns, 'ahead' | 'latest'>): EpochMs {
    // Only once: processes that read different clocks would push each other forward.
    if (!this.#hasStarted) this.#rising.startAhead(ahead)
    this.#hasStarted = true
    this.#rising.atLeast(latest)
    return this.#rising.latest
  }
}

/** The one row of a store within one transaction: its time, and what all its queues share. */
export class StoreRow {
  /** The store's present, one for the whole transaction. */
  readonly now: EpochMs
  readonly #session: Session
  readonly #time: StoreTime
  readonly #before: StoreColumns
  #token: number

  constructor(session: Session, time: StoreTime) {
    const row = session.storeRead.get() as StoreColumns | undefined
    if (row === undefined) {
      throw new SluiceError('ERR_STORE_DAMAGED', 'the row of the token counter is missing')
    }
    this.#session = session
    this.#time = time
    this.#before = row
    this.#token = row.token
    this.now = time.agree(row)
  }

  /** The last token that was given out. */
  get token(): number {
    return this.#token
  }

  /** Draws `n` tokens; answers with the first. */
  drawTokens(n: number): number {
    const first = this.#token + 1
    if (this.#token > Number.MAX_SAFE_INTEGER - n) {
      throw new SluiceError('ERR_STORE', 'no token is left below 2^53, so no key can be claimed')
    }
    this.#token += n
    return first
  }

  /** Gives out only greater tokens than `floor` from now on. */
  raiseToken(floor: number): void {
    this.#token = Math.max(this.#token, floor)
  }

  /** Writes back what has changed. To be called once, at the end of a transaction that writes. */
  save(): void {
    const { token, ahead, latest } = this.#before
    const isCurrent =
      this.#token === token &&
      this.now - latest < latestMsMax &&
      this.#time.ahead - ahead < aheadMsMin
    if (isCurrent) return
    this.#session.storeSave.run(this.#token, Math.max(ahead, this.#time.ahead), this.now)
  }
}
