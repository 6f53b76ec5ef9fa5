import { type EpochMs, type KeyState, never, transitions } from '@sluice/core'
import type { Session } from '../connection/statements.ts'
import {
  columnsOf,
  copyOf,
  isSame,
  type KeyColumns,
  type KeyRecord,
  newRecord,
  recordOf,
} from './key-row.ts'
import type { StoreRow } from './store-row.ts'

interface QueueColumns {
  readonly id: number
  readonly paused: number
  readonly seq: number
  readonly owed: number
}

/** What is stored of a queue as a whole. */
export interface QueueRow {
  readonly id: number
  readonly isPaused: boolean
}

/** A queue that was written to before; `undefined` if it never was. */
export function findQueue(session: Session, name: string): QueueRow | undefined {
  const row = session.queueFind.get(name) as QueueColumns | undefined
  if (row === undefined) return undefined
  return { id: row.id, isPaused: row.paused === 1 }
}

/** Everything that is stored of one key, for those who only look. */
export function readKey(session: Session, queueId: number, key: string): KeyRecord | undefined {
  const row = session.keyFind.get(queueId, key) as KeyColumns | undefined
  return row === undefined ? undefined : recordOf(row)
}

/** Everything that is stored of several keys, for those who only look. */
export function readKeys(
  session: Session,
  queueId: number,
  keys: readonly string[],
): Map<string, KeyRecord> {
  const rows = session.keysFind.all(JSON.stringify(keys), queueId) as KeyColumns[]
  return new Map(rows.map((row) => [row.key, recordOf(row)]))
}

/**
 * One queue within one transaction that writes: hands out places in line, keeps count of what is
 * owed, and writes keys back after the transitions have changed them.
 */
export class QueueTransaction {
  readonly session: Session
  readonly store: StoreRow
  readonly queueId: number
  readonly isPaused: boolean
  #seq: number
  #owed: number
  #hasWritten = false

  constructor(session: Session, name: string, store: StoreRow) {
    this.session = session
    this.store = store
    let row = session.queueFind.get(name) as QueueColumns | undefined
    if (row === undefined) {
      session.queueMake.run(name)
      row = session.queueFind.get(name) as QueueColumns
    }
    this.queueId = row.id
    this.isPaused = row.paused === 1
    this.#seq = row.seq
    this.#owed = row.owed
  }

  /** The store's present, one for the whole transaction. */
  get now(): EpochMs {
    return this.store.now
  }

  /** How many keys are owed a run. */
  get owed(): number {
    return this.#owed
  }

  /** Draws `n` places in line; answers with the first. */
  drawSeqs(n: number): number {
    const first = this.#seq + 1
    this.#seq += n
    return first
  }

  /** Sees to it that later keys take their places behind one that has brought its place along. */
  makeRoomFor({ seq }: Readonly<KeyState>): void {
    this.#seq = Math.max(this.#seq, seq)
  }

  /** Says that keys were written past this object, and by how many the number of those owed rose. */
  wrote(owedMore: number): void {
    this.#hasWritten = true
    this.#owed += owedMore
  }

  /** Reads one key; a new one if nothing is stored of it. */
  key(key: string): KeyRecord {
    return readKey(this.session, this.queueId, key) ?? newRecord(key)
  }

  /** Reads several keys; those of which nothing is stored are missing. */
  keys(keys: readonly string[]): Map<string, KeyRecord> {
    return readKeys(this.session, this.queueId, keys)
  }

  /** Lets `verb` change a key, and stores what became of it. */
  change<T>(record: KeyRecord, verb: (record: KeyRecord) => T): T {
    const before = copyOf(record.state)
    const { item, lastError } = record
    const outcome = verb(record)
    const isChanged =
      item !== record.item || lastError !== record.lastError || !isSame(before, record.state)
    if (isChanged || record.id === undefined) {
      this.#store(record, before.dueAt !== never)
    }
    return outcome
  }

  #store(record: KeyRecord, wasOwed: boolean): void {
    const { session } = this
    const { id, key, state } = record
    if (transitions.isGone(state)) {
      if (id === undefined) return
      session.keyDelete.run(id)
    } else if (id === undefined) {
      session.keyInsert.run(this.queueId, key, ...columnsOf(record))
    } else {
      session.keyUpdate.run(...columnsOf(record), id)
    }
    const isOwed = state.dueAt !== never
    this.wrote(Number(isOwed) - Number(wasOwed))
  }

  /** Writes back what was drawn. To be called once, at the end. */
  end(): void {
    if (!this.#hasWritten) return
    this.session.queueSave.run(this.#seq, this.#owed, this.queueId)
  }
}
