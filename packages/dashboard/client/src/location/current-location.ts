import { signal } from '@preact/signals'
import { hashOf, locationOf, type PageLocation } from './location.ts'

/** The location that the page shows; the address is always the same. */
export const currentLocation = signal<PageLocation>(locationOf(location.hash))

/** The scroll position and focus of a page, kept in the browser's history. */
interface ScrollState {
  readonly y: number
  readonly row?: string | undefined
}

history.scrollRestoration = 'manual'

function leave(): void {
  const row = document.activeElement?.closest<HTMLElement>('[data-row]')?.dataset['row']
  history.replaceState({ y: scrollY, row } satisfies ScrollState, '')
}

/** Waits until the page was drawn, so that its rows exist. */
function afterDrawing(act: () => void): void {
  requestAnimationFrame(() => requestAnimationFrame(act))
}

function comeBack(spot: ScrollState | null): void {
  afterDrawing(() => {
    scrollTo(0, spot?.y ?? 0)
    for (const row of document.querySelectorAll<HTMLElement>('[data-row]')) {
      if (spot?.row !== undefined && row.dataset['row'] === spot.row) {
        row.querySelector<HTMLElement>('[data-row-link]')?.focus({ preventScroll: true })
      }
    }
  })
}

/** Whether two locations are pages of one list, or filters of it. */
function isSameList(a: PageLocation, b: PageLocation): boolean {
  return a.at === 'queue' && b.at === 'queue' && a.queue === b.queue
}

/** Navigates; Back returns to the location before. */
export function goTo(next: PageLocation): void {
  const hash = hashOf(next)
  if (hash === location.hash) return
  leave()
  history.pushState(null, '', hash)
  const before = currentLocation.peek()
  currentLocation.value = next
  // The list stays in sight, and the focus on the button that turns its pages.
  if (isSameList(before, next)) return
  scrollTo(0, 0)
  document.getElementById('content')?.focus({ preventScroll: true })
}

/** Replaces the location, such as while a filter is typed, without a step for Back. */
export function replaceLocation(next: PageLocation): void {
  history.replaceState(history.state, '', hashOf(next))
  currentLocation.value = next
}

/** Whether an event is of something in a row that has an action of its own. */
function isOnControl({ target }: MouseEvent): boolean {
  return (
    target instanceof Element && target.closest('a, button, input, label, [role=slider]') !== null
  )
}

function isTextSelected(): boolean {
  return getSelection()?.isCollapsed === false
}

/** Opens what a row of a list is about, as its link would. */
export function openRow(event: MouseEvent, next: PageLocation): void {
  // A click also ends the selection of a text, such as that of an error.
  if (isOnControl(event) || isTextSelected()) return
  if (event.ctrlKey || event.metaKey || event.shiftKey) open(hashOf(next), '_blank', 'noopener')
  else goTo(next)
}

function follow(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0) return
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
  const link = event.target instanceof Element ? event.target.closest('a') : null
  const hash = link?.getAttribute('href')
  if (hash?.startsWith('#/') !== true) return
  event.preventDefault()
  goTo(locationOf(hash))
}

/** Shift would select the text from the last click to a row. It opens the row, unless it extends a selection. */
function keepUnselected(event: MouseEvent): void {
  const isOnRow = event.target instanceof Element && event.target.closest('tr[data-row]') !== null
  if (event.shiftKey && isOnRow && !isOnControl(event) && !isTextSelected()) event.preventDefault()
}

addEventListener('mousedown', keepUnselected)
addEventListener('click', follow)
addEventListener('popstate', (event) => {
  if (location.hash.startsWith('#sign-in=')) return
  currentLocation.value = locationOf(location.hash)
  comeBack(event.state as ScrollState | null)
})
