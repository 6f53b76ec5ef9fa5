import { type SluiceEvent, sluiceChannel } from '@sluice/core'

/** Handlers of published events. */
export interface Listener {
  /** A call begins. */
  started?(event: SluiceEvent): void
  /** A call has succeeded; it has its `result`. */
  answered?(event: SluiceEvent): void
  /** A call has failed; it has its `error`. */
  failed?(event: SluiceEvent): void
  /** A queue has published an event that is no call. */
  noticed?(event: SluiceEvent): void
}

/** Events that are not calls. */
const notices: ReadonlySet<string> = new Set([
  'lease-lost',
  'held-dropped',
  'limiter-failed',
  'add-after',
  'worker-started',
  'worker-stopped',
  'shut-down',
  'closed',
  'acted',
])

/**
 * Listens to all events of Sluice in this process, until the returned function is called. An error
 * of a listener goes to `onError`: it must neither reach the queue nor be lost.
 */
export function listen(listener: Listener, onError: (error: unknown) => void): () => void {
  const guarded = (take: ((event: SluiceEvent) => void) | undefined, event: SluiceEvent): void => {
    try {
      take?.(event)
    } catch (error) {
      onError(error)
    }
  }
  const subscribers = {
    start: (event: SluiceEvent): void => {
      if (!notices.has(event.verb)) guarded((e) => listener.started?.(e), event)
    },
    end: (event: SluiceEvent): void => {
      if (notices.has(event.verb)) guarded((e) => listener.noticed?.(e), event)
      // An asynchronous answer has no result yet.
      else if (event.result !== undefined) guarded((e) => listener.answered?.(e), event)
    },
    asyncEnd: (event: SluiceEvent): void => {
      if (event.error === undefined) guarded((e) => listener.answered?.(e), event)
    },
    asyncStart: (): void => {},
    error: (event: SluiceEvent): void => {
      guarded((e) => listener.failed?.(e), event)
    },
  }
  sluiceChannel.subscribe(subscribers)
  return () => {
    sluiceChannel.unsubscribe(subscribers)
  }
}
