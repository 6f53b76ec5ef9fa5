import { signal } from '@preact/signals'
import type { SessionInfo } from '../../../src/wire.ts'
import { HttpError, messageOf, onSignedOut, post, request } from './ask.ts'

/** The store and the rights of this page; absent until the server has answered. */
export const session = signal<SessionInfo | undefined>(undefined)

/** Whether to show the sign-in screen. */
export const isSigningIn = signal(false)

/** Why the session could not be loaded, until it could. */
export const sessionTrouble = signal<string | undefined>(undefined)

onSignedOut.call = () => {
  isSigningIn.value = true
}

/** Loads the session; rejects if the server does not answer. True if this page may read. */
export async function loadSession(): Promise<boolean> {
  const info = await request<SessionInfo>('api/session')
  session.value = info
  isSigningIn.value = info.mustSignIn
  return !info.mustSignIn
}

/** Loads the session for the first time, retrying until the server answers. */
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

/**
 * Sends a POST request of a visitor. It is sent again if the browser has another session since this page
 * loaded its own, such as after signing in on another page.
 */
export async function postSigned<T>(path: string, body: unknown): Promise<T> {
  const sent = () => post<T>(path, body, session.value?.csrf)
  try {
    return await sent()
  } catch (error) {
    if (!(error instanceof HttpError) || error.code !== 'ERR_CSRF') throw error
    if (!(await loadSession())) throw error
    return await sent()
  }
}

/** Signs in; rejects with the reason if the token is wrong. */
export async function signIn(token: string): Promise<void> {
  await post('api/sign-in', { token })
  if (!(await loadSession())) {
    throw new Error('the token is correct, but the browser did not keep the cookie')
  }
}

export async function signOut(): Promise<void> {
  await postSigned('api/sign-out', {})
  await loadSession()
}

/**
 * Removes the token of a sign-in link (`#sign-in=…`) from the address, before other code can see it
 * there, and returns it.
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
