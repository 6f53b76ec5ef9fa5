import type { JSX } from 'preact'
import { heardAt, isPaused, link, trouble } from '../live/link.ts'
import { announce } from '../live/notices.ts'
import { storeSecond } from '../live/store-time.ts'
import { shownAt } from '../live/views.ts'
import { age } from '../text/durations.ts'
import { Icon } from '../ui/icon.tsx'

const words = {
  connecting: 'connecting',
  live: 'live',
  lost: 'no connection',
  paused: 'paused',
} as const

export function togglePause(): void {
  isPaused.value = !isPaused.value
  announce(isPaused.value ? 'Updates are paused.' : 'Updates resumed.')
}

function Since(): JSX.Element | null {
  // Read so that this renders again: what is shown grows older, or is heard to be so still.
  void storeSecond.value
  void heardAt.value
  const at = shownAt()
  if (at === undefined) return null
  const ms = Date.now() - at
  return <span class="since">updated {ms < 2_000 ? 'just now' : `${age(ms)} ago`}</span>
}

/** Shows the age of the data, and pauses updates. */
export function Freshness(): JSX.Element {
  const state = link.value
  return (
    <div class={`freshness ${state}`}>
      <span class="dot" aria-hidden="true" />
      <span class="link-word">
        {state === 'lost' && trouble.value?.what === 'damage' ? 'no data' : words[state]}
      </span>
      <Since />
      <button
        type="button"
        class="quiet"
        aria-pressed={isPaused.value}
        aria-label="Pause updates"
        title={isPaused.value ? 'Resume updates (p)' : 'Pause updates (p)'}
        onClick={togglePause}
      >
        <Icon name={isPaused.value ? 'processing' : 'calm'} />
      </button>
    </div>
  )
}
