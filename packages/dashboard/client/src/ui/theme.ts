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

const systemIsDark = matchMedia('(prefers-color-scheme: dark)')

/** Increases when the colours change, for charts, which are painted and not styled. */
const paint = signal(0)
systemIsDark.addEventListener('change', () => {
  paint.value += 1
})

export function isDark(): boolean {
  // Read so that readers of this are updated when the system setting changes.
  void paint.value
  return theme.value === 'dark' || (theme.value === 'system' && systemIsDark.matches)
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
  paint.value = paint.peek() + 1
})

export function switchTheme(): void {
  theme.value = isDark() ? 'light' : 'dark'
}
