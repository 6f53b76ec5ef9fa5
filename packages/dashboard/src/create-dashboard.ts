import { safeListener } from '@sluice/core'
import { type Context, Hono } from 'hono'
import { inspectStore } from 'sluice'
import { type Visitor, Visitors } from './access/visitors.ts'
import { Audits } from './actions/audits.ts'
import type { Dashboard, DashboardOptions } from './dashboard.ts'
import { checkOrigin, withSafeHeaders } from './http/check-origin.ts'
import { errorResponse, HttpError } from './http/http-error.ts'
import { PageFiles } from './http/page-files.ts'
import { Query } from './http/query.ts'
import { LiveViews } from './live/live-views.ts'
import { type Route, routesOf } from './routes.ts'
import { checkSettings, type Settings } from './settings.ts'
import { FailuresReader } from './views/failures-reader.ts'
import { KeyDisplay } from './views/key-display.ts'
import { KeyHistories } from './views/key-history.ts'
import { readKeyView } from './views/key-view.ts'
import { QueueViewReader } from './views/queue-view.ts'
import { StoreView } from './views/store-view.ts'
import type { About, HistoryRange, Views } from './wire.ts'

/** A dashboard and its parts, which its tests look into. */
export interface Assembled {
  readonly dashboard: Dashboard
  readonly app: Hono
  readonly routes: readonly Route[]
  readonly live: LiveViews
}

/** Throws unless the visitor may use the route. */
function checkVisitor(
  route: Route,
  visitor: Visitor | undefined,
  request: Request,
  settings: Settings,
  visitors: Visitors,
): void {
  if (route.for === 'all') return
  if (visitor === undefined) {
    throw new HttpError(401, 'ERR_NOT_SIGNED_IN', 'cannot show this before you have signed in')
  }
  if (route.for === 'readers') return
  if (!settings.allowActions) {
    throw new HttpError(403, 'ERR_READ_ONLY', 'cannot change anything: this dashboard is read-only')
  }
  visitors.checkCsrf(request, visitor)
}

/** Builds a dashboard and its parts from checked options. */
export function assemble(options: DashboardOptions): Assembled {
  const settings = checkSettings(options)
  const { driver, clock, storeClock, tickMs, streamsMax, base } = settings
  const store = inspectStore(driver, { clock: storeClock })
  const report = safeListener('the onError of the dashboard', settings.onError)
  const display = new KeyDisplay(settings, report)
  const histories = new KeyHistories()
  const storeView = new StoreView(store)
  const readerOf = (
    about: About,
    queue: string | undefined,
    detail: string,
  ): (() => Promise<Views[About]>) => {
    const range = detail as HistoryRange
    if (about === 'overview') return () => storeView.overview(range)
    if (about === 'failures') {
      const failures = new FailuresReader(storeView, display, queue, range)
      return () => failures.view()
    }
    const name = queue ?? ''
    if (about === 'key') {
      return () => readKeyView({ store, display, histories }, name, detail, false)
    }
    const reader = new QueueViewReader(storeView, display, name, range)
    return () => reader.view()
  }
  const live = new LiveViews({ clock, tickMs, streamsMax, report, readerOf })
  const visitors = new Visitors(settings.auth, clock)
  const audits = new Audits(driver, clock, live)
  const files = new PageFiles()
  const routes = routesOf({ settings, store, visitors, display, histories, live, files, audits })
  const nameMayBeEmpty = !driver.capabilities.durable && !driver.capabilities.shared

  const app = new Hono()
  for (const route of routes) {
    const prefix = route.path.replace('*', '')
    app.on(route.method, `${base}${route.path}`, async (context: Context) => {
      const request = context.req.raw
      const isOfApi = route.path.startsWith('/api/')
      const visitor = isOfApi ? await visitors.of(request) : undefined
      checkVisitor(route, visitor, request, settings, visitors)
      return await route.answer({
        request,
        visitor,
        query: new Query(request.url, nameMayBeEmpty),
        rest: context.req.path.slice(base.length + prefix.length),
        cutOff: cutOffOf(context),
      })
    })
  }
  app.notFound((context) => errorResponse(noRoute(context, routes, base)))
  app.onError((error) => {
    const response = errorResponse(error)
    if (response.status === 500) report(error)
    return response
  })

  async function fetch(request: Request, environment?: object): Promise<Response> {
    try {
      checkOrigin(request, settings.hosts)
      return withSafeHeaders(await app.fetch(request, environment))
    } catch (error) {
      return withSafeHeaders(errorResponse(error))
    }
  }

  let closed: Promise<void> | undefined
  async function close(): Promise<void> {
    live.close()
    closed ??= store.close()
    await closed
  }

  return { dashboard: { fetch, close, [Symbol.asyncDispose]: close }, app, routes, live }
}

/** Destroys the connection of a request, where `@hono/node-server` handed the response over. */
function cutOffOf(context: Context): (() => void) | undefined {
  const { outgoing } = (context.env ?? {}) as { outgoing?: { destroy?: () => void } }
  return typeof outgoing?.destroy === 'function' ? () => outgoing.destroy?.() : undefined
}

function noRoute(context: Context, routes: readonly Route[], base: string): HttpError {
  const { path } = context.req
  const methods = routes
    .filter((route) => {
      const whole = `${base}${route.path}`
      return whole.endsWith('*') ? path.startsWith(whole.slice(0, -1)) : path === whole
    })
    .map(({ method }) => method)
  if (methods.length === 0)
    return new HttpError(404, 'ERR_NOT_FOUND', 'there is no such page or route')
  // Each GET answers HEAD too, but that of the stream.
  const hasHead = methods.includes('GET') && path !== `${base}/api/stream`
  const allow = [...methods, ...(hasHead ? ['HEAD'] : [])].join(', ')
  return new HttpError(405, 'ERR_METHOD', `this route only answers ${allow}`, { allow })
}

/**
 * Creates a dashboard for the store of a driver. The driver is opened by the first request that
 * needs the store.
 *
 * Throws only for bad options.
 */
export function createDashboard(options: DashboardOptions): Dashboard {
  return assemble(options).dashboard
}
