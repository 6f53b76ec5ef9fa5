import type { StoreInspection } from 'sluice'
import { sessionInfo } from './access/session-info.ts'
import type { Visitor, Visitors } from './access/visitors.ts'
import { act } from './actions/act.ts'
import { actionRequest } from './actions/action-request.ts'
import type { Audits } from './actions/audits.ts'
import { badInput, HttpError } from './http/http-error.ts'
import { jsonBody } from './http/json-body.ts'
import type { PageFiles } from './http/page-files.ts'
import type { Query } from './http/query.ts'
import type { LiveViews } from './live/live-views.ts'
import type { Settings } from './settings.ts'
import { CountsOnDemand } from './views/counts-on-demand.ts'
import { countMatching, findKeys, shownLines } from './views/find-keys.ts'
import type { KeyDisplay } from './views/key-display.ts'
import type { KeyHistories } from './views/key-history.ts'
import { readKeyView } from './views/key-view.ts'
import type { About, ActionRequest } from './wire.ts'

/** The parts that the routes use. */
export interface RouteParts {
  readonly settings: Settings
  readonly store: StoreInspection
  readonly visitors: Visitors
  readonly display: KeyDisplay
  readonly histories: KeyHistories
  readonly live: LiveViews
  readonly files: PageFiles
  readonly audits: Audits
}

/** One request and its visitor. */
interface Visit {
  readonly request: Request
  /** Always there on routes that are not for all. */
  readonly visitor: Visitor | undefined
  readonly query: Query
  /** The part of the path that the wildcard of a route matches. */
  readonly rest: string
  /** Closes the connection at once, if the server supports that. */
  readonly cutOff: (() => void) | undefined
}

/** One route. */
export interface Route {
  readonly method: 'GET' | 'POST'
  /** Below the base path. */
  readonly path: string
  /** Which visitors may use it: all, authenticated ones, or those that may also act. */
  readonly for: 'all' | 'readers' | 'actors'
  answer(visit: Visit): Response | Promise<Response>
}

function json(body: object, headers: Record<string, string> = {}): Response {
  return Response.json(body, { headers })
}

/** All routes. */
export function routesOf(parts: RouteParts): readonly Route[] {
  return [...pageRoutes(parts), ...sessionRoutes(parts), ...viewRoutes(parts), ...liveRoutes(parts)]
}

function pageRoutes({ settings, files }: RouteParts): Route[] {
  const redirect: Route = {
    method: 'GET',
    path: '',
    for: 'all',
    answer: () => new Response(null, { status: 308, headers: { location: `${settings.base}/` } }),
  }
  return [
    // The links of the page are relative, so its address must end in a slash.
    ...(settings.base === '' ? [] : [redirect]),
    {
      method: 'GET',
      path: '/',
      for: 'all',
      answer: ({ request }) => files.index(request),
    },
    {
      method: 'GET',
      path: '/assets/*',
      for: 'all',
      answer: ({ request, rest }) => {
        const file = files.asset(request, rest)
        if (file !== undefined) return file
        throw new HttpError(404, 'ERR_NOT_FOUND', 'the page has no such file; reload it')
      },
    },
    {
      method: 'GET',
      path: '/healthz',
      for: 'all',
      answer: () => json({ status: 'ok' }),
    },
  ]
}

function sessionRoutes({ settings, store, visitors, live }: RouteParts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/session',
      for: 'all',
      answer: ({ visitor }) => json(sessionInfo(settings, store, visitors, visitor, live)),
    },
    {
      method: 'POST',
      path: '/api/sign-in',
      for: 'all',
      async answer({ request }) {
        const { token } = await jsonBody(request)
        if (typeof token !== 'string') throw badInput('token must be a string')
        return json({}, { 'set-cookie': visitors.signIn(request, token) })
      },
    },
    {
      method: 'POST',
      path: '/api/sign-out',
      for: 'all',
      async answer({ request, visitor }) {
        await jsonBody(request)
        if (visitor !== undefined) visitors.checkCsrf(request, visitor)
        const cookie = visitors.signOut(request, visitor)
        live.sessionsChanged()
        return json({}, { 'set-cookie': cookie })
      },
    },
  ]
}

