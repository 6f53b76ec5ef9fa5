import { effect, signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'

const place = 'sluice.theme'

function remembered(): Theme {
  try {
    const word = localStorage.getItem(place)
    return word === 'light' || word === 'dark' ? word : 'system'
  } catch {
    return 'system'
  }
}

/** Which colours somebody wants; what the system says until they say something else. */
export const theme = signal<Theme>(remembered())

const systemIsDark = matchMedia('(prefers-color-scheme: dark)')

/** Rises when the colours change, for what is painted and not styled. */
export const paint = signal(0)
systemIsDark.addEventListener('change', () => {
  paint.value += 1
})

export function isDark(): boolean {
  // Read so that whoever asks is told again when the system changes.
  void paint.value
  return theme.value === 'dark' || (theme.value === 'system' && systemIsDark.matches)
}

effect(() => {
  if (theme.value === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme.value
  try {
    if (theme.value === 'system') localStorage.removeItem(place)
    else localStorage.setItem(place, theme.value)
  } catch {
    // Not allowed to remember: then it holds until the page is closed.
  }
  paint.value = paint.peek() + 1
})

export function switchTheme(): void {
  theme.value = isDark() ? 'light' : 'dark'
}
