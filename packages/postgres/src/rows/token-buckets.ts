import {
  type BucketRow,
  type BucketState,
  bucketsOf,
  type LimiterPlan,
  TokenBuckets,
} from '@sluice/core/driver'
import type { Connection } from '../connection/connection.ts'
import type { Statements } from '../connection/statements.ts'
import { arrayLiteral } from './array-literal.ts'
import { number } from './columns.ts'

/** Does `work` on the connection on which the buckets of a batch are locked and written. */
export type OnBucketConnection = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>

/**
 * Does `work` with the token buckets that some plans charge. They are locked meanwhile, and written
 * after it.
 */
export async function lockBuckets<T>(
  onConnection: OnBucketConnection,
  statements: Statements,
  plans: Iterable<LimiterPlan | undefined>,
  work: (buckets: TokenBuckets) => T,
): Promise<T> {
  const names = bucketNames(plans)
  if (names.length === 0) return work(new TokenBuckets())
  return await onConnection(async (connection) => {
    const states = await lockedStates(connection, statements, names)
    const buckets = new TokenBuckets((name) => states.get(name))
    const result = work(buckets)
    const charged = buckets.charged()
    const chargedNames = new Set(charged.map(({ name }) => name))
    const unused = names.filter((name) => !chargedNames.has(name))
    await writeBuckets(connection, statements, charged, unused)
    return result
  })
}

/** The buckets that some plans charge, each once, in the order in which to lock them. */
function bucketNames(plans: Iterable<LimiterPlan | undefined>): readonly string[] {
  const names = new Set<string>()
  for (const plan of plans) {
    if (plan !== undefined) for (const { name } of bucketsOf(plan)) names.add(name)
  }
  return [...names].sort()
}

/** Locks buckets, and reads those that were ever charged. */
export async function lockedStates(
  connection: Connection,
  statements: Statements,
  names: readonly string[],
): Promise<ReadonlyMap<string, BucketState>> {
  const states = new Map<string, BucketState>()
  for (const row of await connection.query(statements.lockBuckets, [arrayLiteral(names)])) {
    if (row['tokens'] === null) continue
    states.set(String(row['name']), { tokens: number(row['tokens']), lastMs: number(row['at']) })
  }
  return states
}

/** Writes buckets that are locked; of `unused`, drops those that were never charged. */
export async function writeBuckets(
  connection: Connection,
  statements: Statements,
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
