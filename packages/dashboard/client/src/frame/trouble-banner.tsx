import type { JSX } from 'preact'
import { isPaused, trouble } from '../live/link.ts'
import { storeSecond } from '../live/store-time.ts'
import { age } from '../text/durations.ts'
import { Icon } from '../ui/icon.tsx'

function Seconds({ since }: { readonly since: number }): JSX.Element {
  void storeSecond.value
  return <>{age(Date.now() - since)}</>
}

/** Says that the data is old, since when and why. Disappears when the connection is back. */
export function TroubleBanner(): JSX.Element | null {
  const { value } = trouble
  if (value === undefined) return null
  return (
    <div class="trouble" data-what={value.what}>
      <Icon name="warn" />
      <span>
        {value.what === 'full' ? (
          'No live updates'
        ) : (
          <>
            {value.what === 'store' ? 'Store unreachable' : 'Connection lost'}{' '}
            <Seconds since={value.since} /> ago
          </>
        )}
        : {value.words}
        {'. '}
        <span class="faint">
          {isPaused.value
            ? 'Showing old data; updates are paused.'
            : value.what === 'full'
              ? 'Reading every few seconds…'
              : 'Showing old data; retrying…'}
        </span>
      </span>
    </div>
  )
}
