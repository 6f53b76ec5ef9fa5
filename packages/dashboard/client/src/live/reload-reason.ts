import { signal } from '@preact/signals'
import { messageOf } from './ask.ts'
import { announce } from './notices.ts'

/** Why what is shown may be wrong until this page is reloaded; `undefined` if it is correct. */
export const reloadReason = signal<string | undefined>(undefined)

function mustReload(reason: string): void {
  if (reloadReason.peek() !== undefined) return
  reloadReason.value = reason
  announce(reason)
}

/** The script that a page names, which every version of it has under another name. */
function scriptOf(html: string): string | undefined {
  return /src="\.\/(assets\/[^"]+\.js)"/.exec(html)?.[1]
}

/** Finds out whether the server was updated: this page may not be able to show what it sends now. */
export async function checkVersion(): Promise<void> {
  const own = scriptOf(document.head.innerHTML)
  // Without one, the page of the development server, which replaces what has changed.
  if (own === undefined) return
  try {
    const answer = await fetch('./')
    // Another page may be the answer of a proxy.
    const served = answer.ok ? scriptOf(await answer.text()) : own
    if (served !== undefined && served !== own) {
      mustReload('The server has another version of this page.')
    }
  } catch {
    // The server does not answer, which its stream tells.
  }
}

/** Notices that this page has failed: it may have stopped in the middle of showing a view. */
export function listenToFailures(): void {
  const failed = (error: unknown): void => {
    // An extension of the browser may fail on any page.
    if (error instanceof Error && error.stack?.includes(import.meta.url) === true) {
      mustReload(`This page failed: ${messageOf(error)}.`)
    }
  }
  addEventListener('error', ({ error }) => failed(error))
  addEventListener('unhandledrejection', ({ reason }) => failed(reason))
}
