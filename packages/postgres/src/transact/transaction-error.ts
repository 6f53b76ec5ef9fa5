import { SluiceError } from '@sluice/core'
import { describe, sqlStateOf, storeError } from '../connection/errors.ts'

/**
 * A failure in a transaction of the caller's, of which nothing takes effect before the caller commits.
 * Where every further call in this transaction would fail too, the error does not say that the call may
 * be repeated.
 */
export function transactionError(error: unknown): SluiceError {
  if (SluiceError.is(error)) return error
  const why = whyNoFurtherCall(sqlStateOf(error))
  if (why === undefined) return storeError(error, 'unsent')
  const message = `${why}; roll back, and repeat the whole transaction: ${describe(error)}`
  return new SluiceError('ERR_STORE', message, { cause: error })
}

function whyNoFurtherCall(state: string | undefined): string | undefined {
  if (state === '25P02') return 'a statement of this transaction has failed before'
  if (state === '25006') return 'this transaction may not write'
  if (state === '40P01') return 'a deadlock'
  if (state === '40001') return 'a key was changed after the snapshot of this transaction was taken'
  // Without an SQLSTATE, the client or its library rejected the statement, or lost the connection.
  if (state === undefined || /^(08|25P03|25P04|57P)/.test(state)) {
    return 'the client of this transaction takes no more statements'
  }
  return undefined
}
