import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { Dashboard } from './dashboard.ts'

/** A request as Express and similar frameworks pass it on. */
interface MountedRequest extends IncomingMessage {
  /** The path before Express removed the mount path. */
  originalUrl?: string
  /** The body as a body parser has parsed it. */
  body?: unknown
  rawBody?: unknown
}

/**
 * Turns a dashboard into a request handler for `node:http` and Express. Mount it at the `basePath`
 * of the dashboard.
 */
export function toNodeHandler(
  dashboard: Dashboard,
): (incoming: IncomingMessage, outgoing: ServerResponse) => void {
  const listen = getRequestListener(
    (request, environment) => dashboard.fetch(request, environment),
    { overrideGlobalObjects: false },
  )
  return (incoming: MountedRequest, outgoing) => {
    if (incoming.originalUrl !== undefined) incoming.url = incoming.originalUrl
    // A body parser ran first and has consumed the body.
    if (incoming.readableDidRead && incoming.body !== undefined) {
      const { body } = incoming
      const isUnparsed = typeof body === 'string' || Buffer.isBuffer(body)
      incoming.rawBody ??= Buffer.from(isUnparsed ? body : JSON.stringify(body))
    }
    void listen(incoming, outgoing)
  }
}
