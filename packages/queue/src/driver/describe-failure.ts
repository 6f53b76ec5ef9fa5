// String.prototype.toWellFormed is in every Node this runs on, but not in the library of es2023.
/// <reference lib="es2024.string" />
import { describeValue, errorBytesMax, isPromise, SluiceTypeError } from '@sluice/core'
import { textOf, unreadable } from '../environment/environment.ts'
import { retryAfter } from '../held/retry-after.ts'
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

/** Reads a part of an error. A getter of it may throw, or the error be a proxy that was revoked. */
function tried(part: () => unknown): unknown {
  try {
    return part()
  } catch {
    return undefined
  }
}

function text(value: unknown, limit: number): string {
  // Stores hold neither NUL nor half surrogate pairs, and an error may have anything in it.
  const whole = textOf(value).slice(0, limit).replaceAll('\0', '\u2400').toWellFormed()
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

/** `above`: the errors whose cause it is, of which it may be one again. */
function read(error: unknown, withStack: boolean, above: readonly unknown[] = []): LastError {
  const type = error === null ? String(error) : typeof error
  if (type !== 'object') return bounded({ name: type, message: textOf(error) })
  const parts = error as Record<string, unknown>
  const part = (name: string): unknown => tried(() => parts[name])
  const own = bounded({
    name: part('name'),
    // What fetch and AbortSignal.timeout throw is told apart by its name; its code is a legacy number.
    code: tried(() =>
      Object.prototype.toString.call(error) === '[object DOMException]' ? '' : parts['code'],
    ),
    // Every error has a message; of another object, such as the body of a response, all is shown.
    message: tried(() => parts['message'] ?? JSON.stringify(error)) ?? unreadable,
    stack: withStack ? part('stack') : undefined,
  })
  const reason = tried(() => {
    const { cause, errors } = parts
    return cause ?? (Array.isArray(errors) ? (errors[0] as unknown) : undefined)
  })
  const through = [...above, error]
  if ((reason ?? '') === '' || through.length > causesMax || through.includes(reason)) return own
  return withCause(own, read(reason, false, through))
}

/** `fetch` says only in its cause what failed, and `Promise.any` only in its errors. */
function withCause(own: LastError, cause: LastError): LastError {
  const { code = cause.code, message } = own
  const why = cause.message || (cause.code ?? '')
  const whole = message.includes(why) ? message : [message, why].filter(Boolean).join(': ')
  return bounded({ ...own, code, message: whole })
}

/** What `redactError` has left. A promise is no error, and its rejection must not end the process. */
function redacted(answer: unknown, report: (failure: unknown) => void): LastError {
  if (isPromise(answer)) answer.then(undefined, report)
  else if (typeof answer === 'object' && answer !== null) return bounded(answer)
  throw new SluiceTypeError(
    'redactError(error)',
    `must return { name, message }; got ${describeValue(answer)}`,
  )
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
  const own = { retryAfterMs: retryAfter(error)?.delayMs }
  try {
    const stored = redactError === undefined ? kept : redacted(redactError(kept), report)
    return written({ ...stored, ...own })
  } catch (failure) {
    // An error that could not be redacted must not be stored.
    report(failure)
    return written({ name: 'Error', message: 'an error that could not be redacted' })
  }
}
