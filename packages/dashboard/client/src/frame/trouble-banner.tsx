import type { JSX } from 'preact'
import { isPaused, type Trouble, trouble } from '../live/link.ts'
import { reloadReason } from '../live/reload-reason.ts'
import { storeSecond } from '../live/store-time.ts'
import { useView } from '../live/views.ts'
import { age } from '../text/durations.ts'
import { Icon } from '../ui/icon.tsx'

function Seconds({ since }: { readonly since: number }): JSX.Element {
  void storeSecond.value
  return <>{age(Date.now() - since)}</>
}

function consequence(what: Trouble['what'], isShown: boolean): string {
  if (isPaused.value) {
    return isShown ? 'Showing old data; updates are paused.' : 'Updates are paused.'
  }
  if (what === 'full') return 'Reading every few seconds…'
  return isShown ? 'Showing old data; retrying…' : 'Retrying…'
}

const titles = {
  store: 'Store unreachable',
  damage: 'Reading failed',
  server: 'Connection lost',
} as const

/** Says that there is no new data, since when and why. Disappears when the connection is back. */
export function TroubleBanner(): JSX.Element | null {
  const { value } = trouble
  const isShown = useView('overview') !== undefined
  if (value === undefined) return null
  return (
    <div class="trouble" data-what={value.what}>
      <Icon name="warn" />
      <span>
        {value.what === 'full' ? (
          'No live updates'
        ) : (
          <>
            {titles[value.what]} <Seconds since={value.since} /> ago
          </>
        )}
        : {value.words}
        {'. '}
        <span class="faint">{consequence(value.what, isShown)}</span>
      </span>
    </div>
  )
}

/** Says that what is shown may be wrong, whatever the connection is like, until the page is reloaded. */
export function ReloadBanner(): JSX.Element | null {
  const { value } = reloadReason
  if (value === undefined) return null
  return (
    <div class="trouble" data-what="page">
      <Icon name="warn" />
      <span>
        {value} <span class="faint">What is shown may be wrong.</span>{' '}
        <button type="button" class="link" onClick={() => location.reload()}>
          Reload the page
        </button>
      </span>
    </div>
  )
}
