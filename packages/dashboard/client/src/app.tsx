import type { JSX } from 'preact'
import { FailuresPage } from './failures/failures-page.tsx'
import { Frame } from './frame/frame.tsx'
import { SignIn } from './frame/sign-in.tsx'
import { KeyPage } from './key/key-page.tsx'
import { refusal } from './live/link.ts'
import { isSigningIn, session, sessionTrouble } from './live/session.ts'
import { currentLocation } from './location/current-location.ts'
import { hashOf } from './location/location.ts'
import { Overview } from './overview/overview.tsx'
import { QueuePage } from './queue/queue-page.tsx'

function Screen(): JSX.Element {
  if (isSigningIn.value) return <SignIn />
  if (session.value === undefined) {
    return (
      <p class="waiting" role="status">
        {sessionTrouble.value === undefined ? 'Connecting …' : `${sessionTrouble.value}; retrying…`}
      </p>
    )
  }
  if (refusal.value !== undefined) {
    return (
      <div class="empty">
        <h1>Not available</h1>
        <p>{refusal.value}</p>
        <p>
          <a href="#/">All queues</a>
        </p>
      </div>
    )
  }
  const at = currentLocation.value
  if (at.at === 'overview') return <Overview location={at} />
  if (at.at === 'queue') return <QueuePage key={at.queue} location={at} />
  if (at.at === 'failures') return <FailuresPage location={at} />
  return <KeyPage key={hashOf(at)} location={at} />
}

export function App(): JSX.Element {
  return (
    <Frame>
      <Screen />
    </Frame>
  )
}
