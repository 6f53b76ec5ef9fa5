import { effect, signal } from '@preact/signals'

type Theme = 'system' | 'light' | 'dark'

const storageKey = 'sluice.theme'

function remembered(): Theme {
  try {
    const word = localStorage.getItem(storageKey)
    return word === 'light' || word === 'dark' ? word : 'system'
  } catch {
    return 'system'
  }
}

/** The chosen colours; those of the system until the user chooses. */
const theme = signal<Theme>(remembered())

const system = matchMedia('(prefers-color-scheme: dark)')
const systemIsDark = signal(system.matches)
system.addEventListener('change', ({ matches }) => {
  systemIsDark.value = matches
})

export function isDark(): boolean {
  return theme.value === 'dark' || (theme.value === 'system' && systemIsDark.value)
}

effect(() => {
  if (theme.value === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme.value
  try {
    if (theme.value === 'system') localStorage.removeItem(storageKey)
    else localStorage.setItem(storageKey, theme.value)
  } catch {
    // Storage is not allowed: the choice lasts until the page is closed.
  }
})

export function switchTheme(): void {
  theme.value = isDark() ? 'light' : 'dark'
}
