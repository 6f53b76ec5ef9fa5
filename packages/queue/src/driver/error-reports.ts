import { callListener, SluiceError, type SluiceEvent } from '@sluice/core'
import { printLine, textOf } from '../environment/environment.ts'
import type { Logger } from './logger.ts'
import { OncePerMinute } from './once-per-minute.ts'
import { notice } from './traced.ts'

/** The queue object whose errors are reported. */
export interface ErrorReportsOptions {
  readonly queue: string
  readonly onError: ((error: unknown) => void) | undefined
  readonly logger: Logger | undefined
  /** The errors that were printed, shared by the queue objects of a driver. */
  readonly printed: OncePerMinute
  /** The event of an error on the tracing channel. */
  event(): SluiceEvent
}

/** Something that a logger is called with, or that is printed where there is none. */
export interface Remark {
  readonly level: keyof Logger
  /** The event, in the words of a log line. */
  readonly text: string
  /** Remarks of a kind are printed once a minute. */
  readonly kind: string
  /** The advice; added to the first line that is printed. */
  readonly hint?: string
}

/** The remark about an `onError` that threw, before the error that it was called with. */
function failedListener(failure: unknown): Remark {
  return {
    level: 'error',
    text: `onError threw ${JSON.stringify(textOf(failure))} when it was called with an error, which follows`,
    kind: 'onError',
  }
}

/**
 * Where errors go that no call can return: to `onError`, or else to the logger, or else to stderr;
 * and always to the tracing channel.
 */
export class ErrorReports {
  readonly #options: ErrorReportsOptions
  readonly #troubles = new OncePerMinute()
  /** The hints that were printed: each once. */
  readonly #hints = new Set<string>()

  constructor(options: ErrorReportsOptions) {
    this.#options = options
  }

  /** Reports an error. Without a listener each code is printed once a minute. */
  report(error: unknown): void {
    const { queue, onError, logger, printed } = this.#options
    notice({ ...this.#options.event(), error })
    this.tell(onError && (() => onError(error)), () => {
      if (logger !== undefined) this.#log('error', textOf(error))
      else if (printed.isNew(error)) printLine(queue, textOf(error))
    })
  }

  /** Calls a listener, or else `say`; and `say` after what a listener has thrown. */
  tell(call: (() => unknown) | undefined, say: () => void): void {
    if (call === undefined) say()
    else {
      callListener(call, (failure) => {
        this.remark(failedListener(failure))
        say()
      })
    }
  }

  /** Reports an error that comes again and again while the store is in trouble: once a minute. */
  reportTrouble(error: unknown): void {
    // An attempt whose queue was closed before its turn is no trouble of the store.
    if (SluiceError.is(error, 'ERR_CLOSED')) return
    if (this.#troubles.isNew(error)) this.report(error)
  }

  /** Says something that is no error of a call; without a logger once a minute for each kind. */
  remark({ level, text, kind, hint = '' }: Remark): void {
    const { queue, logger, printed } = this.#options
    if (logger !== undefined) {
      this.#log(level, text)
      return
    }
    const heldBack = printed.pass(`${queue}\n${kind}`)
    if (heldBack === undefined) return
    const before = heldBack === 0 ? '' : ` (and ${heldBack} more like it since the last line)`
    const advice = this.#hints.has(hint) ? '' : hint
    this.#hints.add(hint)
    printLine(queue, `${text}${before}${advice}`)
  }

  /** Says something to a logger only. */
  log(text: string): void {
    if (this.#options.logger !== undefined) this.#log('info', text)
  }

  #log(level: keyof Logger, text: string): void {
    const { queue, logger, printed } = this.#options
    callListener(
      () => logger?.[level](`sluice: queue ${JSON.stringify(queue)}: ${text}`),
      (failure) => {
        if (printed.pass(`${queue}\nlogger`) === undefined) return
        const threw = JSON.stringify(textOf(failure))
        printLine(queue, `the logger threw ${threw} when it was called with: ${text}`)
      },
    )
  }
}
