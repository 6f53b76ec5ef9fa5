// This folder reads requests and makes responses: query, body, origin, errors and the files of the
// page.

import { SluiceError } from 'sluice'
import type { Refusal } from '../wire.ts'

/** An error with the HTTP status, code and message that a request is answered with. */
export class HttpError extends Error {
  readonly status: number
  readonly code: string
  readonly headers: Readonly<Record<string, string>>

  constructor(
    status: number,
    code: string,
    message: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message)
    this.status = status
    this.code = code
    this.headers = headers
  }
}

/** 400: a part of the request is invalid. */
export function badInput(message: string): HttpError {
  return new HttpError(400, 'ERR_INVALID_INPUT', message)
}

/** Removes passwords of store addresses, whatever they contain, from a message that visitors see. */
function withoutPasswords(message: string): string {
  return message
    .replace(/(:\/\/[^\s/:@]*):\S*@/g, '$1:***@')
    .replace(/\b(password|pwd)=\S+/gi, '$1=***')
}

/** The status, code and message that a visitor sees of an error. */
export function refusalOf(error: unknown): Refusal & { readonly status: number } {
  if (error instanceof HttpError) {
    const { status, code, message } = error
    return { status, code, message }
  }
  if (!SluiceError.is(error)) {
    return {
      status: 500,
      code: 'ERR_INTERNAL',
      message:
        'the dashboard failed to answer; the reason was given to its `onError`, or else printed',
    }
  }
  const { code } = error
  const status = code === 'ERR_INVALID_INPUT' ? 400 : code === 'ERR_QUEUE_FULL' ? 409 : 503
  return { status, code, message: withoutPasswords(error.message) }
}

/** The error as a response. */
export function errorResponse(error: unknown): Response {
  const { status, ...refusal } = refusalOf(error)
  const headers = error instanceof HttpError ? error.headers : {}
  return Response.json(refusal, { status, headers })
}
