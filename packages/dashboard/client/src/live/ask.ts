import type { Refusal } from '../../../src/wire.ts'

/** A request was rejected, or the server did not answer. */
export class HttpError extends Error {
  readonly code: string
  /** The HTTP status; 0 if the server did not answer. */
  readonly status: number

  /**
   * Whether every further attempt will be rejected, too. Not if a proxy answered: while the server
   * restarts, some answer 404.
   */
  get isForGood(): boolean {
    const { status, code } = this
    if (status < 400 || status >= 500 || !code.startsWith('ERR_')) return false
    return status !== 401 && status !== 408 && status !== 429
  }

  constructor(status: number, { code, message }: Refusal) {
    super(message)
    this.name = 'Refused'
    this.code = code
    this.status = status
  }
}

/** Called when any request is answered with 401. */
export const onSignedOut: { call: () => void } = { call: () => undefined }

async function refusalOf(response: Response): Promise<Refusal> {
  try {
    const body = (await response.json()) as Partial<Refusal>
    if (typeof body.message === 'string') {
      return { code: body.code ?? String(response.status), message: body.message }
    }
  } catch {
    // A proxy in front of the server answered.
  }
  return { code: String(response.status), message: `the server answered ${response.status}` }
}

/** A read without an answer for this long gets none: no call to the store may take longer. */
const answerMsMax = 60_000

/** Ends a read for which the server is silent. A change may take longer, and must not be sent twice. */
function signalOf({ method, signal }: RequestInit): AbortSignal | null {
  if (method !== undefined) return signal ?? null
  const silence = AbortSignal.timeout(answerMsMax)
  return signal == null ? silence : AbortSignal.any([signal, silence])
}

/** Sends a request to a path relative to the page. */
export async function request<T>(path: string, init: RequestInit = {}): Promise<T> {
  let response: Response
  try {
    response = await fetch(path, {
      ...init,
      signal: signalOf(init),
      headers: { accept: 'application/json', ...init.headers },
    })
  } catch (error) {
    if (init.signal?.aborted === true) throw error
    throw new HttpError(0, {
      code: 'UNREACHABLE',
      message: 'the dashboard’s server does not answer',
    })
  }
  if (response.status === 401 && path !== 'api/sign-in') onSignedOut.call()
  if (!response.ok) throw new HttpError(response.status, await refusalOf(response))
  if (response.status === 204) return undefined as T
  return (await response.json()) as T
}

/** Sends a POST request with a JSON body. */
export function post<T>(path: string, body: unknown, csrf?: string): Promise<T> {
  return request<T>(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: {
      'content-type': 'application/json',
      ...(csrf === undefined ? {} : { 'x-sluice-csrf': csrf }),
    },
  })
}

/** The message of an error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
