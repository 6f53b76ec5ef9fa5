import { type Failure, SluiceError } from '@sluice/core/driver'

/** A batch, rows of which another transaction may have locked. */
export interface LockableBatch<Entry, Reply> {
  readonly entries: readonly Entry[]
  keyOf(entry: Entry): string
  /** Serves entries, all or none; rejects with `ERR_STORE_BUSY` if a row stays locked. */
  serve(entries: readonly Entry[]): Promise<readonly Reply[]>
  /** Which of these keys another transaction has locked right now. */
  findLocked(keys: readonly string[]): Promise<ReadonlySet<string>>
}

/** How often the rest of a batch is tried again before all of it counts as locked. */
const attemptsMax = 4

/** The failure of a key that another transaction has locked. */
export function lockedFailure(key: string, cause?: unknown): Failure {
  const error = new SluiceError(
    'ERR_STORE_BUSY',
    `cannot change key ${JSON.stringify(key.slice(0, 80))}: another transaction has locked it; end ` +
      'that transaction, and repeat the call',
    { retryable: true, ...(cause !== undefined && { cause }) },
  )
  return { outcome: 'failed', error }
}

/**
 * Serves a batch without the keys that another transaction keeps locked: each of those fails alone,
 * and delays no other key.
 */
export async function skipLocked<Entry, Reply>(
  batch: LockableBatch<Entry, Reply>,
): Promise<readonly (Reply | Failure)[]> {
  const { entries, keyOf, serve, findLocked } = batch
  const replies = new Map<Entry, Reply>()
  let left = entries
  let cause: unknown
  for (let attempt = 0; left.length > 0 && attempt < attemptsMax; attempt += 1) {
    try {
      const served = await serve(left)
      // Most often no row is locked.
      if (left === entries) return served
      for (const [at, entry] of left.entries()) replies.set(entry, served[at] as Reply)
      break
    } catch (error) {
      if (!SluiceError.is(error, 'ERR_STORE_BUSY')) throw error
      cause = error
    }
    // A single key has waited for its lock already.
    if (left.length === 1) break
    const locked = await findLocked(left.map(keyOf))
    left = left.filter((entry) => !locked.has(keyOf(entry)))
  }
  return entries.map((entry) =>
    replies.has(entry) ? (replies.get(entry) as Reply) : lockedFailure(keyOf(entry), cause),
  )
}
