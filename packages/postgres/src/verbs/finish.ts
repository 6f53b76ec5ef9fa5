import {
  type AskOptions,
  type EpochMs,
  type Failure,
  type Finish,
  type FinishOutcome,
  type FinishReply,
  never,
  transitions,
} from '@sluice/core'
import type { Connection } from '../connection/connection.ts'
import type { Store } from '../connection/store.ts'
import { arrayLiteral } from '../rows/array-literal.ts'
import { number } from '../rows/columns.ts'
import { sortedByKey } from '../rows/key-order.ts'
import type { StoredKey } from '../rows/key-row.ts'
import { lockAndChange } from '../rows/lock-and-change.ts'
import { skipLocked } from '../rows/skip-locked.ts'
import { type BucketRunner, lockBuckets, type TokenBuckets } from '../rows/token-buckets.ts'

type Done = Extract<Finish, { as: 'done' }>

/** Outcomes as the function `done` has them. */
const outcomes: readonly FinishOutcome[] = ['idle', 'ready', 'delayed', 'parked']

const idle: FinishReply = { outcome: 'idle', dueAt: never, failures: 0 }

function isDone(finish: Finish): finish is Done {
  return finish.as === 'done'
}

/** The verb finish, beside keys that somebody else has locked. */
export async function finish(
  store: Store,
  queue: string,
  finishes: readonly Finish[],
  options: AskOptions,
): Promise<readonly (FinishReply | Failure)[]> {
  const settle = (some: readonly Finish[]): Promise<readonly (FinishReply | Failure)[]> =>
    skipLocked<Finish, FinishReply>({
      entries: some,
      keyOf: ({ key }) => key,
      serve: (few) =>
        store.transaction((connection) =>
          finishByTransitions(store, connection, queue, few, options),
        ),
      findLocked: (keys) => store.locked(queue, keys, false),
    })
  // One that is not plain takes the others along: a batch is one step.
  if (!finishes.every(isDone)) return await settle(finishes)
  const replies = await skipLocked<Done, FinishReply | undefined>({
    entries: finishes.filter(isDone),
    keyOf: ({ key }) => key,
    serve: (some) => done(store, queue, some),
    findLocked: (keys) => store.locked(queue, keys, false),
  })
  const left = finishes.filter((_, place) => replies[place] === undefined)
  if (left.length === 0) return replies as readonly (FinishReply | Failure)[]
  // What is done is done: what cannot be settled now is a failure of its own.
  const settled = await settle(left).catch((error) =>
    left.map((): Failure => ({ outcome: 'failed', error })),
  )
  let at = 0
  return replies.map((reply) => {
    if (reply !== undefined) return reply
    at += 1
    return settled[at - 1] as FinishReply | Failure
  })
}

/** Finishes what is plainly done; `undefined` for what the statement left. */
async function done(
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
    arrayLiteral(sorted.map(({ place }) => place)),
    now,
    least,
  ])
  if (number(head?.['outcome']) === finishes.length) return finishes.map(() => idle)
  const replies = new Array<FinishReply | undefined>(finishes.length).fill(undefined)
  for (const row of rest) {
    replies[number(row['place'])] = {
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
  withBuckets: BucketRunner = (work) => work(connection),
): Promise<readonly FinishReply[]> {
  const { statements } = store
  return await lockAndChange(connection, statements, {
    queue,
    keys: finishes.map(({ key }) => key),
    creates: false,
    time: store.time,
    async change(locked) {
      const plans = finishes.map((one) => (one.as === 'retry' ? one.plan : undefined))
      return await lockBuckets(withBuckets, statements, plans, (tokenBuckets) =>
        finishes.map((one, place): FinishReply => {
          const entry = locked.key(one.key)
          const outcome = finishOne(
            entry,
            one,
            options,
            locked.now,
            locked.seq(place),
            tokenBuckets,
          )
          if (outcome === 'lost') return { outcome, dueAt: never, failures: 0 }
          return { outcome, dueAt: entry.state.dueAt, failures: entry.state.failures }
        }),
      )
    },
  })
}

function finishOne(
  entry: StoredKey,
  one: Finish,
  { dedupe }: AskOptions,
  now: EpochMs,
  seq: number,
  tokenBuckets: TokenBuckets,
): FinishOutcome {
  const { state } = entry
  const { token } = one
  switch (one.as) {
    case 'done':
      return transitions.done(state, token, one.forget, now, seq)
    case 'release':
      return transitions.release(state, token, dedupe, now, seq)
    case 'park': {
      const hasFailed = one.error !== undefined
      const outcome = transitions.parkHeld(state, token, hasFailed, dedupe, now, seq)
      if (outcome !== 'lost') entry.lastError = one.error ?? entry.lastError
      return outcome
    }
    case 'retry': {
      const plan = tokenBuckets.planned(one.plan, state.failures, one.jitter, now)
      const delayMs = plan?.delayMs ?? one.delayMs
      const outcome = transitions.retry(state, token, delayMs, dedupe, now, seq)
      if (outcome === 'lost') return outcome
      plan?.charge()
      entry.lastError = one.error ?? entry.lastError
      return outcome
    }
  }
}
