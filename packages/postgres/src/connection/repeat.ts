import { SluiceError } from '@sluice/core'
import { isWithoutEffect } from './errors.ts'

/** How often a statement or transaction that had no effect is attempted at most. */
const attemptsMax = 10

/** Attempts a statement or transaction again while the server ends it without effect, after what `lost` waits for. */
export async function whileWithoutEffect<T>(
  attempt: () => Promise<T>,
  lost?: (cause: unknown, tries: number) => Promise<void>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (tries === attemptsMax || !(SluiceError.is(error) && isWithoutEffect(error.cause)))
        throw error
      await lost?.(error.cause, tries)
    }
  }
}
