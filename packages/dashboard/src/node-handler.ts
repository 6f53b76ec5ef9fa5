import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { Dashboard } from '../dashboard.ts'

/** What Express and its like make of a request. */
interface MountedRequest extends IncomingMessage {
  /** The path before the part was cut off under which a handler is mounted. */
  originalUrl?: string
  /** What a parser has made of the body. */
  body?: unknown
  rawBody?: unknown
}

/**
 * A dashboard as a handler for servers of the kind of `node:http` and Express. Mount it at the
 * `basePath` that the dashboard was made with.
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
    // A parser that came first has read the body, which can be read only once.
    if (incoming.readableDidRead && incoming.body !== undefined) {
      incoming.rawBody ??= Buffer.from(JSON.stringify(incoming.body))
    }
    void listen(incoming, outgoing)
  }
}
