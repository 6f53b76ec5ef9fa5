import { SluiceError } from 'sluice'
import type { Refusal } from '../wire.ts'

/** Why a request is not answered as it was asked. */
export class Refused extends Error {
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

/** Something in a request is not as it must be. */
export function badInput(message: string): Refused {
  return new Refused(400, 'ERR_INVALID_INPUT', message)
}

/** What a message must not show to whoever may look: passwords in the address of a store. */
function withoutPasswords(message: string): string {
  return message
    .replace(/(:\/\/[^\s/:@]*):[^\s@]*@/g, '$1:***@')
    .replace(/\b(password|pwd)=\S+/gi, '$1=***')
}

/** An error as whoever asked is told of it. */
export function refusalOf(error: unknown): Refusal & { readonly status: number } {
  if (error instanceof Refused) {
    const { status, code, message } = error
    return { status, code, message }
  }
  if (!SluiceError.is(error)) {
    return {
      status: 500,
      code: 'ERR_INTERNAL',
      message: 'the dashboard failed to answer; whoever runs it can see why',
    }
  }
  const { code } = error
  const status = code === 'ERR_INVALID_INPUT' ? 400 : code === 'ERR_QUEUE_FULL' ? 409 : 503
  return { status, code, message: withoutPasswords(error.message) }
}

/** The answer that says why. */
export function refusedResponse(error: unknown): Response {
  const { status, ...refusal } = refusalOf(error)
  const headers = error instanceof Refused ? error.headers : {}
  return Response.json(refusal, { status, headers: { 'cache-control': 'no-store', ...headers } })
}
