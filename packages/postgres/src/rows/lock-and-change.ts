/**
 * Verbs that the transitions of the contract work out: lock the rows of a batch, read them, change
 * them, write them, in one short transaction.
 *
 * What a busy queue does all day (plain adds, claims, done, renewals) takes one statement instead;
 * see the decision record 0051.
 */
import { type EpochMs, type KeyState, transitions } from '@sluice/core/driver'
import type { Connection } from '../connection/connection.ts'
import type { Statements } from '../connection/statements.ts'
import type { Store } from '../connection/store.ts'
import { arrayLiteral, type Element } from './array-literal.ts'
import { number, text } from './columns.ts'
import { inLockOrder } from './key-order.ts'
import { dueReasons, type StoredKey, storedKey } from './key-row.ts'

/** The keys of a batch while they are locked. */
export interface LockedKeys {
  /** The store's time. */
  readonly now: EpochMs
  /** The position in the order for the entry with that index in the batch. */
  seq(index: number): number
  /** The key; empty if there was no row. */
  key(key: string): StoredKey
}

/** A change of the keys of a batch. */
export interface KeyChange<T> {
  readonly queue: string
  readonly keys: readonly string[]
  /** Whether keys without a row get one. */
  readonly creates: boolean
  /** Whether it reads items. Otherwise a mark is in place of those that are long. */
  readonly readsItems?: boolean | undefined
  /** Changes keys; nothing is written if it throws. */
  change(locked: LockedKeys): T | Promise<T>
}

/**
 * How many characters of items and errors one statement of a transaction has at most, if it has several. The server
 * ends a transaction in which the next statement takes 5 s to arrive, and a busy client or a slow network needs a
 * while. Neither a text of Postgres nor one of JavaScript may be as long as the longest batch anyway.
 */
const partCharsMax = 1024 * 1024

/**
 * How many bytes an item or an error may have that is read though no change needs it, only whether it is the same.
 * In place of a longer one is the character 1, which no JSON has, and with which it is left as it is stored. Over a
 * slow network, the items of a batch would take longer than the server waits for the next statement.
 */
const readBytesMax = 1_024

/** Locks, changes and writes keys on a connection that is in a transaction. */
export async function lockAndChange<T>(
  connection: Connection,
  { statements, time }: Store,
  { queue, keys, creates, readsItems = false, change }: KeyChange<T>,
): Promise<T> {
  const moment = time.moment()
  const locked = arrayLiteral(inLockOrder(keys))
  const bytesMax = readsItems ? null : readBytesMax
  const values = [queue, locked, creates, moment.now, moment.least, connection.lockWaitMs, bytesMax]
  const rows = await connection.query(statements.lockKeys, values)
  const entries = new Map<string, LockedKey>()
  let storeNow = 0
  let base = 0
  for (const row of rows) {
    if (text(row['key']) === undefined) {
      storeNow = number(row['now'])
      base = number(row['base'])
      continue
    }
    const stored = storedKey(row)
    entries.set(stored.key, { ...stored, before: fingerprint(stored) })
  }
  time.noteAnswer(storeNow, moment)
  const result = await change({
    now: storeNow,
    seq: (index) => base + index,
    key(key) {
      let entry = entries.get(key)
      if (entry === undefined) {
        entry = absent(key)
        entries.set(key, entry)
      }
      return entry
    },
  })
  await writeKeys(connection, statements, queue, [...entries.values()])
  return result
}

/**
 * Changes the keys of a batch one by one, in a transaction of their own. The batch is one step: a key
 * that stays locked by another transaction fails all of it.
 */
export async function changeEach<T>(
  store: Store,
  queue: string,
  keys: readonly string[],
  verb: (entry: StoredKey, locked: LockedKeys, index: number) => T,
  {
    creates = false,
    readsItems = false,
  }: Partial<Pick<KeyChange<T>, 'creates' | 'readsItems'>> = {},
): Promise<T[]> {
  return await store.transaction((connection) =>
    lockAndChange(connection, store, {
      queue,
      keys,
      creates,
      readsItems,
      change: (locked) => keys.map((key, index) => verb(locked.key(key), locked, index)),
    }),
  )
}

interface LockedKey extends StoredKey {
  /** As it was read; undefined if there is no row. */
  readonly before: string | undefined
}

function fingerprint({ state, item, lastError }: StoredKey): string {
  const { dueAt, why, laterAt, laterWhy, readyAt, seq, priority, askedAt } = state
  const { token, failures, crashes, failedAt, parked, trace } = state
  const pending = [dueAt, why, laterAt, laterWhy, readyAt, seq, priority, askedAt, trace]
  const rest = [token, failures, crashes, failedAt, parked]
  return `${pending.join()}|${rest.join()}|${item === undefined}|${item}|${lastError}`
}

function absent(key: string): LockedKey {
  return { ...storedKey({ key, seq: 0, priority: 0, failures: 0, crashes: 0 }), before: undefined }
}

async function writeKeys(
  connection: Connection,
  statements: Statements,
  queue: string,
  entries: readonly LockedKey[],
): Promise<void> {
  const stored = entries.filter(({ before }) => before !== undefined)
  const gone = stored.filter(({ state }) => transitions.isGone(state))
  const changed = stored.filter(
    (entry) => !transitions.isGone(entry.state) && fingerprint(entry) !== entry.before,
  )
  if (gone.length === 0 && changed.length === 0) return
  for (const [index, part] of inParts(changed).entries()) {
    await writePart(connection, statements, queue, index === 0 ? gone : [], part)
  }
}

/** Parts, each of which one statement can write. */
function inParts(entries: readonly LockedKey[]): LockedKey[][] {
  const parts: LockedKey[][] = [[]]
  let chars = 0
  for (const entry of entries) {
    const more = (entry.item?.length ?? 0) + (entry.lastError?.length ?? 0)
    if (chars > 0 && chars + more > partCharsMax) {
      parts.push([])
      chars = 0
    }
    chars += more
    parts.at(-1)?.push(entry)
  }
  return parts
}

async function writePart(
  connection: Connection,
  statements: Statements,
  queue: string,
  gone: readonly LockedKey[],
  changed: readonly LockedKey[],
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
    column((state) => state.trace),
  ])
}
