import { computed, signal } from '@preact/signals'

let storeAhead = 0

/** The time of the store, estimated from its last message. Countdowns follow it. */
export const storeTime = signal(Date.now())

/** The same in whole seconds: pages show ages by the thousand. */
export const storeSecond = computed(() => Math.floor(storeTime.value / 1_000) * 1_000)

/** Sets the time of the store from a message. */
export function setStoreTime(at: number): void {
  storeAhead = at - Date.now()
  storeTime.value = at
}

// Ten times a second while the page is visible; only the texts that show a time are updated.
setInterval(() => {
  if (document.visibilityState === 'visible') storeTime.value = Date.now() + storeAhead
}, 100)
