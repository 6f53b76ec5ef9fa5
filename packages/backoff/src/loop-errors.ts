import { checkFunction, checkOneOf } from '@sluice/core'

/** What a loop does when its function throws or rejects. */
export interface LoopErrorOptions {
  /**
   * `reject`, the default: the loop ends and rejects with the error. `continue`: it goes on as if
   * the function had returned, and the error is only reported.
   */
  readonly onError?: 'reject' | 'continue' | undefined
  /**
   * Told each error first, whatever `onError` says. Left out, a loop that goes on writes its errors
   * to the console, so that none is lost; one that rejects says so by that.
   */
  readonly report?: ((error: unknown) => void) | undefined
}

/** Reports an error, and throws it unless the loop is to go on. */
export type HandleError = (error: unknown) => void

function reportToConsole(error: unknown): void {
  console.error('a loop goes on after its function failed:', error)
}

/** Holds for the options of a loop that are about errors. */
export function errorHandler({ onError = 'reject', report }: LoopErrorOptions): HandleError {
  const goesOn = checkOneOf('options.onError', onError, ['reject', 'continue']) === 'continue'
  if (report !== undefined) checkFunction('options.report', report)
  const tell = report ?? (goesOn ? reportToConsole : undefined)
  return (error) => {
    tell?.(error)
    if (!goesOn) throw error
  }
}
