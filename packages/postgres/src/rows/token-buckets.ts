import {
  type BucketRow,
  type BucketState,
  bucketsOf,
  type EpochMs,
  type LimiterPlan,
  TokenBuckets,
} from '@sluice/core/driver'
import type { Connection } from '../connection/connection.ts'
import type { Store } from '../connection/store.ts'
import { arrayLiteral } from './array-literal.ts'
import { number } from './columns.ts'
import { inLockOrder } from './key-order.ts'

/** Does `work` on the connection on which the buckets of a batch are locked and written. */
export type OnBucketConnection = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>

/**
 * Does `work` with the token buckets that some plans charge. They are locked meanwhile, and written
 * after it. `work` gets the time at which all are locked: `now` if there are none.
 */
export async function lockBuckets<T>(
  onConnection: OnBucketConnection,
  store: Store,
  plans: Iterable<LimiterPlan | undefined>,
  now: EpochMs,
  work: (buckets: TokenBuckets, now: EpochMs) => T,
): Promise<T> {
  const names = bucketNames(plans)
  if (names.length === 0) return work(new TokenBuckets(), now)
  return await onConnection(async (connection) => {
    const { states, now: lockedAt } = await lockedStates(connection, store, names)
    const buckets = new TokenBuckets((name) => states.get(name))
    const result = work(buckets, lockedAt)
    const charged = buckets.charged()
    const chargedNames = new Set(charged.map(({ name }) => name))
    const unused = names.filter((name) => !chargedNames.has(name))
    await writeBuckets(connection, store, charged, unused)
    return result
  })
}

/** The buckets that some plans charge, each once, in the order in which to lock them. */
function bucketNames(plans: Iterable<LimiterPlan | undefined>): readonly string[] {
  const names = new Set<string>()
  for (const plan of plans) {
    if (plan !== undefined) for (const { name } of bucketsOf(plan)) names.add(name)
  }
  return inLockOrder([...names])
}

/** Locks buckets, of which there is at least one, and reads those that were ever charged. */
export async function lockedStates(
  connection: Connection,
  { statements, time }: Store,
  names: readonly string[],
): Promise<{ readonly states: ReadonlyMap<string, BucketState>; readonly now: EpochMs }> {
  const moment = time.moment()
  const values = [arrayLiteral(names), moment.now, moment.least]
  const rows = await connection.query(statements.lockBuckets, values)
  const now = number(rows[0]?.['now'])
  time.noteAnswer(now, moment)
  const states = new Map<string, BucketState>()
  for (const row of rows) {
    if (row['tokens'] === null) continue
    states.set(String(row['name']), { tokens: number(row['tokens']), lastMs: number(row['at']) })
  }
  return { states, now }
}

/** Writes buckets that are locked; of `unused`, drops those that were never charged. */
export async function writeBuckets(
  connection: Connection,
  { statements }: Store,
  rows: readonly BucketRow[],
  unused: readonly string[],
): Promise<void> {
  await connection.query(statements.writeBuckets, [
    arrayLiteral(rows.map(({ name }) => name)),
    arrayLiteral(rows.map(({ perSecond }) => perSecond)),
    arrayLiteral(rows.map(({ burst }) => burst)),
    arrayLiteral(rows.map(({ tokens }) => tokens)),
    arrayLiteral(rows.map(({ at }) => at)),
    arrayLiteral(unused),
  ])
}
