import {
  type Ask,
  type AskOptions,
  type AskReply,
  type Failure,
  never,
  transitions,
} from '@sluice/core/driver'
import type { Row } from '../connection/client-shapes.ts'
import type { Connection } from '../connection/connection.ts'
import { mayBeOfNotice } from '../connection/errors.ts'
import type { Store } from '../connection/store.ts'
import type { Notice, WakeSignal } from '../notices/wake-signal.ts'
import { arrayLiteral } from '../rows/array-literal.ts'
import { number } from '../rows/columns.ts'
import { sortedByKey } from '../rows/key-order.ts'
import { lockAndChange } from '../rows/lock-and-change.ts'
import { skipLocked } from '../rows/skip-locked.ts'
import { lockBuckets, type OnBucketConnection } from '../rows/token-buckets.ts'

/** Outcomes as the function `add` numbers them; 4 is a key that had no row. */
const outcomes = ['unchanged', 'added', 'moved', 'parked', 'added'] as const

/** How many characters of items one statement adds at most. */
const itemCharsMax = 4 * 1024 * 1024

function itemChars(asks: readonly Ask[]): number {
  return asks.reduce((sum, { item }) => sum + (item?.length ?? 0), 0)
}

/** Whether one statement can serve the batch. */
function isPlain(asks: readonly Ask[], { maxPending }: AskOptions): boolean {
  return (
    maxPending === undefined &&
    itemChars(asks) <= itemCharsMax &&
    asks.every(
      ({ plan, failed, maxWaitMs }) =>
        plan === undefined && failed !== true && maxWaitMs === undefined,
    )
  )
}

/**
 * The verb add, which wakes workers. Keys that another transaction has locked fail alone. The
 * statement of a plain batch also sends the notice for other processes, unless one was sent lately.
 */
export async function add(
  store: Store,
  wakeSignal: WakeSignal,
  queue: string,
  asks: readonly Ask[],
  options: AskOptions,
): Promise<readonly (AskReply | Failure)[]> {
  const plain = isPlain(asks, options)
  const taken = plain ? wakeSignal.takeNotice(queue) : undefined
  let notice = taken
  const serve = async (some: readonly Ask[]): Promise<readonly AskReply[]> => {
    if (!plain) {
      return await store.transaction((connection) =>
        addByTransitions(store, connection, queue, some, options),
      )
    }
    try {
      return await addPlain(store, queue, some, options, notice)
    } catch (error) {
      // The notice may be lost, but not the keys.
      if (notice === undefined || !mayBeOfNotice(error)) throw error
      notice = undefined
      wakeSignal.suspendNotices()
      return await addPlain(store, queue, some, options, undefined)
    }
  }
  const adding = skipLocked<Ask, AskReply>({
    entries: asks,
    keyOf: ({ key }) => key,
    serve,
    findLocked: (keys) => store.locked(queue, keys, true),
  })
  const replies = await wakeSignal.wakeIfUnknown(queue, adding, () => {
    if (notice !== undefined) wakeSignal.suspendNotices()
  })
  const wakes = replies.some(({ outcome }) => outcome === 'added' || outcome === 'moved')
  if (!wakes) {
    if (taken !== undefined) wakeSignal.returnNotice(queue)
  } else if (notice === undefined) wakeSignal.wake(queue)
  else wakeSignal.wakeHere(queue)
  return replies
}

async function addPlain(
  store: Store,
  queue: string,
  asks: readonly Ask[],
  { dedupe, failuresExpireMs }: AskOptions,
  notice: Notice | undefined,
): Promise<readonly AskReply[]> {
  const sorted = sortedByKey(asks)
  const moment = store.time.moment()
  const rows = await store.run('add', [
    queue,
    arrayLiteral(sorted.map(({ key }) => key)),
    arrayLiteral(sorted.map(({ entry }) => entry.item)),
    arrayLiteral(sorted.map(({ entry }) => entry.priority)),
    arrayLiteral(sorted.map(({ entry }) => entry.delayMs)),
    arrayLiteral(sorted.map(({ index }) => index)),
    dedupe === 'client-go',
    failuresExpireMs,
    moment.now,
    moment.least,
    notice?.channel,
    notice?.payload,
    tracesOf(sorted.map(({ entry }) => entry)),
  ])
  const [head, ...rest] = rows
  const now = number(head?.['due_at'])
  store.time.noteAnswer(now, moment)
  if (rest.length === 0) {
    return asks.map(({ delayMs }) => {
      return { outcome: 'added', dueAt: delayMs > 0 ? now + delayMs : now, failures: 0 }
    })
  }
  const replies = new Map<string, AskReply>()
  for (const row of rest) {
    const key = String(row['key'])
    // Rows that were written come first; a key that follows only later was left unchanged.
    if (!replies.has(key)) replies.set(key, askReply(row))
  }
  return asks.map(({ key }) => replies.get(key) as AskReply)
}

/** The trace contexts of asks as an array; null, which costs nothing, if none has any. */
function tracesOf(asks: readonly Ask[]): string | null {
  if (asks.every(({ trace }) => trace === undefined)) return null
  return arrayLiteral(asks.map(({ trace }) => trace))
}

function askReply(row: Row): AskReply {
  return {
    outcome: outcomes[number(row['outcome'])] ?? 'unchanged',
    dueAt: number(row['due_at']),
    failures: number(row['failures']),
  }
}

/** The verb add by the transitions, within a transaction. */
export async function addByTransitions(
  store: Store,
  connection: Connection,
  queue: string,
  asks: readonly Ask[],
  options: AskOptions,
  onBucketConnection?: OnBucketConnection,
): Promise<readonly AskReply[]> {
  const { maxPending = never, failuresExpireMs } = options
  // In a transaction of the caller's, the lock would block all other adds until it ends.
  const locksQueue = onBucketConnection === undefined
  let pending = 0
  if (maxPending !== never) {
    const values = [queue, maxPending, locksQueue]
    const [row] = await connection.query(store.statements.countPending, values)
    pending = number(row?.['pending'])
  }
  return await lockAndChange(connection, store, {
    queue,
    keys: asks.map(({ key }) => key),
    // A full queue gets no rows, which would only be deleted again.
    creates: pending < maxPending,
    async change({ now: lockedAt, seq, key: find }) {
      const plans = asks.map(({ plan }) => plan)
      const onConnection: OnBucketConnection = onBucketConnection ?? ((work) => work(connection))
      return await lockBuckets(onConnection, store, plans, lockedAt, (buckets, now) =>
        asks.map((ask, index): AskReply => {
          const entry = find(ask.key)
          const { state } = entry
          const before = transitions.countedFailures(state, now, failuresExpireMs)
          const isNew = state.dueAt === never
          if (isNew && pending >= maxPending) {
            return { outcome: 'full', dueAt: never, failures: before }
          }
          if (isNew) pending += 1
          const delayMs = buckets.delayOf(ask, before, now)
          const outcome = transitions.ask(state, ask, delayMs, options, now, seq(index))
          entry.item = ask.item
          if (outcome !== 'unchanged') buckets.charge()
          const { dueAt, failures } = state
          return { outcome, dueAt, failures, ...(ask.plan && { plannedMs: delayMs }) }
        }),
      )
    },
  })
}
