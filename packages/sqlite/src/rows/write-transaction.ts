import { type EpochMs, type KeyState, never, transitions } from '@sluice/core/driver'
import type { Statements } from '../connection/statements.ts'
import { columnsOf, isSame, newKey, readKey, readKeys, type StoredKey } from './key-row.ts'
import { addQueue } from './queue-row.ts'
import type { StoreRow } from './store-row.ts'

/**
 * One queue within one transaction that writes: counts the pending keys if the queue has ever had a
 * limit for them, and writes keys back after the transitions have changed them.
 */
export class WriteTransaction {
  readonly statements: Statements
  readonly store: StoreRow
  readonly queueId: number
  readonly isPaused: boolean
  readonly #stored: number | null
  #pending: number | null

  constructor(statements: Statements, name: string, store: StoreRow) {
    this.statements = statements
    this.store = store
    const { id, isPaused, pending } = store.queue ?? addQueue(statements, name)
    this.queueId = id
    this.isPaused = isPaused
    this.#stored = pending
    this.#pending = pending
  }

  /** The store's time, one instant for the whole transaction. */
  get now(): EpochMs {
    return this.store.now
  }

  /** How many keys have a pending run. From the first time on, the number is stored. */
  get pending(): number {
    this.#pending ??= (
      this.statements.queuesCount.get(this.queueId) as { readonly pending: number }
    ).pending
    return this.#pending
  }

  /** Draws `n` positions in the order; returns the first. */
  drawSeqs(n: number): number {
    return this.store.drawSeqs(n)
  }

  /** Keys that are added later come after an imported key, which keeps its position. */
  makeRoomFor({ seq }: Readonly<KeyState>): void {
    this.store.raiseSeq(seq)
  }

  /** Records that pending keys were inserted without this object, at positions that were drawn. */
  inserted(count: number): void {
    if (this.#pending !== null) this.#pending += count
  }

  /** Records that stored keys were changed without this object, and how many more are pending. */
  changed(pendingMore: number): void {
    this.store.changed()
    if (this.#pending !== null) this.#pending += pendingMore
  }

  /** Records that keys were deleted without being read. The next add with a limit counts what is pending. */
  purged(): void {
    this.store.changed()
    this.#pending = null
  }

  /** Reads one key; a new one if nothing is stored of it. */
  key(key: string): StoredKey {
    return readKey(this.statements, this.queueId, key) ?? newKey(key)
  }

  /** Reads several keys; keys of which nothing is stored are missing. */
  keys(keys: readonly string[]): Map<string, StoredKey> {
    return readKeys(this.statements, this.queueId, keys)
  }

  /** Lets `verb` change a key, and stores the result. */
  change<T>(stored: StoredKey, verb: (stored: StoredKey) => T): T {
    const before = { ...stored.state }
    const { item, lastError } = stored
    const outcome = verb(stored)
    const isChanged =
      item !== stored.item || lastError !== stored.lastError || !isSame(before, stored.state)
    if (isChanged) this.#store(stored, before.dueAt !== never)
    return outcome
  }

  #store(stored: StoredKey, wasPending: boolean): void {
    const { statements } = this
    const { id, key, state } = stored
    if (transitions.isGone(state)) {
      if (id === undefined) return
      statements.keysDelete.run(id)
    } else if (id === undefined) {
      statements.keysInsert.run(this.queueId, key, ...columnsOf(stored))
    } else {
      statements.keysUpdate.run(...columnsOf(stored), id)
    }
    const isPending = state.dueAt !== never
    this.changed(Number(isPending) - Number(wasPending))
  }

  /** Writes back the number of pending keys. To be called once, at the end. */
  end(): void {
    if (this.#pending === this.#stored) return
    this.statements.queuesSave.run(this.#pending, this.queueId)
  }
}
