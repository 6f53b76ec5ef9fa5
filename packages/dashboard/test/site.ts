import type { Driver } from '@sluice/core'
import { type FakeClock, fakeClock } from '@sluice/core/testing'
import { memoryDriver } from '@sluice/memory'
import { createRateLimitingQueue, type RateLimitingQueue } from 'sluice'
import { onTestFinished } from 'vitest'
import { type Assembled, assemble } from '../src/create-dashboard.ts'
import type { DashboardOptions } from '../src/dashboard.ts'
import type { SessionInfo } from '../src/wire.ts'

/** The token of dashboards in tests. */
export const token = 'a token for tests only'

/** How a request of a test differs from one of the page. */
export interface Ask {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly signal?: AbortSignal
}

/** An answer, read to its end. */
export interface Answer<Body> {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: Body
}

/** A dashboard and a client of it. */
export class Site {
  readonly driver: Driver
  readonly clock: FakeClock
  readonly assembled: Assembled
  readonly errors: unknown[] = []
  /** The headers that a browser sends after a sign-in. */
  headers: Record<string, string> = {}

  constructor(options: Partial<DashboardOptions> = {}, clock: FakeClock = fakeClock()) {
    this.driver = options.driver ?? memoryDriver()
    this.clock = clock
    this.assembled = assemble({
      driver: this.driver,
      clock,
      onError: (error) => this.errors.push(error),
      ...options,
    })
  }

  /** Sends a request as it is; the body of a stream is left unread. */
  async send(path: string, ask: Ask = {}): Promise<Response> {
    const { method = 'GET', headers = {}, body, signal } = ask
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: {
        ...this.headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined
        ? {}
        : {
            body: typeof body === 'string' || body instanceof Blob ? body : JSON.stringify(body),
          }),
      ...(signal === undefined ? {} : { signal }),
    })
    return await this.assembled.dashboard.fetch(request)
  }

  /** Sends a request and reads the answer. */
  async ask<Body = Record<string, unknown>>(path: string, ask: Ask = {}): Promise<Answer<Body>> {
    const response = await this.send(path, ask)
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
    const body = (isJson && text !== '' ? JSON.parse(text) : undefined) as Body
    return { status: response.status, headers: response.headers, text, body }
  }

  /** Signs in, as the page does. */
  async signIn(): Promise<void> {
    const { status, headers } = await this.ask('/api/sign-in', { method: 'POST', body: { token } })
    if (status !== 200) throw new Error(`signing in was answered with ${status}`)
    const cookie = headers.get('set-cookie')?.split(';')[0] ?? ''
    this.headers = { cookie }
    const { body } = await this.ask<SessionInfo>('/api/session')
    this.headers = { cookie, ...(body.csrf === undefined ? {} : { 'x-sluice-csrf': body.csrf }) }
  }

  /** Asks for an action. */
  async act(action: object): Promise<Answer<Record<string, unknown>>> {
    return await this.ask('/api/act', { method: 'POST', body: action })
  }

  async close(): Promise<void> {
    await this.assembled.dashboard.close()
  }
}

/** Closes something when the test has finished. */
export function kept<One extends { close(): Promise<void> }>(one: One): One {
  onTestFinished(() => one.close())
  return one
}

/** A queue on the store of a site, and on its clock. */
export function queueOf<T = string>(site: Site, name: string): RateLimitingQueue<T> {
  const { driver, clock } = site
  const queue = createRateLimitingQueue<unknown>({ name, driver, clock })
  return kept(queue) as RateLimitingQueue<T>
}

/** A dashboard on which a user with actions has signed in. */
export async function actingSite(options: Partial<DashboardOptions> = {}): Promise<Site> {
  const site = new Site({ auth: { token }, allowActions: true, ...options })
  await site.signIn()
  return site
}

/** `path` with a query, every part of it escaped. */
export function withQuery(path: string, query: Readonly<Record<string, string | number>>): string {
  const pairs = Object.entries(query).map(([name, value]) => [name, String(value)])
  return `${path}?${new URLSearchParams(pairs as [string, string][])}`
}
