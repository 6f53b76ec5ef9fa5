/** Waits for a promise to come to something, whatever it is. */
export async function seen(promise: Promise<unknown>): Promise<void> {
  await promise.then(
    () => undefined,
    () => undefined,
  )
}
