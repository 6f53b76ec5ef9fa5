import type { StoreInspection } from 'sluice'
import { act } from '../actions/act.ts'
import { actionRequest } from '../actions/action-request.ts'
import type { Auditing } from '../actions/auditing.ts'
import { jsonBody } from './json-body.ts'
import { countMatching, findKeys, type KeyDisplay, shownLines } from '../views/find-keys.ts'
import { lookAtKey } from '../views/key-view.ts'
import type { KeyTrails } from '../views/key-history.ts'
import type { LiveViews } from '../live/live-views.ts'
import type { PageFiles } from './page-files.ts'
import type { Question } from './query.ts'
import { badInput, Refused } from './http-error.ts'
import { sessionInfo } from '../access/session-info.ts'
import type { Sessions, Visitor } from '../access/visitors.ts'
import type { Settings } from '../settings.ts'

/** What the routes work with. */
export interface RouteParts {
  readonly settings: Settings
  readonly store: StoreInspection
  readonly sessions: Sessions
  readonly display: KeyDisplay
  readonly trails: KeyTrails
  readonly live: LiveViews
  readonly files: PageFiles
  readonly auditing: Auditing
}

/** One request, once it is known who sends it. */
export interface Visit {
  readonly request: Request
  readonly visitor: Visitor | undefined
  readonly question: Question
  /** The part of the path that a route leaves open. */
  readonly rest: string
  /** Ends the connection at once, if the server has a way to. */
  readonly cutOff: (() => void) | undefined
}

/** One way to ask for something. */
export interface Route {
  readonly method: 'GET' | 'POST'
  /** Below the base path. */
  readonly path: string
  /** Who may: everybody, whoever may look, or whoever may change something. */
  readonly for: 'everybody' | 'readers' | 'actors'
  answer(visit: Visit): Response | Promise<Response>
}

function json(body: object, headers: Record<string, string> = {}): Response {
  return Response.json(body, { headers: { 'cache-control': 'no-store', ...headers } })
}

/** Everything that can be asked for. */
export function routesOf(parts: RouteParts): readonly Route[] {
  return [...pageRoutes(parts), ...sessionRoutes(parts), ...lookRoutes(parts), ...liveRoutes(parts)]
}

function pageRoutes({ settings, files }: RouteParts): Route[] {
  const redirect: Route = {
    method: 'GET',
    path: '',
    for: 'everybody',
    answer: () => new Response(null, { status: 308, headers: { location: `${settings.base}/` } }),
  }
  return [
    // The links of the page are relative, so its address must end in a slash.
    ...(settings.base === '' ? [] : [redirect]),
    {
      method: 'GET',
      path: '/',
      for: 'everybody',
      answer: ({ request }) => files.index(request),
    },
    {
      method: 'GET',
      path: '/assets/*',
      for: 'everybody',
      answer: ({ request, rest }) => {
        const file = files.asset(request, rest)
        if (file !== undefined) return file
        throw new Refused(404, 'ERR_NOT_FOUND', 'the page has no such file; load it anew')
      },
    },
    {
      method: 'GET',
      path: '/healthz',
      for: 'everybody',
      answer: () => json({ status: 'ok' }),
    },
  ]
}

function sessionRoutes({ settings, store, sessions, live }: RouteParts): Route[] {
  const path = settings.base === '' ? '/' : settings.base
  return [
    {
      method: 'GET',
      path: '/api/session',
      for: 'everybody',
      answer: ({ visitor }) => json(sessionInfo(settings, store, sessions, visitor)),
    },
    {
      method: 'POST',
      path: '/api/sign-in',
      for: 'everybody',
      async answer({ request }) {
        const { token } = await jsonBody(request)
        if (typeof token !== 'string') throw badInput('token must be a string')
        return json({}, { 'set-cookie': sessions.signIn(request, token, path) })
      },
    },
    {
      method: 'POST',
      path: '/api/sign-out',
      for: 'everybody',
      async answer({ request, visitor }) {
        await jsonBody(request)
        if (visitor !== undefined) sessions.checkCsrf(request, visitor)
        const cookie = sessions.signOut(request, visitor, path)
        live.sessionsChanged()
        return json({}, { 'set-cookie': cookie })
      },
    },
  ]
}

function lookRoutes({ store, display, trails, live }: RouteParts): Route[] {
  return [
    {
      method: 'GET',
      path: '/api/overview',
      for: 'readers',
      answer: async () => json(await live.view('overview', '', '')),
    },
    {
      method: 'GET',
      path: '/api/queue',
      for: 'readers',
      answer: async ({ question }) => json(await live.view('queue', question.queue, '')),
    },
    {
      method: 'GET',
      path: '/api/keys',
      for: 'readers',
      async answer({ question }) {
        const { queue, keys, cursor, limit } = question
        const found = await findKeys(store.queue(queue), keys, cursor, limit)
        const at = await store.now()
        return json(shownLines(display, queue, at, found, question.asksFor('items')))
      },
    },
    {
      method: 'GET',
      path: '/api/key',
      for: 'readers',
      async answer({ question }) {
        const { queue, key } = question
        const withItem = question.asksFor('item')
        return json(await lookAtKey({ store, display, trails }, queue, key, withItem))
      },
    },
    {
      method: 'GET',
      path: '/api/matching',
      for: 'readers',
      async answer({ question }) {
        return json(await countMatching(store.queue(question.queue), question.keys))
      },
    },
  ]
}

function liveRoutes({ store, sessions, live, auditing }: RouteParts): Route[] {
  const { durable, shared } = store.capabilities
  return [
    {
      method: 'GET',
      path: '/api/stream',
      for: 'readers',
      answer({ request, visitor, question, cutOff }) {
        // An answer without a body would leave the stream open for nobody.
        if (request.method !== 'GET')
          throw new Refused(405, 'ERR_METHOD', 'a stream is only for GET')
        const { about } = question
        const queue = about === 'overview' ? '' : question.queue
        const key = about === 'key' ? question.key : ''
        const lastId = Number(request.headers.get('last-event-id') ?? Number.NaN)
        const isGood = (): boolean => visitor === undefined || sessions.isGood(visitor)
        const stream = live.open(
          about,
          queue,
          key,
          Number.isSafeInteger(lastId) ? lastId : undefined,
          {
            signal: request.signal,
            cutOff,
            isGood,
          },
        )
        return new Response(stream.body, {
          headers: {
            'content-type': 'text/event-stream',
            'cache-control': 'no-store, no-transform',
            // Proxies of the kind of nginx would keep events until there are many.
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
        const who = visitor?.who ?? 'nobody'
        return json(await auditing.audited(who, action, () => act(store, action)))
      },
    },
  ]
}
