/**
 * Calls a function of the user's whose answer is not used. What it throws, or rejects with, goes to `failed`:
 * it must neither end what goes on nor be lost.
 */
export function callListener(call: () => unknown, failed: (failure: unknown) => void): void {
  try {
    const answer = call()
    if (answer !== undefined) Promise.resolve(answer).catch(failed)
  } catch (failure) {
    failed(failure)
  }
}

/** A listener that never throws: its own failure is printed, with what it was called with. */
export function safeListener<Args extends readonly unknown[]>(
  name: string,
  listener: (...args: Args) => unknown,
): (...args: Args) => void {
  return (...args) => {
    callListener(
      () => listener(...args),
      (failure) =>
        console.error(`sluice: ${name} threw:`, failure, 'when it was called with:', ...args),
    )
  }
}
