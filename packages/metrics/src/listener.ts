import { type SluiceEvent, sluiceChannel } from '@sluice/core'

/** What to do with what is published. */
export interface Listener {
  /** A call begins. */
  started?(event: SluiceEvent): void
  /** A call has ended well; it has its `result`. */
  answered?(event: SluiceEvent): void
  /** A call has failed; it has its `error`. */
  failed?(event: SluiceEvent): void
  /** A queue noticed something. */
  noticed?(event: SluiceEvent): void
}

/** What is only ever noticed, and never answered. */
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
 * Listens to everything that Sluice publishes in this process, until the function it gives is
 * called. An error of a listener goes to `onError`: it must not reach the queue, nor be lost.
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
      // An answer that comes later is not there yet.
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