function viewRoutes({ settings, store, display, histories, live }: RouteParts): Route[] {
  const exactCounts = new CountsOnDemand(store, settings.clock)
  return [
    {
      method: 'GET',
      path: '/api/overview',
      for: 'readers',
      answer: async ({ query }) => json(await live.view('overview', undefined, query.range)),
    },
    {
      method: 'GET',
      path: '/api/failures',
      for: 'readers',
      answer: async ({ query }) => json(await live.view('failures', query.queueIfAny, query.range)),
    },
    {
      method: 'GET',
      path: '/api/queue',
      for: 'readers',
      answer: async ({ query }) => json(await live.view('queue', query.queue, query.range)),
    },
    {
      method: 'GET',
      path: '/api/keys',
      for: 'readers',
      async answer({ query }) {
        const { queue, keys, cursor, limit } = query
        const found = await findKeys({ store, display, queue }, keys, cursor, limit)
        const at = await store.now()
        return json(shownLines(display, queue, at, found, query.includes('items')))
      },
    },
    {
      method: 'GET',
      path: '/api/key',
      for: 'readers',
      async answer({ query }) {
        const { queue, key } = query
        const withItem = query.includes('item')
        return json(await readKeyView({ store, display, histories }, queue, key, withItem))
      },
    },
    {
      method: 'GET',
      path: '/api/counts',
      for: 'readers',
      answer: async ({ query }) => json(await exactCounts.of(query.queue)),
    },
    {
      method: 'GET',
      path: '/api/matching',
      for: 'readers',
      async answer({ query }) {
        const { queue, keys, cursor } = query
        return json(await countMatching({ store, display, queue }, keys, cursor))
      },
    },
  ]
}

/** Throws if keys are selected by a code that `redactError` changes, whether there are any or not. */
function refuseHiddenCode(display: KeyDisplay, { queue, all }: ActionRequest): void {
  const code = all?.errorCode
  if (code === undefined) return
  if (display.code({ name: 'Error', code, message: '' }, { queue, key: '' }) === code) return
  throw badInput('keys cannot be selected by this errorCode: redactError changes it')
}

/** The queue that a stream is about; none if it is about every queue. */
function queueOf(about: About, query: Query): string | undefined {
  if (about === 'overview') return undefined
  return about === 'failures' ? query.queueIfAny : query.queue
}

function liveRoutes({ store, visitors, display, live, audits }: RouteParts): Route[] {
  const { durable, shared } = store.capabilities
  return [
    {
      method: 'GET',
      path: '/api/stream',
      for: 'readers',
      answer({ request, visitor, query, cutOff }) {
        // The answer to HEAD has no body, so that nothing would ever close the stream.
        if (request.method !== 'GET')
          throw new HttpError(405, 'ERR_METHOD', 'a stream is only for GET', { allow: 'GET' })
        const { about } = query
        const queue = queueOf(about, query)
        const detail = about === 'key' ? query.key : query.range
        // 0 without the header, which is the id of no event.
        const lastId = Number(request.headers.get('last-event-id'))
        const stream = live.open(about, queue, detail, lastId, {
          signal: request.signal,
          cutOff,
          mayRead: visitors.reading(request, visitor as Visitor),
        })
        return new Response(stream.body, {
          headers: {
            'content-type': 'text/event-stream',
            'cache-control': 'no-store, no-transform',
            // nginx and similar proxies would otherwise buffer events.
            'x-accel-buffering': 'no',
          },
        })
      },
    },
    {
      method: 'POST',
      path: '/api/act',
      for: 'actors',
      async answer({ request, visitor }) {
        const action = actionRequest(await jsonBody(request), !durable && !shared)
        refuseHiddenCode(display, action)
        const { who } = visitor as Visitor
        return json(await audits.audited(who, action, () => act(store, action)))
      },
    },
  ]
}
