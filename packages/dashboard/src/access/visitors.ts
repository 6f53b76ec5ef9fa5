// This folder authenticates visitors and says what each may do.

import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Clock, TokenBucket } from 'sluice'
import type { DashboardAuth } from '../dashboard.ts'
import { HttpError } from '../http/http-error.ts'

/** How long a sign-in lasts: 12 hours. */
const sessionMs = 12 * 60 * 60 * 1_000

/** How many sessions that were signed out are remembered. */
const endedMax = 10_000

/** Wrong tokens are answered with 401 up to this burst and rate a second; beyond it with 429. */
const wrongTokens = { burst: 10, perSecond: 1 / 6 }

/** How often `trust` is asked again about the reader of a stream, in milliseconds. */
const trustEveryMs = 30_000

/** An authenticated sender of a request. */
export interface Visitor {
  /** The name that audit events carry. */
  readonly who: string
  /** The same for all requests after one sign-in. */
  readonly id: string
  readonly expiresAt: number
}

function macOf(key: Buffer, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url')
}

function isSame(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(a), digest(b))
}

/**
 * Authenticates visitors.
 *
 * A session is stored only in its cookie, signed with the token: it survives a restart, and
 * processes that share a token share nothing else.
 */
export class Visitors {
  readonly #auth: DashboardAuth | undefined
  readonly #clock: Clock
  readonly #key: Buffer
  readonly #cookie: string
  readonly #wrong: TokenBucket
  /** Sessions that were signed out, with the time at which their cookies expire. */
  readonly #signedOut: Map<string, number> = new Map()

  constructor(auth: DashboardAuth | undefined, clock: Clock) {
    this.#auth = auth
    this.#clock = clock
    const given = auth === undefined ? undefined : 'token' in auth ? auth.token : auth.secret
    const secret = given ?? randomBytes(32)
    this.#key = createHmac('sha256', secret).update('sluice dashboard 1').digest()
    // A cookie is valid for all ports of a host: two dashboards on one host must not share its name.
    this.#cookie = `sluice_${createHash('sha256').update(macOf(this.#key, 'name')).digest('hex').slice(0, 8)}`
    this.#wrong = new TokenBucket({ ...wrongTokens, clock })
  }

  /** Whether visitors can sign in here. */
  get canSignIn(): boolean {
    return this.#auth !== undefined && 'token' in this.#auth
  }

  /** The visitor who sent a request; `undefined` if the request is not authenticated. */
  async of(request: Request): Promise<Visitor | undefined> {
    const auth = this.#auth
    if (auth === undefined) return { who: 'anonymous', id: '', expiresAt: Infinity }
    if ('token' in auth) return this.#bearerOfCookie(request)
    const who = await auth.trust(request)
    if (typeof who !== 'string' || who === '') return undefined
    return { who, id: `trusted ${who}`, expiresAt: Infinity }
  }

  #bearerOfCookie(request: Request): Visitor | undefined {
    for (const pair of (request.headers.get('cookie') ?? '').split(';')) {
      const [name = '', value = ''] = pair.trim().split('=', 2)
      if (name !== this.#cookie) continue
      const [end = '', nonce = '', mac = ''] = value.split('.')
      const expiresAt = Number(end)
      if (!isSame(mac, macOf(this.#key, `session ${end} ${nonce}`))) continue
      if (!(expiresAt > this.#clock.now()) || this.#signedOut.has(nonce)) continue
      return { who: 'token', id: nonce, expiresAt }
    }
    return undefined
  }

  /** The CSRF token of a visitor, which proves that a request comes from the dashboard's page. */
  csrfOf({ id }: Visitor): string {
    return macOf(this.#key, `csrf ${id}`)
  }

  /** Throws unless the request carries the CSRF token. */
  checkCsrf(request: Request, visitor: Visitor): void {
    const given = request.headers.get('x-sluice-csrf') ?? ''
    if (isSame(given, this.csrfOf(visitor))) return
    throw new HttpError(403, 'ERR_CSRF', 'the CSRF token is missing or wrong: reload the page')
  }

  /** Checks a token and returns the cookie of a new session. */
  signIn(request: Request, token: string): string {
    const auth = this.#auth
    if (auth === undefined || !('token' in auth)) {
      throw new HttpError(404, 'ERR_NOT_FOUND', 'this dashboard has no sign-in')
    }
    // Compared before the rate limit, so that the wrong tokens of others do not lock the owner out.
    if (!isSame(token, auth.token)) {
      if (this.#wrong.allow()) {
        throw new HttpError(401, 'ERR_WRONG_TOKEN', 'wrong token')
      }
      throw new HttpError(
        429,
        'ERR_TOO_MANY_ATTEMPTS',
        'too many wrong tokens: wait a few seconds, then try again',
        { 'retry-after': String(Math.ceil(1 / wrongTokens.perSecond)) },
      )
    }
    const end = String(Math.floor(this.#clock.now() + sessionMs))
    const nonce = randomBytes(18).toString('base64url')
    const mac = macOf(this.#key, `session ${end} ${nonce}`)
    return this.#setCookie(request, `${end}.${nonce}.${mac}`, sessionMs / 1_000)
  }

  /** Ends a session and returns the cookie that deletes its own. */
  signOut(request: Request, visitor: Visitor | undefined): string {
    if (visitor !== undefined && this.canSignIn) {
      this.#signedOut.set(visitor.id, visitor.expiresAt)
      for (const [nonce, expiresAt] of this.#signedOut) {
        if (expiresAt > this.#clock.now() && this.#signedOut.size <= endedMax) break
        this.#signedOut.delete(nonce)
      }
    }
    return this.#setCookie(request, '', 0)
  }

  /** Whether the session of a visitor has neither expired nor been signed out. */
  isSignedIn({ id, expiresAt }: Visitor): boolean {
    return expiresAt > this.#clock.now() && !this.#signedOut.has(id)
  }

  /**
   * A function that returns whether a visitor may still read the stream that a request has opened.
   * `trust` answers later, so its answer counts from the next call on. One that has not answered when it is
   * to be asked again is not asked again, and counts as a rejection.
   */
  reading(request: Request, visitor: Visitor): () => boolean {
    if (this.#auth === undefined || 'token' in this.#auth) return () => this.isSignedIn(visitor)
    let mayRead = true
    let isAnswered = true
    let askedAt = this.#clock.monotonicMs()
    const answered = (again?: Visitor): void => {
      isAnswered = true
      mayRead = again?.id === visitor.id
    }
    return () => {
      const now = this.#clock.monotonicMs()
      if (now - askedAt < trustEveryMs) return mayRead
      if (!isAnswered) return false
      askedAt = now
      isAnswered = false
      // The page connects again, and that request reports an error of `trust`.
      this.of(request).then(answered, () => answered())
      return mayRead
    }
  }

  /**
   * Without `Path`, a cookie is for the folder of the request as the browser knows it, `api`: a proxy
   * may serve the dashboard under a path that is not its base path.
   */
  #setCookie(request: Request, value: string, maxAge: number): string {
    const isSecure =
      request.url.startsWith('https:') || request.headers.get('origin')?.startsWith('https:')
    const rest = `HttpOnly; SameSite=Strict; Max-Age=${maxAge}`
    return `${this.#cookie}=${value}; ${rest}${isSecure === true ? '; Secure' : ''}`
  }
}
