import { type EpochMs, type KeyState, never, transitions } from '@sluice/core/driver'
import type { Statements } from '../connection/statements.ts'
import { columnsOf, copyOf, isSame, newKey, readKey, readKeys, type StoredKey } from './key-row.ts'
import type { QueueColumns } from './queue-row.ts'
import type { StoreRow } from './store-row.ts'

/**
 * One queue within one transaction that writes: hands out places in line, keeps count of what is
 * owed, and writes keys back after the transitions have changed them.
 */
export class WriteTransaction {
  readonly statements: Statements
  readonly store: StoreRow
  readonly queueId: number
  readonly isPaused: boolean
  #seq: number
  #pending: number
  #hasWritten = false

  constructor(statements: Statements, name: string, store: StoreRow) {
    this.statements = statements
    this.store = store
    let row = statements.queuesFind.get(name) as QueueColumns | undefined
    if (row === undefined) {
      statements.queuesAdd.run(name)
      row = statements.queuesFind.get(name) as QueueColumns
    }
    this.queueId = row.id
    this.isPaused = row.paused === 1
    this.#seq = row.seq
    this.#pending = row.pending
  }

  /** The store's present, one for the whole transaction. */
  get now(): EpochMs {
    return this.store.now
  }

  /** How many keys are owed a run. */
  get pending(): number {
    return this.#pending
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

  /**
   * Says that keys were written past this object, and by how many the number of those owed rose.
   */
  wrote(pendingMore: number): void {
    this.#hasWritten = true
    this.#pending += pendingMore
  }

  /** Reads one key; a new one if nothing is stored of it. */
  key(key: string): StoredKey {
    return readKey(this.statements, this.queueId, key) ?? newKey(key)
  }

  /** Reads several keys; those of which nothing is stored are missing. */
  keys(keys: readonly string[]): Map<string, StoredKey> {
    return readKeys(this.statements, this.queueId, keys)
  }

  /** Lets `verb` change a key, and stores what became of it. */
  change<T>(record: StoredKey, verb: (record: StoredKey) => T): T {
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

  #store(record: StoredKey, wasPending: boolean): void {
    const { statements } = this
    const { id, key, state } = record
    if (transitions.isGone(state)) {
      if (id === undefined) return
      statements.keysDelete.run(id)
    } else if (id === undefined) {
      statements.keysInsert.run(this.queueId, key, ...columnsOf(record))
    } else {
      statements.keysUpdate.run(...columnsOf(record), id)
    }
    const isPending = state.dueAt !== never
    this.wrote(Number(isPending) - Number(wasPending))
  }

  /** Writes back what was drawn. To be called once, at the end. */
  end(): void {
    if (!this.#hasWritten) return
    this.statements.queuesSave.run(this.#seq, this.#pending, this.queueId)
  }
}
