import type { JSX } from 'preact'
import { heardAt, isPaused, link } from '../live/link.ts'
import { announce } from '../live/notices.ts'
import { storeTime } from '../live/store-time.ts'
import { duration } from '../text/durations.ts'
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
  // Read so that this renders again: the age of the last message grows.
  void storeTime.value
  if (heardAt.value === undefined) return null
  const ms = Math.max(0, Date.now() - heardAt.value)
  const text = ms < 60_000 ? `${(ms / 1_000).toFixed(ms < 9_950 ? 1 : 0)}\u00a0s` : duration(ms)
  return <span class="since">updated {text} ago</span>
}

/** Shows the age of the data, and pauses updates. */
export function Freshness(): JSX.Element {
  const state = link.value
  return (
    <div class={`freshness ${state}`}>
      <span class="dot" aria-hidden="true" />
      <span class="link-word">{words[state]}</span>
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
