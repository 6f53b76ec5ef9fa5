import type { JSX } from 'preact'
import type { BucketView, QueueView } from '../../../src/wire.ts'
import { session } from '../live/session.ts'
import { duration } from '../text/durations.ts'
import { grouped, many, rate } from '../text/figures.ts'
import { Panel } from '../ui/panel.tsx'
import { Visible } from '../ui/visible.tsx'

function Bucket({ bucket }: { readonly bucket: BucketView }): JSX.Element {
  const { name, perSecond, burst, tokens } = bucket
  const share = burst <= 0 ? 0 : Math.min(1, Math.max(0, tokens / burst))
  const reservedMs = tokens < 0 && perSecond > 0 ? (-tokens / perSecond) * 1_000 : 0
  return (
    <li class="bucket">
      <div class="bucket-head">
        <span class="mono">
          <Visible text={name} />
        </span>
        <span class="figures">
          {reservedMs > 0 ? (
            <span class="tone-backoff">reserved for {duration(reservedMs)}</span>
          ) : (
            <>
              {grouped(Math.floor(tokens))}
              <span class="faint"> of {many(burst, 'token')}</span>
            </>
          )}
        </span>
      </div>
      <svg class="meter" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
        <rect class="slots-room" width="100" height="4" />
        <rect class={share < 0.1 ? 'meter-low' : 'meter-some'} width={100 * share} height="4" />
      </svg>
      <div class="faint">{rate(perSecond)} per second</div>
    </li>
  )
}

/** The limiter of the queue, and the tokens left in its buckets. */
export function LimiterPanel({ view }: { readonly view: QueueView }): JSX.Element {
  const { limiter, buckets } = view
  const isListed = session.value?.capabilities.buckets !== false
  return (
    <Panel
      title="Limiter"
      none={limiter === undefined && buckets.length === 0 && 'No limiter reported yet.'}
    >
      {limiter !== undefined && (
        <p class="limiter">
          <Visible text={limiter} />
        </p>
      )}
      {buckets.length > 0 && (
        <ul class="buckets">
          {buckets.map((bucket) => (
            <Bucket key={bucket.name} bucket={bucket} />
          ))}
        </ul>
      )}
      {!isListed && <p class="faint">This store does not list its buckets.</p>}
    </Panel>
  )
}
