import { SluiceError, type SluiceEvent, sluiceChannel } from '@sluice/core'
import { printError } from '../environment/environment.ts'
import { OncePerMinute } from './once-per-minute.ts'
import { notice } from './traced.ts'

/** The queue object whose errors are reported. */
export interface ErrorReportsOptions {
  readonly queue: string
  readonly onError: ((error: unknown) => void) | undefined
  /** The errors that were printed, shared by the queue objects of a driver. */
  readonly printed: OncePerMinute
  /** The event of an error on the tracing channel. */
  event(): SluiceEvent
}

/**
 * Where errors go that no call can return: to `onError`, the tracing channel, or else to stderr.
 */
export class ErrorReports {
  readonly #options: ErrorReportsOptions
  readonly #troubles = new OncePerMinute()

  constructor(options: ErrorReportsOptions) {
    this.#options = options
  }

  /** Reports an error. If nothing listens, each code is printed once a minute. */
  report(error: unknown): void {
    const { queue, onError, printed } = this.#options
    notice({ ...this.#options.event(), error })
    if (onError === undefined) {
      if (!sluiceChannel.hasSubscribers && printed.isNew(error)) printError(queue, error)
      return
    }
    try {
      onError(error)
    } catch {
      // An error of onError must not cause more of them.
    }
  }

  /** Reports an error that comes again and again while the store is in trouble: once a minute. */
  reportTrouble(error: unknown): void {
    // An attempt whose queue was closed before its turn is no trouble of the store.
    if (SluiceError.is(error, 'ERR_CLOSED')) return
    if (this.#troubles.isNew(error)) this.report(error)
  }
}
