import { type Context, Hono } from 'hono'
import { inspectStore } from 'sluice'
import { Auditing } from './actions/auditing.ts'
import type { Dashboard, DashboardOptions } from './dashboard.ts'
import { checkDoor, withSafeHeaders } from './http/check-origin.ts'
import { KeyDisplay } from './views/find-keys.ts'
import { lookAtKey } from './views/key-view.ts'
import { KeyTrails } from './views/key-history.ts'
import { LiveViews } from './live/live-views.ts'
import { PageFiles } from './http/page-files.ts'
import { Question } from './http/query.ts'
import { QueueLooks } from './views/queue-view.ts'
import { Refused, refusedResponse } from './http/http-error.ts'
import { type Route, routesOf } from './http/routes.ts'
import { Sessions, type Visitor } from './access/visitors.ts'
import { checkSettings, type Settings } from './settings.ts'
import { StoreLooks } from './views/store-view.ts'
import type { About, Views } from './wire.ts'

/** A dashboard with its insides, for its tests. */
export interface Assembled {
  readonly dashboard: Dashboard
  readonly app: Hono
  readonly routes: readonly Route[]
  readonly live: LiveViews
}

/** Holds for a visitor who may do what a route does. */
function checkVisitor(
  route: Route,
  visitor: Visitor | undefined,
  request: Request,
  settings: Settings,
  sessions: Sessions,
): void {
  if (route.for === 'everybody') return
  if (visitor === undefined) {
    throw new Refused(
      401,
      'ERR_NOT_SIGNED_IN',
      'cannot show this to somebody who has not signed in',
    )
  }
  if (route.for === 'readers') return
  if (!settings.allowActions) {
    throw new Refused(403, 'ERR_READ_ONLY', 'cannot change anything: this dashboard is read-only')
  }
  sessions.checkCsrf(request, visitor)
}

/** Puts a dashboard together. */
export function assemble(options: DashboardOptions): Assembled {
  const settings = checkSettings(options)
  const { driver, clock, storeClock, tickMs, streamsMax, base } = settings
  const store = inspectStore(driver, storeClock === undefined ? {} : { clock: storeClock })
  const report = (error: unknown): void => {
    try {
      settings.onError?.(error)
    } catch {
      // Whoever is told of errors must not make more of them.
    }
  }
  const display = new KeyDisplay(settings, report)
  const trails = new KeyTrails()
  const looks = new StoreLooks(store)
  const lookOf = (about: About, queue: string, key: string): (() => Promise<Views[About]>) => {
    if (about === 'overview') return () => looks.overview()
    if (about === 'key') return () => lookAtKey({ store, display, trails }, queue, key, false)
    const queueLooks = new QueueLooks(looks, display, queue)
    return () => queueLooks.view()
  }
  const live = new LiveViews({ clock, tickMs, streamsMax, report, lookOf })
  const sessions = new Sessions(settings.auth, clock)
  const auditing = new Auditing(driver, clock, live)
  const files = new PageFiles()
  const routes = routesOf({ settings, store, sessions, display, trails, live, files, auditing })
  const nameMayBeEmpty = !driver.capabilities.durable && !driver.capabilities.shared

  const app = new Hono()
  for (const route of routes) {
    const prefix = route.path.replace('*', '')
    app.on(route.method, `${base}${route.path}`, async (context: Context) => {
      const request = context.req.raw
      const visitor = await sessions.visitor(request)
      checkVisitor(route, visitor, request, settings, sessions)
      return await route.answer({
        request,
        visitor,
        question: new Question(request.url, nameMayBeEmpty),
        rest: context.req.path.slice(base.length + prefix.length),
        cutOff: cutOffOf(context),
      })
    })
  }
  app.notFound((context) => refusedResponse(noRoute(context, routes, base)))
  app.onError((error) => {
    const response = refusedResponse(error)
    if (response.status === 500) report(error)
    return response
  })

  async function fetch(request: Request, environment?: object): Promise<Response> {
    try {
      checkDoor(request, settings.hosts)
      return withSafeHeaders(await app.fetch(request, environment))
    } catch (error) {
      return withSafeHeaders(refusedResponse(error))
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

/** How to end a connection of `@hono/node-server`. */
function cutOffOf(context: Context): (() => void) | undefined {
  const { outgoing } = (context.env ?? {}) as { outgoing?: { destroy?: () => void } }
  return typeof outgoing?.destroy === 'function' ? () => outgoing.destroy?.() : undefined
}

function noRoute(context: Context, routes: readonly Route[], base: string): Refused {
  const { path } = context.req
  const methods = routes
    .filter((route) => `${base}${route.path}` === path)
    .map(({ method }) => method)
  if (methods.length === 0) return new Refused(404, 'ERR_NOT_FOUND', 'there is nothing here')
  const allow = methods.join(', ')
  return new Refused(405, 'ERR_METHOD', `this can only be asked for with ${allow}`, { allow })
}

/**
 * Makes a dashboard for the store of a driver. Nothing is opened before the first request asks for
 * something.
 *
 * Throws for bad options only.
 */
export function createDashboard(options: DashboardOptions): Dashboard {
  return assemble(options).dashboard
}
