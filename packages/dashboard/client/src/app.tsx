import type { JSX } from 'preact'
import { Frame } from './frame.tsx'
import { KeyPage } from './key-page.tsx'
import { refusal } from './live.ts'
import { Overview } from './overview.tsx'
import { hashOf } from './place.ts'
import { QueuePage } from './queue-page.tsx'
import { place } from './route.ts'
import { isSigningIn, session, sessionTrouble } from './session.ts'
import { SignIn } from './sign-in.tsx'

function Screen(): JSX.Element {
  if (isSigningIn.value) return <SignIn />
  if (session.value === undefined) {
    return (
      <p class="waiting" role="status">
        {sessionTrouble.value === undefined
          ? 'Connecting …'
          : `${sessionTrouble.value}; it is tried again.`}
      </p>
    )
  }
  if (refusal.value !== undefined) {
    return (
      <div class="empty">
        <h1>This cannot be shown</h1>
        <p>{refusal.value}</p>
        <p>
          <a href="#/">All queues</a>
        </p>
      </div>
    )
  }
  const at = place.value
  if (at.at === 'overview') return <Overview place={at} />
  if (at.at === 'queue') return <QueuePage key={at.queue} place={at} />
  return <KeyPage key={hashOf(at)} place={at} />
}

export function App(): JSX.Element {
  return (
    <Frame>
      <Screen />
    </Frame>
  )
}
