import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { checkNumber, checkObject, checkString } from '@sluice/core'
import { SluiceTypeError } from 'sluice'
import { type Assembled, assemble } from './create-dashboard.ts'
import type { DashboardOptions } from './dashboard.ts'

/** The address at which a dashboard is served. */
export interface ServeOptions {
  /** Default: a free port. */
  readonly port?: number | undefined
  /** Default `127.0.0.1`, which only this machine reaches. Any other host requires `auth`. */
  readonly host?: string | undefined
}

/** A dashboard with its server. */
export interface Serving extends AsyncDisposable {
  /** The address of the page. */
  readonly url: string
  /** The address with the token, which signs a visitor in; absent without a token. */
  readonly signInUrl?: string
  /** Ends all streams, stops the server and releases the store. */
  close(): Promise<void>
}

const loopback = new Set(['localhost', '127.0.0.1', '::1'])

/** How long a request may take to arrive, in milliseconds. Responses, such as streams, may last. */
const arrivalDefault = { headersMs: 10_000, requestMs: 30_000, checkEveryMs: 5_000 }

/** How long a connection is kept open for the next request, in milliseconds. */
const keepAliveMs = 5_000

/** The maximum number of connections in addition to those of streams. */
const otherConnectionsMax = 200

/**
 * Serves a dashboard with a server of its own.
 *
 * Rejects for bad options, and if the port is not available.
 */
export async function serveDashboard(
  options: DashboardOptions,
  where: ServeOptions = {},
): Promise<Serving> {
  return await serveAssembled(assemble, options, where, arrivalDefault)
}

/** For tests: serves a dashboard built by `make`, with other time limits for requests. */
export async function serveAssembled(
  make: (options: DashboardOptions) => Pick<Assembled, 'dashboard'>,
  options: DashboardOptions,
  where: ServeOptions,
  arrival: typeof arrivalDefault,
): Promise<Serving> {
  checkObject('options', options)
  checkObject('where', where, ['port', 'host'])
  const { port = 0, host = '127.0.0.1' } = where
  checkNumber('where.port', port, { min: 0, max: 65_535, integer: true })
  checkString('where.host', host, { empty: false })
  if (!loopback.has(host) && options.auth === undefined) {
    throw new SluiceTypeError(
      'auth',
      `is required to serve on ${host}, which other machines can reach; or serve on 127.0.0.1`,
    )
  }
  const shown = host.includes(':') ? `[${host}]` : host
  const isAny = host === '0.0.0.0' || host === '::'
  const own = isAny ? 'localhost' : shown
  const { hosts: others = loopback.has(host) || isAny ? undefined : [own] } = options
  // The address that is returned is answered in any case.
  const hosts = Array.isArray(others) && others.length > 0 ? [...others, own] : others
  const { dashboard } = make({ ...options, hosts })
  const { streamsMax = 50 } = options
  const server = createAdaptorServer({
    fetch: (request, environment) => dashboard.fetch(request, environment),
    overrideGlobalObjects: false,
    serverOptions: {
      headersTimeout: arrival.headersMs,
      requestTimeout: arrival.requestMs,
      connectionsCheckingInterval: arrival.checkEveryMs,
      keepAliveTimeout: keepAliveMs,
      maxHeaderSize: 16 * 1024,
    },
  }) as Server
  server.maxConnections = streamsMax + otherConnectionsMax
  try {
    await listening(server, port, host)
  } catch (error) {
    await dashboard.close()
    throw error
  }
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  const base = (options.basePath ?? '/').replace(/\/+$/, '')
  const url = `http://${own}:${bound}${base}/`
  const { auth } = options
  const token = auth !== undefined && 'token' in auth ? auth.token : undefined
  let closed: Promise<void> | undefined
  const close = (): Promise<void> => {
    closed ??= closing(server, () => dashboard.close())
    return closed
  }
  return {
    url,
    ...(token === undefined ? {} : { signInUrl: `${url}#sign-in=${encodeURIComponent(token)}` }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function listening(server: Server, port: number, host: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

async function closing(server: Server, closeDashboard: () => Promise<void>): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    server.close(() => resolve())
  })
  try {
    await closeDashboard()
  } finally {
    server.closeAllConnections()
    await ended
  }
}
