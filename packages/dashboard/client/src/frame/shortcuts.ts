import { signal } from '@preact/signals'
import { currentLocation, goTo } from '../location/current-location.ts'
import { above, type PageLocation } from '../location/location.ts'
import { togglePause } from './freshness.tsx'

export const isHelpOpen = signal(false)

/** The shortcuts, as the help shows them. */
export const shortcuts: readonly (readonly [keys: string, does: string])[] = [
  ['/', 'search or filter'],
  ['j  k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['x', 'select the row'],
  ['f', 'failures, of the queue or of every queue'],
  ['p', 'pause or resume updates'],
  ['Esc', 'close, leave a field, or go up'],
  ['?', 'this list'],
]

/** The links of all rows, from top to bottom. */
function rowLinks(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>('[data-row-link]')]
}

function step(by: 1 | -1): void {
  const links = rowLinks()
  const row = document.activeElement?.closest('[data-row]')
  const current = links.findIndex((link) => row?.contains(link) === true)
  const next = current === -1 ? (by === 1 ? 0 : links.length - 1) : current + by
  const link = links[Math.min(links.length - 1, Math.max(0, next))]
  link?.focus()
  link?.scrollIntoView({ block: 'nearest' })
}

function selectRow(): void {
  const row = document.activeElement?.closest('[data-row]')
  row?.querySelector<HTMLElement>('input[type=checkbox]')?.click()
}

function search(): void {
  const field = document.querySelector<HTMLInputElement>('[data-search]')
  field?.focus()
  field?.select()
}

function up(): void {
  const next = above(currentLocation.peek())
  if (next !== undefined) goTo(next)
}

function failuresOf(at: PageLocation): PageLocation {
  return at.at === 'overview' || at.queue === undefined
    ? { at: 'failures' }
    : { at: 'failures', queue: at.queue }
}

const does: Readonly<Record<string, () => void>> = {
  '/': search,
  j: () => step(1),
  k: () => step(-1),
  x: selectRow,
  f: () => goTo(failuresOf(currentLocation.peek())),
  p: togglePause,
  '?': () => {
    isHelpOpen.value = true
  },
}

function isTyping(at: Element | null): at is HTMLElement {
  return (
    at instanceof HTMLTextAreaElement ||
    at instanceof HTMLSelectElement ||
    (at instanceof HTMLInputElement && at.type !== 'checkbox')
  )
}

function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return
  // Dialogs and popovers close themselves.
  if (document.querySelector('dialog[open], [popover]:popover-open') !== null) return
  const at = document.activeElement
  if (event.key === 'Escape') {
    if (isTyping(at)) at.blur()
    else up()
    return
  }
  if (isTyping(at)) return
  const act = does[event.key]
  if (act === undefined) return
  event.preventDefault()
  act()
}

export function listenToKeys(): void {
  addEventListener('keydown', onKey)
}
