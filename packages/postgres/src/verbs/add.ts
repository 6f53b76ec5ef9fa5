import {
  type Ask,
  type AskOptions,
  type AskReply,
  type Failure,
  never,
  transitions,
} from '@sluice/core'
import type { Row } from '../connection/client-shapes.ts'
import type { Connection } from '../connection/connection.ts'
import { mayBeOfHint } from '../connection/errors.ts'
import type { Store } from '../connection/store.ts'
import type { Hint, WakeSignal } from '../connection/wake-signal.ts'
import { arrayLiteral } from '../rows/array-literal.ts'
import { number } from '../rows/columns.ts'
import { sortedByKey } from '../rows/key-order.ts'
import { itemChars, itemCharsMax, lockAndChange } from '../rows/lock-and-change.ts'
import { skipLocked } from '../rows/skip-locked.ts'
import { type BucketRunner, lockBuckets } from '../rows/token-buckets.ts'

/** Outcomes as the function `add` has them; 4 is a key of which nothing was stored. */
const outcomes = ['unchanged', 'added', 'moved', 'parked', 'added'] as const

/** Whether the store can serve a batch with its one statement. */
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
 * The verb add, beside keys that somebody else has locked; it rings the bell. A plain batch takes the
 * hint for other processes along, if they were not told lately.
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
  let hint = taken
  const serve = async (some: readonly Ask[]): Promise<readonly AskReply[]> => {
    if (!plain) {
      return await store.transaction((connection) =>
        addByTransitions(store, connection, queue, some, options),
      )
    }
    try {
      return await addPlain(store, queue, some, options, hint)
    } catch (error) {
      // A hint may be lost, but not what it tells of.
      if (hint === undefined || !mayBeOfHint(error)) throw error
      hint = undefined
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
    if (hint !== undefined) wakeSignal.suspendNotices()
  })
  const wakes = replies.some(({ outcome }) => outcome === 'added' || outcome === 'moved')
  if (!wakes) {
    if (taken !== undefined) wakeSignal.leave(queue)
  } else if (hint === undefined) wakeSignal.wake(queue)
  else wakeSignal.wakeHere(queue)
  return replies
}

async function addPlain(
  store: Store,
  queue: string,
  asks: readonly Ask[],
  { dedupe, failuresExpireMs }: AskOptions,
  hint: Hint | undefined,
): Promise<readonly AskReply[]> {
  const sorted = sortedByKey(asks)
  const moment = store.time.moment()
  const rows = await store.run('add', [
    queue,
    arrayLiteral(sorted.map(({ key }) => key)),
    arrayLiteral(sorted.map(({ entry }) => entry.item)),
    arrayLiteral(sorted.map(({ entry }) => entry.priority)),
    arrayLiteral(sorted.map(({ entry }) => entry.delayMs)),
    arrayLiteral(sorted.map(({ place }) => place)),
    dedupe === 'client-go',
    failuresExpireMs,
    moment.now,
    moment.least,
    hint?.channel,
    hint?.payload,
  ])
  const [head, ...rest] = rows
  const now = number(head?.['due_at'])
  store.time.heard(now, moment)
  if (rest.length === 0) {
    return asks.map(({ delayMs }) => {
      return { outcome: 'added', dueAt: delayMs > 0 ? now + delayMs : now, failures: 0 }
    })
  }
  const replies = new Map<string, AskReply>()
  for (const row of rest) {
    const key = String(row['key'])
    // What was written comes first; what is said of a key after that is what was left alone.
    if (!replies.has(key)) replies.set(key, askReply(row))
  }
  return asks.map(({ key }) => replies.get(key) as AskReply)
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
  withBuckets?: BucketRunner,
): Promise<readonly AskReply[]> {
  const { maxPending = never, failuresExpireMs } = options
  const { statements } = store
  const charge: BucketRunner = withBuckets ?? ((work) => work(connection))
  // A transaction of the caller's would block all other adds until it ends.
  const locksQueue = withBuckets === undefined
  let pending = 0
  if (maxPending !== never) {
    const rows = await connection.query(statements.countPending, [queue, maxPending, locksQueue])
    pending = number(rows[0]?.['pending'])
  }
  return await lockAndChange(connection, statements, {
    queue,
    keys: asks.map(({ key }) => key),
    creates: true,
    time: store.time,
    async change(locked) {
      const { now } = locked
      const plans = asks.map(({ plan }) => plan)
      return await lockBuckets(charge, statements, plans, (tokenBuckets) =>
        asks.map((ask, place): AskReply => {
          const entry = locked.key(ask.key)
          const { state } = entry
          const before = transitions.countedFailures(state, now, failuresExpireMs)
          const isNew = state.dueAt === never
          if (isNew && pending >= maxPending) {
            return { outcome: 'full', dueAt: never, failures: before }
          }
          if (isNew) pending += 1
          const plan = tokenBuckets.planned(ask.plan, before, ask.jitter, now)
          const delayMs = plan?.delayMs ?? ask.delayMs
          const outcome = transitions.ask(state, ask, delayMs, options, now, locked.seq(place))
          entry.item = ask.item
          if (outcome !== 'unchanged') plan?.charge()
          const { dueAt, failures } = state
          return {
            outcome,
            dueAt,
            failures,
            ...(plan !== undefined && { plannedMs: plan.delayMs }),
          }
        }),
      )
    },
  })
}
