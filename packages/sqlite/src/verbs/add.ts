import {
  type Ask,
  type AskOptions,
  type AskReply,
  type DueReason,
  never,
  type TokenBuckets,
  transitions,
} from '@sluice/core/driver'
import { storedReason } from '../rows/columns.ts'
import { newKey, type StoredKey } from '../rows/key-row.ts'
import { saveBuckets, tokenBuckets } from '../rows/token-buckets.ts'
import type { WriteTransaction } from '../rows/write-transaction.ts'

/**
 * Adds keys.
 *
 * Keys of which nothing is stored need no decision: one statement inserts all of them that have the
 * same options. Stored keys are read and go through the transitions.
 */
export function addVerb(
  tx: WriteTransaction,
  asks: readonly Ask[],
  options: AskOptions,
): AskReply[] {
  const firstSeq = tx.drawSeqs(asks.length)
  const replies: (AskReply | undefined)[] = Array(asks.length).fill(undefined)
  const { maxPending = Infinity } = options
  const hasRoom = maxPending === Infinity || tx.pending + asks.length <= maxPending
  if (hasRoom && asks.every(isPlain)) {
    if (asks.length > 1 && isUniform(asks)) insertUniform(tx, asks, firstSeq, replies)
    else insertEach(tx, asks, firstSeq, replies)
  }
  const left = asks.filter((_, index) => replies[index] === undefined)
  if (left.length === 0) return replies as AskReply[]

  const known = readKnown(tx, left)
  const buckets = tokenBuckets(tx.statements)
  for (const [index, ask] of asks.entries()) {
    if (replies[index] !== undefined) continue
    const stored = known.get(ask.key) ?? newKey(ask.key)
    replies[index] = decide(tx, stored, ask, options, firstSeq + index, buckets)
  }
  saveBuckets(tx.statements, buckets)
  return replies as AskReply[]
}

/** Whether the row of a new key depends on the ask alone. */
function isPlain(ask: Ask): boolean {
  return ask.plan === undefined && ask.failed !== true
}

function readKnown(tx: WriteTransaction, asks: readonly Ask[]): Map<string, StoredKey> {
  const [only] = asks
  if (asks.length > 1 || only === undefined) return tx.keys(asks.map(({ key }) => key))
  const stored = tx.key(only.key)
  return new Map([[stored.key, stored]])
}

function isUniform([first, ...others]: readonly Ask[]): boolean {
  return others.every((ask) => {
    const { priority, delayMs, trace } = ask
    return priority === first?.priority && delayMs === first.delayMs && trace === first.trace
  })
}

function dueOf(tx: WriteTransaction, { delayMs }: Ask): { dueAt: number; why: DueReason } {
  return delayMs > 0 ? { dueAt: tx.now + delayMs, why: 'delay' } : { dueAt: tx.now, why: 'add' }
}

/** Inserts the keys of which nothing is stored, and fills in their replies. */
function insertUniform(
  tx: WriteTransaction,
  asks: readonly Ask[],
  firstSeq: number,
  replies: (AskReply | undefined)[],
): void {
  const { statements, queueId, now } = tx
  const [first] = asks as readonly [Ask]
  const { dueAt, why } = dueOf(tx, first)
  const hasItems = asks.some(({ item }) => item !== undefined)
  const statement = hasItems ? statements.addItems : statements.addKeys
  const rows = hasItems ? asks.map(({ key, item }) => [key, item]) : asks.map(({ key }) => key)
  const { changes, lastInsertRowid } = statement.run(
    queueId,
    storedReason(why),
    firstSeq,
    first.priority,
    now,
    first.trace ?? null,
    dueAt,
    JSON.stringify(rows),
  )
  const inserted = Number(changes)
  if (inserted === 0) return
  tx.inserted(inserted)
  const reply: AskReply = { outcome: 'added', dueAt, failures: 0 }
  if (inserted === asks.length) {
    replies.fill(reply)
    return
  }
  const lastId = Number(lastInsertRowid)
  const found = statements.addInserted.all(lastId - inserted + 1, lastId) as {
    readonly key: string
  }[]
  const isNew = new Set(found.map(({ key }) => key))
  for (const [index, { key }] of asks.entries()) if (isNew.has(key)) replies[index] = reply
}

/** The same where keys are added with different options. */
function insertEach(
  tx: WriteTransaction,
  asks: readonly Ask[],
  firstSeq: number,
  replies: (AskReply | undefined)[],
): void {
  const { statements, queueId, now } = tx
  let inserted = 0
  for (const [index, ask] of asks.entries()) {
    const { dueAt, why } = dueOf(tx, ask)
    const { changes } = statements.addOne.run(
      queueId,
      ask.key,
      dueAt,
      storedReason(why),
      dueAt,
      firstSeq + index,
      ask.priority,
      now,
      ask.item ?? null,
      ask.trace ?? null,
    )
    if (Number(changes) === 0) continue
    inserted += 1
    replies[index] = { outcome: 'added', dueAt, failures: 0 }
  }
  tx.inserted(inserted)
}

/** The effect of an ask on a key that may be stored already. */
function decide(
  tx: WriteTransaction,
  stored: StoredKey,
  ask: Ask,
  options: AskOptions,
  seq: number,
  buckets: TokenBuckets,
): AskReply {
  const { state } = stored
  const before = transitions.countedFailures(state, tx.now, options.failuresExpireMs)
  const { maxPending = Infinity } = options
  if (maxPending !== Infinity && state.dueAt === never && tx.pending >= maxPending) {
    return { outcome: 'full', dueAt: never, failures: before }
  }
  const delayMs = buckets.delayOf(ask, before, tx.now)
  const outcome = tx.change(stored, () => {
    stored.item = ask.item ?? null
    return transitions.ask(state, ask, delayMs, options, tx.now, seq)
  })
  if (outcome !== 'unchanged') buckets.charge()
  const { dueAt, failures } = state
  return { outcome, dueAt, failures, ...(ask.plan && { plannedMs: delayMs }) }
}
