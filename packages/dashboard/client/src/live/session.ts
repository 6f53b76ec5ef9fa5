import { signal } from '@preact/signals'
import type { SessionInfo } from '../../../src/wire.ts'
import { HttpError, messageOf, onSignedOut, post, request } from './ask.ts'

/** Who serves this page and what it may do; absent until it was asked. */
export const session = signal<SessionInfo | undefined>(undefined)

/** Whether to show the screen for signing in. */
export const isSigningIn = signal(false)

/** Why the server could not be asked who it is, until it could. */
export const sessionTrouble = signal<string | undefined>(undefined)

onSignedOut.call = () => {
  isSigningIn.value = true
}

/** Asks the server who it is; rejects if it does not answer. True if this page may look. */
export async function loadSession(): Promise<boolean> {
  const info = await request<SessionInfo>('api/session')
  session.value = info
  if (info.mustSignIn) isSigningIn.value = true
  return !info.mustSignIn
}

/** The same for the first time, as often as it takes. */
export async function startSession(): Promise<void> {
  for (let waitMs = 500; ; waitMs = Math.min(5_000, waitMs * 2)) {
    try {
      await loadSession()
      sessionTrouble.value = undefined
      return
    } catch (error) {
      if (error instanceof HttpError && error.status === 401) return
      sessionTrouble.value = messageOf(error)
      await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
  }
}

/** Signs in; rejects with the reason if the token is not the one. */
export async function signIn(token: string): Promise<void> {
  await post('api/sign-in', { token })
  isSigningIn.value = false
  if (!(await loadSession()) && isSigningIn.value) {
    throw new Error('the server took the token, but the browser did not keep the cookie')
  }
}

export async function signOut(): Promise<void> {
  await post('api/sign-out', {}, session.value?.csrf)
  await loadSession()
}

/**
 * Takes a token out of the address (`#sign-in=…`), where a link may bring it, before anything else
 * can see it there.
 */
export function takeTokenOfAddress(): string | undefined {
  const found = /^#sign-in=(.+)$/s.exec(location.hash)
  if (found === null) return undefined
  history.replaceState(null, '', `${location.pathname}${location.search}#/`)
  try {
    return decodeURIComponent(found[1] ?? '')
  } catch {
    return found[1]
  }
}
