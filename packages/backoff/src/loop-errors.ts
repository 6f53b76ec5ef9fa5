import { checkFunction, checkOneOf, safeListener } from '@sluice/core'

/** Options for errors of a loop's function. */
export interface LoopErrorOptions {
  /**
   * `reject`, the default: the loop ends and rejects with the error. `continue`: the loop continues
   * as if the function had returned, and the error is only reported.
   */
  readonly onError?: 'reject' | 'continue' | undefined
  /**
   * Called with each error first, for both values of `onError`. By default, a loop that continues
   * writes its errors to the console, so that none is lost; a loop that rejects reports nothing
   * else.
   */
  readonly report?: ((error: unknown) => void) | undefined
}

/** Reports an error, and throws it unless the loop continues. */
export type HandleError = (error: unknown) => void

function reportToConsole(error: unknown): void {
  console.error('a loop goes on after its function failed:', error)
}

/** Asserts the options for errors of a loop. */
export function errorHandler({ onError = 'reject', report }: LoopErrorOptions): HandleError {
  const goesOn = checkOneOf('onError', onError, ['reject', 'continue']) === 'continue'
  if (report !== undefined) checkFunction('report', report)
  const byDefault = goesOn ? reportToConsole : undefined
  const tell = report === undefined ? byDefault : safeListener('the report of a loop', report)
  return (error) => {
    tell?.(error)
    if (!goesOn) throw error
  }
}
