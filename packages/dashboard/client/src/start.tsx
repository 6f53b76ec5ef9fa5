import './styles/tokens.css'
import './styles/base.css'
import './styles/frame.css'
import './styles/dialogs.css'
import './styles/table.css'
import './styles/overview.css'
import './styles/key-list.css'
import './styles/narrow-table.css'
import './styles/tiles.css'
import './styles/panels.css'
import './styles/failures.css'
import './styles/key.css'
import './styles/chart.css'
import './styles/media.css'
import { render } from 'preact'
import { App } from './app.tsx'
import { keepFocus } from './frame/keep-focus.ts'
import { listenToKeys } from './frame/shortcuts.ts'
import { messageOf } from './live/ask.ts'
import { startLive } from './live/live.ts'
import { notify } from './live/notices.ts'
import { listenToFailures } from './live/reload-reason.ts'
import { signIn, startSession, takeTokenOfAddress } from './live/session.ts'

async function signInByAddress(): Promise<void> {
  const token = takeTokenOfAddress()
  if (token === undefined) return
  try {
    await signIn(token)
  } catch (error) {
    notify('failed', `The link did not sign you in: ${messageOf(error)}`)
  }
}

listenToFailures()
const app = document.getElementById('app')
// What it says until then.
app?.replaceChildren()
if (app !== null) render(<App />, app)
listenToKeys()
keepFocus()
startLive()
addEventListener('hashchange', () => void signInByAddress())
void signInByAddress().then(startSession)
