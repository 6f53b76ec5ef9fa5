import { type BucketRow, tokensAt } from '@sluice/core'
import type { StoreInspection } from 'sluice'

/** The token buckets of a store, with the tokens that each has at the present of the store. */
export async function bucketsNow(inspection: StoreInspection): Promise<readonly BucketRow[]> {
  const [stored, now] = await Promise.all([inspection.buckets(), inspection.now()])
  return stored.map((bucket) => {
    const tokens = tokensAt({ tokens: bucket.tokens, lastMs: bucket.at }, bucket, now)
    return { ...bucket, tokens, at: now }
  })
}
