import { type Failure, SluiceError } from '@sluice/core'
import { isPermanent } from '../driver/retryable.ts'

/** The answer for one key that could not be served. `isFinal`: no repetition can tell more. */
export interface KeyFailure extends Failure {
  readonly isFinal?: boolean
}

/** Whether the answer for one key is that it could not be served. */
export function isFailure<Reply>(reply: Reply | Failure): reply is Failure {
  return (
    typeof reply === 'object' && reply !== null && 'outcome' in reply && reply.outcome === 'failed'
  )
}

/** Whether an error is of the store as a whole, so that no key of a step could be served alone. */
export function isOfStore(error: unknown): boolean {
  return isPermanent(error) && !SluiceError.is(error, 'ERR_INVALID_INPUT')
}

/** Whether an error says that nothing was done, and that it may be done later. */
export function isRetryable(error: unknown): boolean {
  return SluiceError.is(error) && error.retryable
}

/** Whether an error says that nothing was sent, since the store, or the way to it, was busy. */
export function wasNotSent(error: unknown): boolean {
  return SluiceError.is(error, 'ERR_STORE_BUSY') || SluiceError.is(error, 'ERR_TIMEOUT')
}

/** An error of a repetition says nothing of what was sent before it. */
export function doubtful(error: unknown): SluiceError {
  if (SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME')) return error
  return unknownOutcome('its answer was lost, and it could not be repeated', error)
}

/** What a call is told that was never sent. */
export function timedOut(): SluiceError {
  return new SluiceError(
    'ERR_TIMEOUT',
    'cannot do what was asked: the store was busy with earlier calls for longer than timeoutMs; ' +
      'nothing was sent',
    { retryable: true },
  )
}

/** What a call is answered with that was waiting when its queue was closed. */
export function closedUnsent(key: string): SluiceError {
  return new SluiceError(
    'ERR_TIMEOUT',
    `cannot do what was asked of key ${JSON.stringify(key)}: the queue was closed before the store ` +
      'could be asked; nothing was done',
    { retryable: true },
  )
}

/** What a call is told of which nobody knows whether it took effect. */
export function unknownOutcome(why: string, cause?: unknown): SluiceError {
  return new SluiceError(
    'ERR_UNKNOWN_OUTCOME',
    `cannot say whether the call took effect: ${why}; look the key up before you repeat it`,
    cause === undefined ? {} : { cause },
  )
}
