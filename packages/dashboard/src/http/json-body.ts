import { parseJson } from '@sluice/core'
import { badInput, HttpError } from './http-error.ts'

/** The maximum size of a request body, in bytes. */
const bodyBytesMax: number = 64 * 1024

function tooLong(): HttpError {
  return new HttpError(
    413,
    'ERR_TOO_LARGE',
    `the body of a request may have at most ${bodyBytesMax} bytes`,
  )
}

/** The client has gone away before the whole body came. */
function cutOff(): never {
  throw badInput('the body was cut off')
}

/** Reads the body of a request, which must be one JSON object. */
export async function jsonBody(request: Request): Promise<Readonly<Record<string, unknown>>> {
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json\s*(;|$)/i.test(type)) {
    throw new HttpError(415, 'ERR_CONTENT_TYPE', 'the content type must be application/json')
  }
  let body: unknown
  const text = await readBody(request)
  try {
    body = parseJson(text)
  } catch {
    throw badInput('the body is not JSON')
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw badInput('the body must be an object')
  }
  return body as Record<string, unknown>
}

async function readBody(request: Request): Promise<string> {
  const reader = request.body?.getReader()
  if (reader === undefined) return ''
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(cutOff)
      if (done) break
      bytes += value.byteLength
      if (bytes > bodyBytesMax) throw tooLong()
      chunks.push(value)
    }
  } finally {
    // An unread rest of the body must not block the connection.
    reader.cancel().catch(() => undefined)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch {
    throw badInput('the body is not UTF-8')
  }
}
