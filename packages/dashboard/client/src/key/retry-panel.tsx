import type { JSX } from 'preact'
import type { KeyView } from '../../../src/wire.ts'
import { clockTime, duration } from '../text/durations.ts'
import { Until } from '../ui/times.tsx'
import { Visible } from '../ui/visible.tsx'

/** When a key is retried, and how that time was computed. */
export function RetryPanel({ view }: { readonly view: KeyView }): JSX.Element | null {
  const { retry, next, at } = view
  if (retry === undefined) return null
  const { perKeyMs, bucketMs, words } = retry
  const hasBucketWon = bucketMs !== undefined && bucketMs > (perKeyMs ?? 0)
  return (
    <section class="retry" aria-label="Next retry">
      <h3>Next retry</h3>
      {next !== undefined && view.state === 'backoff' && (
        <p class="retry-when">
          <b>
            <Until at={next.at} />
          </b>
          <span class="faint"> at {clockTime(next.at, at)}</span>
        </p>
      )}
      <dl class="retry-sums">
        {perKeyMs !== undefined && (
          <div class={hasBucketWon ? '' : 'won'}>
            <dt>by its failures</dt>
            <dd>
              {duration(perKeyMs)}
              {!hasBucketWon && <span class="wins"> wins</span>}
            </dd>
          </div>
        )}
        {bucketMs !== undefined && (
          <div class={hasBucketWon ? 'won' : ''}>
            <dt>by the bucket</dt>
            <dd>
              {duration(bucketMs)}
              {hasBucketWon && <span class="wins"> wins</span>}
            </dd>
          </div>
        )}
      </dl>
      <p class="retry-words">
        <Visible text={words} />
      </p>
    </section>
  )
}
