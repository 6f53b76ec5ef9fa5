/**
 * Verbs that are worked out here, by the transitions of the contract: lock the rows of a batch, read
 * them, change them, write them, in one short transaction.
 *
 * What is done with one statement instead (plain asks, claims, done, renewals) is what a busy queue
 * does all day; see the decision record 0051.
 */
import { type EpochMs, type KeyState, transitions } from '@sluice/core'
import type { Connection } from '../connection/connection.ts'
import type { Statements } from '../connection/statements.ts'
import { arrayLiteral, type Element } from './array-literal.ts'
import { number, text } from './columns.ts'
import { bytewise } from './key-order.ts'
import { dueReasons, type StoredKey, storedKey } from './key-row.ts'
import type { StoreTime } from './store-time.ts'

/** The keys of a batch while they are locked. */
export interface LockedKeys {
  /** The store's time. */
  readonly now: EpochMs
  /** The place in line of the entry that stood there in the batch. */
  seq(place: number): number
  /** The key; with nothing stored of it if there was no row. */
  key(key: string): StoredKey
}

/** What is asked of {@link lockAndChange}. */
export interface KeyChange<T> {
  readonly queue: string
  readonly keys: readonly string[]
  /** Whether keys that are not there are made. */
  readonly creates: boolean
  /** Tells the present. */
  readonly time: StoreTime
  /** Changes keys; nothing is written if it throws. */
  change(locked: LockedKeys): T | Promise<T>
}

/**
 * How many characters of items one statement takes along: neither a text of Postgres nor one of
 * JavaScript may be as long as a batch of the longest items.
 */
export const itemCharsMax: number = 32 * 1024 * 1024

/** How many characters of items there are. */
export function itemChars(entries: readonly { readonly item: string | undefined }[]): number {
  return entries.reduce((sum, { item }) => sum + (item?.length ?? 0), 0)
}

/** Parts, each of which one statement can write. */
function inParts(entries: readonly Held[]): Held[][] {
  const parts: Held[][] = [[]]
  let chars = 0
  for (const entry of entries) {
    const more = entry.item?.length ?? 0
    if (chars > 0 && chars + more > itemCharsMax) {
      parts.push([])
      chars = 0
    }
    chars += more
    parts.at(-1)?.push(entry)
  }
  return parts
}

interface Held extends StoredKey {
  /** As it was read; undefined if there is no row. */
  readonly before: string | undefined
}

function fingerprint({ state, item, lastError }: StoredKey): string {
  const { dueAt, why, laterAt, laterWhy, readyAt, seq, priority, askedAt } = state
  const { token, failures, crashes, failedAt, parked } = state
  const owed = [dueAt, why, laterAt, laterWhy, readyAt, seq, priority, askedAt]
  const rest = [token, failures, crashes, failedAt, parked]
  return `${owed.join()}|${rest.join()}|${item === undefined}|${item}|${lastError}`
}

function absent(key: string): Held {
  return { ...storedKey({ key, seq: 0, priority: 0, failures: 0, crashes: 0 }), before: undefined }
}

/** Locks, changes and writes keys on a connection that is in a transaction. */
export async function lockAndChange<T>(
  connection: Connection,
  statements: Statements,
  work: KeyChange<T>,
): Promise<T> {
  const { queue, creates, time } = work
  const moment = time.moment()
  const keys = [...work.keys].sort(bytewise)
  const asked = [queue, arrayLiteral(keys), creates, moment.now, moment.least]
  const rows = await connection.query(statements.lockKeys, asked)
  const held = new Map<string, Held>()
  let storeNow = 0
  let base = 0
  for (const row of rows) {
    if (text(row['key']) === undefined) {
      storeNow = number(row['now'])
      base = number(row['base'])
      continue
    }
    const stored = storedKey(row)
    held.set(stored.key, { ...stored, before: fingerprint(stored) })
  }
  time.heard(storeNow, moment)
  const answer = await work.change({
    now: storeNow,
    seq: (place) => base + place,
    key(key) {
      let entry = held.get(key)
      if (entry === undefined) {
        entry = absent(key)
        held.set(key, entry)
      }
      return entry
    },
  })
  await writeKeys(connection, statements, queue, [...held.values()])
  return answer
}

async function writeKeys(
  connection: Connection,
  statements: Statements,
  queue: string,
  held: readonly Held[],
): Promise<void> {
  const stored = held.filter(({ before }) => before !== undefined)
  const gone = stored.filter(({ state }) => transitions.isGone(state))
  const changed = stored.filter(
    (entry) => !transitions.isGone(entry.state) && fingerprint(entry) !== entry.before,
  )
  if (gone.length === 0 && changed.length === 0) return
  for (const [nth, part] of inParts(changed).entries()) {
    await writePart(connection, statements, queue, nth === 0 ? gone : [], part)
  }
}

async function writePart(
  connection: Connection,
  statements: Statements,
  queue: string,
  gone: readonly Held[],
  changed: readonly Held[],
): Promise<void> {
  const column = (read: (state: KeyState) => Element): string =>
    arrayLiteral(changed.map(({ state }) => read(state)))
  const orNull = (value: number): number | null => (value === Infinity ? null : value)
  await connection.query(statements.writeKeys, [
    queue,
    arrayLiteral(gone.map(({ key }) => key)),
    arrayLiteral(changed.map(({ key }) => key)),
    arrayLiteral(changed.map(({ item }) => item)),
    arrayLiteral(changed.map(({ lastError }) => lastError)),
    column((state) => state.dueAt),
    column((state) => dueReasons.indexOf(state.why)),
    column((state) => state.laterAt),
    column((state) => dueReasons.indexOf(state.laterWhy)),
    column((state) => state.readyAt),
    column((state) => state.seq),
    column((state) => state.priority),
    column((state) => orNull(state.askedAt)),
    column((state) => state.token !== 0),
    column((state) => state.failures),
    column((state) => state.crashes),
    column((state) => orNull(state.failedAt)),
    column((state) => state.parked),
  ])
}
