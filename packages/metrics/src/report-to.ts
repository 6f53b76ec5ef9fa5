import { safeListener, systemClock } from '@sluice/core'

const minuteMs = 60_000

/**
 * What errors of an exporter are handed to: `onError`, or else stderr once a minute. It never throws, for it
 * is called by events of the queue.
 */
export function reportTo(
  onError: ((error: unknown) => void) | undefined,
): (error: unknown) => void {
  if (onError === undefined) return oncePerMinute()
  return safeListener('the onError of metrics', onError)
}

function oncePerMinute(): (error: unknown) => void {
  let nextMs = 0
  return (error) => {
    const now = systemClock.monotonicMs()
    if (now < nextMs) return
    nextMs = now + minuteMs
    console.error('sluice: metrics failed:', error)
  }
}
