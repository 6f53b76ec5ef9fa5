import {
  type AskOptions,
  type Failure,
  type Finish,
  type FinishOutcome,
  type FinishReply,
  never,
  transitions,
} from '@sluice/core/driver'
import type { Connection } from '../connection/connection.ts'
import type { Store } from '../connection/store.ts'
import { arrayLiteral } from '../rows/array-literal.ts'
import { number } from '../rows/columns.ts'
import { sortedByKey } from '../rows/key-order.ts'
import { lockAndChange } from '../rows/lock-and-change.ts'
import { skipLocked } from '../rows/skip-locked.ts'
import { lockBuckets, type OnBucketConnection } from '../rows/token-buckets.ts'

type Done = Extract<Finish, { as: 'done' }>

/** Outcomes as the function `finish_done` numbers them. */
const outcomes: readonly FinishOutcome[] = ['idle', 'ready', 'delayed', 'parked']

const idle: FinishReply = { outcome: 'idle', dueAt: never, failures: 0 }

/** Whether one statement can finish it. */
function isDone(finish: Finish): finish is Done {
  return finish.as === 'done' && finish.again === undefined
}

/** The verb finish. Keys that another transaction has locked fail alone. */
export async function finish(
  store: Store,
  queue: string,
  finishes: readonly Finish[],
  options: AskOptions,
): Promise<readonly (FinishReply | Failure)[]> {
  const finishInTransaction = (
    some: readonly Finish[],
  ): Promise<readonly (FinishReply | Failure)[]> =>
    skipLocked<Finish, FinishReply>({
      entries: some,
      keyOf: ({ key }) => key,
      serve: (few) =>
        store.transaction((connection) =>
          finishByTransitions(store, connection, queue, few, options),
        ),
      findLocked: (keys) => store.locked(queue, keys, false),
    })
  // One that is not done takes the whole batch along, since a batch is one step.
  if (!finishes.every(isDone)) return await finishInTransaction(finishes)
  const replies = await skipLocked<Done, FinishReply | undefined>({
    entries: finishes.filter(isDone),
    keyOf: ({ key }) => key,
    serve: (some) => finishDone(store, queue, some),
    findLocked: (keys) => store.locked(queue, keys, false),
  })
  const left = finishes.filter((_, index) => replies[index] === undefined)
  if (left.length === 0) return replies as readonly (FinishReply | Failure)[]
  // The others stay finished: a failure now is one of these keys only.
  const later = await finishInTransaction(left).catch((error) =>
    left.map((): Failure => ({ outcome: 'failed', error })),
  )
  let next = 0
  return replies.map((reply) => {
    if (reply !== undefined) return reply
    next += 1
    return later[next - 1] as FinishReply | Failure
  })
}

/** Finishes in one statement; `undefined` for a key that the statement left. */
async function finishDone(
  store: Store,
  queue: string,
  finishes: readonly Done[],
): Promise<readonly (FinishReply | undefined)[]> {
  const sorted = sortedByKey(finishes)
  const { now, least } = store.time.moment()
  const [head, ...rest] = await store.run('finishDone', [
    queue,
    arrayLiteral(sorted.map(({ key }) => key)),
    arrayLiteral(sorted.map(({ entry }) => entry.token)),
    arrayLiteral(sorted.map(({ entry }) => entry.forget)),
    arrayLiteral(sorted.map(({ index }) => index)),
    now,
    least,
  ])
  if (number(head?.['outcome']) === finishes.length) return finishes.map(() => idle)
  const replies = new Array<FinishReply | undefined>(finishes.length).fill(undefined)
  for (const row of rest) {
    replies[number(row['index'])] = {
      outcome: outcomes[number(row['outcome'])] ?? 'idle',
      dueAt: number(row['due_at']),
      failures: number(row['failures']),
    }
  }
  return replies
}

/** The verb finish by the transitions, within a transaction. */
export async function finishByTransitions(
  store: Store,
  connection: Connection,
  queue: string,
  finishes: readonly Finish[],
  options: AskOptions,
  onBucketConnection: OnBucketConnection = (work) => work(connection),
): Promise<readonly FinishReply[]> {
  return await lockAndChange(connection, store, {
    queue,
    keys: finishes.map(({ key }) => key),
    creates: false,
    async change({ now: lockedAt, seq, key: find }) {
      const plans = finishes.map((one) => (one.as === 'retry' ? one.plan : undefined))
      return await lockBuckets(onBucketConnection, store, plans, lockedAt, (buckets, now) =>
        finishes.map((one, index): FinishReply => {
          const entry = find(one.key)
          const { state } = entry
          const delayMs = buckets.delayOf(one, state.failures, now)
          const outcome = transitions.finish(state, one, delayMs, options, now, seq(index))
          if (outcome === 'lost') return { outcome, dueAt: never, failures: 0 }
          buckets.charge()
          entry.lastError = transitions.errorOf(one) ?? entry.lastError
          return { outcome, dueAt: state.dueAt, failures: state.failures }
        }),
      )
    },
  })
}
