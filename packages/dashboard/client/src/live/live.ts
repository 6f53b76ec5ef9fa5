// This folder is the connection to the server: requests, the event stream, the session and actions.

import { computed, effect, signal } from '@preact/signals'
import { currentLocation } from '../location/current-location.ts'
import type { PageLocation } from '../location/location.ts'
import { visible } from '../text/visible-text.ts'
import { followStream } from './follow-stream.ts'
import { isPaused, link, refusal, turned } from './link.ts'
import { checkVersion } from './reload-reason.ts'
import { isSigningIn, session } from './session.ts'
import { keptView, refresh, subject } from './views.ts'

const isVisible = signal(document.visibilityState === 'visible')

/** Increases when the computer has slept: the connection may be dead, and nothing has said so. */
const wakes = signal(0)
const sleepMs = 20_000
let awakeAt = Date.now()

document.addEventListener('visibilitychange', () => {
  // Timers of a hidden page are late without a sleep.
  awakeAt = Date.now()
  isVisible.value = document.visibilityState === 'visible'
  if (isVisible.peek()) void checkVersion()
})

setInterval(() => {
  const now = Date.now()
  if (now - awakeAt > sleepMs) {
    wakes.value += 1
    void checkVersion()
  }
  awakeAt = now
}, 1_000)

const isReady = computed(() => session.value !== undefined && !isSigningIn.value)

/** Follows the current location while the page is visible and updates are not paused. */
export function startLive(): void {
  let shown: string | undefined
  effect(() => {
    const about = subject.value
    if (about !== shown) turned()
    shown = about
    void wakes.value
    refusal.value = undefined
    if (!isReady.value) return
    if (isPaused.value) {
      link.value = 'paused'
      if (keptView(about) === undefined) void refresh()
      return
    }
    if (!isVisible.value) return
    return followStream(about)
  })
  effect(() => {
    document.title = titleOf(currentLocation.value)
  })
}

function titleOf(at: PageLocation): string {
  if (at.at === 'overview') return 'Sluice'
  const queue = at.queue === undefined ? '' : `${visible(at.queue)} · `
  if (at.at === 'queue') return `${queue}Sluice`
  if (at.at === 'key') return `${visible(at.key)} · ${queue}Sluice`
  return `Failures · ${queue}Sluice`
}
