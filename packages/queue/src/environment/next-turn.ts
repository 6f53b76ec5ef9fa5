/**
 * Runs `callback` in the next turn of the event loop. Keeps the process alive until then, and no
 * longer.
 */
export function nextTurn(callback: () => void): void {
  setImmediate(callback)
}
