/** The focused element and what it is in, from the inside out, until the pointer is used. */
let path: readonly Element[] = []

function onFocus({ target }: FocusEvent): void {
  const around: Element[] = []
  for (let at = target instanceof Element ? target : null; at !== null; at = at.parentElement) {
    around.push(at)
  }
  path = around
}

/** Focuses the part of the page from which the focused element has vanished. */
function onChange(): void {
  const [focused, ...around] = path
  if (focused?.isConnected !== false || document.activeElement !== document.body) return
  const isLeft = (at: Element) =>
    at.isConnected && at.matches('section, main') && at.childElementCount > 0
  const next = around.find(isLeft) ?? document.getElementById('content')
  if (!(next instanceof HTMLElement)) return
  next.tabIndex = -1
  next.focus({ preventScroll: true })
}

/**
 * Keeps the focus near an element that vanishes while it has the focus, such as the button of an action
 * that is no longer possible: otherwise a screen reader starts again at the top of the page.
 */
export function keepFocus(): void {
  addEventListener('focusin', onFocus)
  addEventListener('pointerdown', () => {
    path = []
  })
  new MutationObserver(onChange).observe(document.body, { childList: true, subtree: true })
}
