import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { messageOf } from '../live/ask.ts'
import { loadSession, session, signIn } from '../live/session.ts'

/** The visitor may have signed in on another page, or in the application, meanwhile. */
async function lookAgain(): Promise<void> {
  try {
    if (document.visibilityState === 'visible') await loadSession()
  } catch {
    // Looked at again when the visitor comes back to the page.
  }
}

/** Whether the dashboard asks for a token. If not, its application signs visitors in. */
function takesToken(): boolean {
  const info = session.value
  if (info === undefined) return true
  return info.mustSignIn ? info.canSignIn === true : info.signedIn === true
}

/** Asks the visitor to sign in, and keeps the location. */
export function SignIn(): JSX.Element {
  useEffect(() => {
    const look = () => void lookAgain()
    if (session.peek()?.mustSignIn !== true) look()
    document.addEventListener('visibilitychange', look)
    return () => document.removeEventListener('visibilitychange', look)
  }, [])
  return takesToken() ? <TokenForm /> : <SignInElsewhere />
}

function SignInElsewhere(): JSX.Element {
  return (
    <div class="empty">
      <h1>Not signed in</h1>
      <p>Sign in to the application that this dashboard belongs to, then return to this page.</p>
      <button type="button" class="button" onClick={() => void lookAgain()}>
        Try again
      </button>
    </div>
  )
}

function TokenForm(): JSX.Element {
  const token = useSignal('')
  const refusal = useSignal('')
  const isBusy = useSignal(false)
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => field.current?.focus(), [])

  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy.value || token.value === '') return
    isBusy.value = true
    try {
      await signIn(token.value)
    } catch (error) {
      refusal.value = messageOf(error)
      field.current?.select()
    } finally {
      isBusy.value = false
    }
  }

  return (
    <form class="sign-in" onSubmit={(event) => void submit(event)}>
      <h1>Sign in</h1>
      <p class="faint">
        The token was printed where the dashboard was started, with a link that signs you in
        automatically.
      </p>
      <label class="field">
        <span>Token</span>
        <input
          ref={field}
          type="password"
          name="token"
          autocomplete="current-password"
          spellcheck={false}
          aria-describedby="sign-in-refusal"
          aria-invalid={refusal.value !== ''}
          value={token.value}
          onInput={(event) => {
            token.value = event.currentTarget.value
          }}
        />
      </label>
      <p id="sign-in-refusal" class="refusal" role="alert">
        {refusal.value}
      </p>
      <div class="dialog-buttons">
        <button type="submit" class="button main" aria-disabled={isBusy.value}>
          Sign in
        </button>
      </div>
    </form>
  )
}
