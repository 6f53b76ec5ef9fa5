import { signal } from '@preact/signals'

let storeAhead = 0

/** The time of the store, as far as its last message tells; what counts down follows it. */
export const storeTime = signal(Date.now())

/** Learns from a message what time it is for the store. */
export function setStoreTime(at: number): void {
  storeAhead = at - Date.now()
  storeTime.value = at
}

// Ten times a second while somebody can see it: only the texts that show a time are written anew.
setInterval(() => {
  if (document.visibilityState === 'visible') storeTime.value = Date.now() + storeAhead
}, 100)
