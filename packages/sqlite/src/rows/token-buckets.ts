import { type BucketRow, TokenBuckets } from '@sluice/core/driver'
import type { Statements } from '../connection/statements.ts'

/** The buckets that the verbs of one transaction charge. */
export function tokenBuckets(statements: Statements): TokenBuckets {
  return new TokenBuckets((name) => {
    const row = statements.bucketsFind.get(name) as Pick<BucketRow, 'tokens' | 'at'> | undefined
    return row && { tokens: row.tokens, lastMs: row.at }
  })
}

/** Writes back the buckets that were charged. */
export function saveBuckets(statements: Statements, buckets: TokenBuckets): void {
  for (const { name, perSecond, burst, tokens, at } of buckets.charged()) {
    statements.bucketsSave.run(name, perSecond, burst, tokens, at)
  }
}

/** All buckets. */
export function listBuckets(statements: Statements): BucketRow[] {
  const rows = statements.bucketsList.all() as (Omit<BucketRow, 'perSecond'> & {
    readonly per_second: number
  })[]
  return rows.map(({ name, per_second, burst, tokens, at }) => {
    return { name, perSecond: per_second, burst, tokens, at }
  })
}
