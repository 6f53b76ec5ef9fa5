/**
 * Calls a function of the user's that is told of something, and gets no answer. What it throws, or rejects
 * with, goes to `failed`: it must neither end what goes on nor be lost.
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
export function safeListener<Told extends readonly unknown[]>(
  name: string,
  listener: (...told: Told) => unknown,
): (...told: Told) => void {
  return (...told) => {
    callListener(
      () => listener(...told),
      (failure) =>
        console.error(`sluice: ${name} threw:`, failure, 'when it was called with:', ...told),
    )
  }
}
