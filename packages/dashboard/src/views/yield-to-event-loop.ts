/**
 * Lets everything else that this process has to do go first. A store in this process answers at
 * once, so that a long row of looks would otherwise be one block of time.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
