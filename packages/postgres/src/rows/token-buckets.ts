import {
  type BucketState,
  bucketsOf,
  type EpochMs,
  type LimiterPlan,
  type PlanBucket,
  planDelay,
  reserveToken,
} from '@sluice/core'
import type { Connection } from '../connection/connection.ts'
import type { Statements } from '../connection/statements.ts'
import { arrayLiteral } from './array-literal.ts'
import { instant, number, text } from './columns.ts'

/** A delay that a plan gave, and what it costs the buckets if it is made use of. */
export interface Planned {
  readonly delayMs: number
  charge(): void
}

/** Where the buckets of a batch are locked and written. */
export type BucketRunner = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>

/**
 * Does `work` with the buckets that some plans charge, which are locked meanwhile and written
 * after it; `inBuckets` says on which connection.
 */
export async function lockBuckets<T>(
  withBuckets: BucketRunner,
  statements: Statements,
  plans: Iterable<LimiterPlan | undefined>,
  work: (tokenBuckets: TokenBuckets) => T,
): Promise<T> {
  const names = bucketNames(plans)
  if (names.length === 0) return work(new TokenBuckets(names))
  return await withBuckets(async (connection) => {
    const tokenBuckets = await TokenBuckets.lock(connection, statements, names)
    const answer = work(tokenBuckets)
    await tokenBuckets.write(connection, statements)
    return answer
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

/** Buckets that are locked for a batch, whose entries take their tokens one after another. */
export class TokenBuckets {
  readonly #names: readonly string[]
  readonly #states = new Map<string, BucketState>()
  readonly #charged = new Map<string, PlanBucket>()

  constructor(names: readonly string[]) {
    this.#names = names
  }

  /** Locks the buckets of these names. */
  static async lock(
    connection: Connection,
    statements: Statements,
    names: readonly string[],
  ): Promise<TokenBuckets> {
    const tokenBuckets = new TokenBuckets(names)
    for (const row of await connection.query(statements.lockBuckets, [arrayLiteral(names)])) {
      if (row['tokens'] === null) continue
      const state = { tokens: number(row['tokens']), lastMs: instant(row['at']) }
      tokenBuckets.#states.set(text(row['name']) ?? '', state)
    }
    return tokenBuckets
  }

  /** Works a plan out for a key with so many failures, charging nothing yet. */
  planned(
    plan: LimiterPlan | undefined,
    failures: number,
    jitter: number | undefined,
    now: EpochMs,
  ): Planned | undefined {
    if (plan === undefined) return undefined
    const delays = new Map<string, number>()
    const charges: [PlanBucket, BucketState][] = []
    for (const bucket of bucketsOf(plan)) {
      const { delayMs, state } = reserveToken(this.#states.get(bucket.name), bucket, now)
      delays.set(bucket.name, delayMs)
      if (state !== undefined) charges.push([bucket, state])
    }
    return {
      delayMs: planDelay(plan, failures, delays, jitter ?? 0),
      charge: () => {
        for (const [bucket, state] of charges) {
          this.#states.set(bucket.name, state)
          this.#charged.set(bucket.name, bucket)
        }
      },
    }
  }

  /** Writes what was charged. */
  async write(connection: Connection, statements: Statements): Promise<void> {
    const charged = [...this.#charged.values()]
    const states = charged.map(({ name }) => this.#states.get(name))
    await connection.query(statements.writeBuckets, [
      arrayLiteral(charged.map(({ name }) => name)),
      arrayLiteral(charged.map(({ perSecond }) => perSecond)),
      arrayLiteral(charged.map(({ burst }) => burst)),
      arrayLiteral(states.map((state) => state?.tokens)),
      arrayLiteral(states.map((state) => state?.lastMs)),
      arrayLiteral(this.#names.filter((name) => !this.#charged.has(name))),
    ])
  }
}
