import type { ActionRequest, Audit } from '../../../src/wire.ts'

/** How much later than its answer the announcement of an action may come, in milliseconds. */
const awaitedMs = 30_000

function idOf({ queue, action, key }: Pick<ActionRequest, 'queue' | 'action' | 'key'>): string {
  return JSON.stringify([queue, action, key])
}

/** Actions of this page. Their results are shown here, so their announcements need not be. */
class OwnActions {
  #awaited: readonly { readonly id: string; until: number }[] = []

  /** Notes an action that is about to be sent. The function is to be called when it is answered. */
  note(request: ActionRequest): () => void {
    const now = performance.now()
    const rest = this.#awaited.filter(({ until }) => until > now)
    // A store may take its time for thousands of keys.
    const own = { id: idOf(request), until: Number.POSITIVE_INFINITY }
    this.#awaited = [...rest, own]
    return () => {
      own.until = performance.now() + awaitedMs
    }
  }

  /** Whether an announcement is of an action of this page. Each is announced once. */
  take(audit: Audit): boolean {
    const now = performance.now()
    const id = idOf(audit)
    const own = this.#awaited.find((each) => each.id === id && each.until > now)
    this.#awaited = this.#awaited.filter((each) => each !== own)
    return own !== undefined
  }
}

export const ownActions: OwnActions = new OwnActions()
