import { effect, signal } from '@preact/signals'

const storageKey = 'sluice.density'

function remembered(): boolean {
  try {
    return localStorage.getItem(storageKey) === 'compact'
  } catch {
    return false
  }
}

/** Whether rows are drawn close to each other. */
export const isCompact = signal(remembered())

effect(() => {
  if (isCompact.value) document.documentElement.dataset['density'] = 'compact'
  else delete document.documentElement.dataset['density']
  try {
    if (isCompact.value) localStorage.setItem(storageKey, 'compact')
    else localStorage.removeItem(storageKey)
  } catch {
    // Storage is not allowed: the choice lasts until the page is closed.
  }
})

export function switchDensity(): void {
  isCompact.value = !isCompact.peek()
}
