import { type Failure, SluiceError } from '@sluice/core'
import { unknownOutcome } from '../core/queue-errors.ts'
import { isPermanent } from '../driver/retryable.ts'

/** The answer for one key that failed. `isFinal`: a repetition cannot succeed. */
export interface KeyFailure extends Failure {
  readonly isFinal?: boolean
}

/** Whether the answer for one key is a failure. */
export function isFailure<Reply>(reply: Reply | Failure): reply is Failure {
  return (reply as Partial<Failure> | undefined)?.outcome === 'failed'
}

/** Whether an error is of the store as a whole, so that no key of the batch could succeed alone. */
export function isOfStore(error: unknown): boolean {
  return isPermanent(error) && !SluiceError.is(error, 'ERR_INVALID_INPUT')
}

/** Whether an error means that nothing was written, and that a repetition may succeed. */
export function isRetryable(error: unknown): boolean {
  return SluiceError.is(error) && error.retryable
}

/** Whether an error means that nothing was sent, since the store or its connections were busy. */
export function wasNotSent(error: unknown): boolean {
  return SluiceError.is(error, 'ERR_STORE_BUSY') || SluiceError.is(error, 'ERR_TIMEOUT')
}

/** The error of a repetition: the outcome of the first sending stays unknown. */
export function doubtful(error: unknown): SluiceError {
  if (SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME')) return error
  return unknownOutcome('its answer was lost, and it could not be repeated', error)
}

/** The error of a call that was never sent. */
export function timedOut(): SluiceError {
  return new SluiceError(
    'ERR_TIMEOUT',
    'cannot make this call: the store was busy with earlier calls for longer than timeoutMs; ' +
      'nothing was sent',
    { retryable: true },
  )
}

/** The error of a call that was waiting when its queue was closed. */
export function closedUnsent(key: string): SluiceError {
  return new SluiceError(
    'ERR_TIMEOUT',
    `cannot make this call for key ${JSON.stringify(key)}: the queue was closed; nothing was sent`,
    { retryable: true },
  )
}
