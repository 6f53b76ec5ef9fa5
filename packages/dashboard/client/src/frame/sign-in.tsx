import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { messageOf } from '../live/ask.ts'
import { isSigningIn, session, signIn } from '../live/session.ts'

/** Asks for the token of the dashboard, and keeps the location. */
export function SignIn(): JSX.Element {
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
        {session.value?.mustSignIn === false && (
          <button
            type="button"
            class="button"
            onClick={() => {
              isSigningIn.value = false
            }}
          >
            Read only
          </button>
        )}
        <button type="submit" class="button main" aria-disabled={isBusy.value}>
          Sign in
        </button>
      </div>
    </form>
  )
}
