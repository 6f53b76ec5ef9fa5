import type { JSX } from 'preact'
import { messageOf } from '../live/ask.ts'
import { notify } from '../live/notices.ts'
import { isSigningIn, session, signOut } from '../live/session.ts'
import { currentLocation } from '../location/current-location.ts'
import { hashOf } from '../location/location.ts'
import { Icon } from '../ui/icon.tsx'
import { isDark, switchTheme } from '../ui/theme.ts'
import { Name } from '../ui/visible.tsx'
import { isCompact, switchDensity } from './density.ts'
import { Freshness } from './freshness.tsx'
import { isHelpOpen } from './shortcuts.ts'

function Mark(): JSX.Element {
  return (
    <svg class="mark" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path class="mark-gate" d="M4.500 3v18M19.500 3v18M4.500 5.500h15M4.500 9.500h15" />
      <path
        class="mark-water"
        d="M7 15c1.700-1.600 3.300-1.600 5 0s3.300 1.600 5 0M7 19c1.700-1.600 3.300-1.600 5 0s3.300 1.600 5 0"
      />
    </svg>
  )
}

function Crumbs(): JSX.Element {
  const at = currentLocation.value
  return (
    <nav class="crumbs" aria-label="Where you are">
      <ol>
        <li>
          <a href="#/" class="home" aria-label="Sluice: all queues">
            <Mark />
            <span>Sluice</span>
          </a>
        </li>
        {at.at !== 'overview' && at.queue !== undefined && (
          <li>
            {at.at === 'queue' ? (
              <h1 class="crumb-name">
                <Name text={at.queue} />
              </h1>
            ) : (
              <a href={hashOf({ at: 'queue', queue: at.queue, keys: {}, cursors: [] })}>
                <Name text={at.queue} />
              </a>
            )}
          </li>
        )}
        {at.at === 'failures' && (
          <li>
            <h1 class="crumb-name">Failures</h1>
          </li>
        )}
      </ol>
    </nav>
  )
}

function ReadOnly(): JSX.Element | null {
  const info = session.value
  if (info === undefined || info.mayAct || isSigningIn.value) return null
  const reason = info.readOnlyBecause ?? 'this dashboard is read-only'
  return (
    <span class="read-only" title={reason}>
      <Icon name="lock" />
      <span>
        read only<span class="off-screen">: {reason}</span>
      </span>
    </span>
  )
}

async function leave(): Promise<void> {
  try {
    await signOut()
  } catch (error) {
    notify('failed', `You are still signed in: ${messageOf(error)}`)
  }
}

export function TopBar(): JSX.Element {
  const info = session.value
  return (
    <header class="top-bar">
      <Crumbs />
      {info !== undefined && (
        <span class="store" title={info.store}>
          <span class="off-screen">Store: </span>
          {info.store}
        </span>
      )}
      <div class="top-tools">
        <ReadOnly />
        {!isSigningIn.value && info !== undefined && <Freshness />}
        <button
          type="button"
          class="quiet"
          aria-label="Compact rows"
          aria-pressed={isCompact.value}
          onClick={switchDensity}
        >
          <Icon name={isCompact.value ? 'rows' : 'closeRows'} />
        </button>
        <button
          type="button"
          class="quiet"
          aria-label={isDark() ? 'Use light colours' : 'Use dark colours'}
          onClick={switchTheme}
        >
          <Icon name={isDark() ? 'sun' : 'moon'} />
        </button>
        <button
          type="button"
          class="quiet"
          aria-label="Keyboard shortcuts"
          onClick={() => {
            isHelpOpen.value = true
          }}
        >
          ?
        </button>
        {info?.signedIn === true && (
          <button type="button" class="quiet" aria-label="Sign out" onClick={() => void leave()}>
            <Icon name="out" />
          </button>
        )}
      </div>
    </header>
  )
}
