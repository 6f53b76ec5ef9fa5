// String.prototype.toWellFormed is in every Node this runs on, but not in the library of es2023.
/// <reference lib="es2024.string" />
import { errorBytesMax } from '@sluice/core'
import type { LastError } from '../inspect/inspect.ts'
import type { CheckedOptions } from '../queue/options.ts'

/** An error as it is stored. */
export interface Described {
  /** Its name, code and message as JSON, with what its causes add. */
  readonly text: string
  /** The code, its own or that of a cause; without one, the name. */
  readonly code: string
}

/** How much of the parts of an error is kept, in bytes of UTF-8. */
const bytesMax = { name: 100, code: 100, message: 1_024, stack: 2_048 }

/** How much of a message is kept with a failed run, in bytes of UTF-8. */
const shortMax = 240

const encoder = new TextEncoder()

function text(value: unknown, limit: number): string {
  // Stores hold neither NUL nor half surrogate pairs, and an error may have anything in it.
  const whole = String(value).slice(0, limit).replaceAll('\0', '\u2400').toWellFormed()
  const { read } = encoder.encodeInto(whole, new Uint8Array(limit))
  return whole.slice(0, read)
}

function bounded({
  name,
  code,
  message,
  stack,
}: Partial<Record<keyof LastError, unknown>>): LastError {
  return {
    name: text(name ?? 'Error', bytesMax.name),
    ...((code ?? '') === '' ? {} : { code: text(code, bytesMax.code) }),
    message: text(message ?? '', bytesMax.message),
    ...(stack === undefined ? {} : { stack: text(stack, bytesMax.stack) }),
  }
}

/** As JSON, which may be several times as long as the text in it: less is kept then. */
function written(error: LastError): Described {
  let json = JSON.stringify(error)
  const { stack: _, ...rest } = error
  for (let limit = bytesMax.message; encoder.encode(json).length > errorBytesMax; limit /= 2) {
    json = JSON.stringify({ ...rest, message: text(error.message, Math.floor(limit)) })
  }
  return { text: json, code: error.code ?? error.name }
}

/** The text of an error with less of its message and without its stack, for the history. */
export function shortFailure(stored: string): string {
  const { stack: _, ...error } = JSON.parse(stored) as LastError
  return JSON.stringify({ ...error, message: text(error.message, shortMax) })
}

/** How many causes of an error are read. */
const causesMax = 4

function read(error: unknown, withStack: boolean, causes = causesMax): LastError {
  try {
    if (typeof error !== 'object' || error === null) {
      return bounded({ name: typeof error, message: String(error) })
    }
    const { name, code, message, stack, cause, errors } = error as Record<string, unknown>
    // What fetch and AbortSignal.timeout throw is told apart by its name; its code is a legacy number.
    const hasNumber = Object.prototype.toString.call(error) === '[object DOMException]'
    const own = bounded({
      name,
      code: hasNumber ? undefined : code,
      message,
      stack: withStack ? stack : undefined,
    })
    const reason = cause ?? (Array.isArray(errors) ? errors[0] : undefined)
    if (reason === undefined || reason === null || causes === 0) return own
    return withCause(own, read(reason, false, causes - 1))
  } catch {
    return { name: 'Error', message: 'an error that cannot be read' }
  }
}

/** `fetch` says only in its cause what failed, and `Promise.any` only in its errors. */
function withCause(own: LastError, cause: LastError): LastError {
  const { code = cause.code, message } = own
  const why = cause.message || (cause.code ?? '')
  const whole = message.includes(why) ? message : [message, why].filter(Boolean).join(': ')
  return bounded({ ...own, code, message: whole })
}

/**
 * The stored text of an error: its name, code and message as JSON, bounded, after the user's own
 * redaction. Its stack only if the option says so. `undefined` for no error at all.
 */
export function describeFailure(
  error: unknown,
  { redactError, errorStacks }: Pick<CheckedOptions<unknown>, 'redactError' | 'errorStacks'>,
  report: (failure: unknown) => void,
): Described | undefined {
  if (error === undefined) return undefined
  const kept = read(error, errorStacks)
  if (redactError === undefined) return written(kept)
  try {
    return written(bounded(redactError(kept)))
  } catch (failure) {
    // An error that could not be redacted must not be stored.
    report(failure)
    return written({ name: 'Error', message: 'an error that could not be redacted' })
  }
}
