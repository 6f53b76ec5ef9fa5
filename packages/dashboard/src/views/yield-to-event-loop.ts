/**
 * Yields to the event loop. A store in this process answers without waiting, so that a long series
 * of reads would otherwise block the process.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
