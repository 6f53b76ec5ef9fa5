import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { type Clock, TokenBucket } from 'sluice'
import type { DashboardAuth } from '../dashboard.ts'
import { Refused } from '../http/http-error.ts'

/** For how long somebody who has signed in stays so: half a day. */
const sessionMs = 12 * 60 * 60 * 1_000

/** How many sessions that were ended by hand are remembered as such. */
const endedMax = 10_000

/** Wrong tokens are answered with 401 up to this burst and rate a second; beyond it with 429. */
const wrongTokens = { burst: 10, perSecond: 1 / 6 }

/** Somebody who was let in. */
export interface Visitor {
  readonly who: string
  /** The same for all requests of one session. */
  readonly session: string
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
 * Knows who may come in.
 *
 * A session is nothing but what its cookie says, signed with the token, so that restarts and
 * processes that share a token need not share anything else.
 */
export class Sessions {
  readonly #auth: DashboardAuth | undefined
  readonly #clock: Clock
  readonly #key: Buffer
  readonly #cookie: string
  readonly #wrong: TokenBucket
  /** Sessions that were ended by hand, by when they would have ended. */
  readonly #ended: Map<string, number> = new Map()

  constructor(auth: DashboardAuth | undefined, clock: Clock) {
    this.#auth = auth
    this.#clock = clock
    const given = auth === undefined ? undefined : 'token' in auth ? auth.token : auth.secret
    const secret = given ?? randomBytes(32)
    this.#key = createHmac('sha256', secret).update('sluice dashboard 1').digest()
    // Cookies do not know of ports: two dashboards on one machine must not share the name.
    this.#cookie = `sluice_${createHash('sha256').update(macOf(this.#key, 'name')).digest('hex').slice(0, 8)}`
    this.#wrong = new TokenBucket({ ...wrongTokens, clock })
  }

  /** Whether somebody could sign in here. */
  get canSignIn(): boolean {
    return this.#auth !== undefined && 'token' in this.#auth
  }

  /** Who sends a request; `undefined` for somebody who is not let in. */
  async visitor(request: Request): Promise<Visitor | undefined> {
    const auth = this.#auth
    if (auth === undefined) return { who: 'anybody', session: '', expiresAt: Infinity }
    if ('token' in auth) return this.#bearerOfCookie(request)
    const who = await auth.trust(request)
    if (typeof who !== 'string' || who === '') return undefined
    return { who, session: `trusted ${who}`, expiresAt: Infinity }
  }

  #bearerOfCookie(request: Request): Visitor | undefined {
    for (const pair of (request.headers.get('cookie') ?? '').split(';')) {
      const [name = '', value = ''] = pair.trim().split('=', 2)
      if (name !== this.#cookie) continue
      const [end = '', nonce = '', mac = ''] = value.split('.')
      const expiresAt = Number(end)
      if (!isSame(mac, macOf(this.#key, `session ${end} ${nonce}`))) continue
      if (!(expiresAt > this.#clock.now()) || this.#ended.has(nonce)) continue
      return { who: 'whoever knows the token', session: nonce, expiresAt }
    }
    return undefined
  }

  /** What a visitor proves with that a request comes from our own page. */
  csrfOf({ session }: Visitor): string {
    return macOf(this.#key, `csrf ${session}`)
  }

  /** Holds for a request that carries it. */
  checkCsrf(request: Request, visitor: Visitor): void {
    const given = request.headers.get('x-sluice-csrf') ?? ''
    if (isSame(given, this.csrfOf(visitor))) return
    throw new Refused(
      403,
      'ERR_CSRF',
      'cannot tell that this comes from the dashboard itself: load the page anew',
    )
  }

  /** Takes a token; gives the cookie of a new session. */
  signIn(request: Request, token: string, path: string): string {
    const auth = this.#auth
    if (auth === undefined || !('token' in auth)) {
      throw new Refused(404, 'ERR_NOT_FOUND', 'there is nothing to sign in to here')
    }
    // Compared first: the wrong tokens of others must not keep the owner out.
    if (!isSame(token, auth.token)) {
      if (this.#wrong.allow()) {
        throw new Refused(401, 'ERR_WRONG_TOKEN', 'this is not the token of this dashboard')
      }
      throw new Refused(
        429,
        'ERR_TOO_MANY_ATTEMPTS',
        'cannot try another token yet: too many were wrong; wait a few seconds',
        { 'retry-after': String(Math.ceil(1 / wrongTokens.perSecond)) },
      )
    }
    const end = String(Math.floor(this.#clock.now() + sessionMs))
    const nonce = randomBytes(18).toString('base64url')
    const mac = macOf(this.#key, `session ${end} ${nonce}`)
    return this.#setCookie(request, `${end}.${nonce}.${mac}`, sessionMs / 1_000, path)
  }

  /** Ends a session; gives the cookie that takes the place of its own. */
  signOut(request: Request, visitor: Visitor | undefined, path: string): string {
    if (visitor !== undefined && this.canSignIn) {
      this.#ended.set(visitor.session, visitor.expiresAt)
      for (const [nonce, expiresAt] of this.#ended) {
        if (expiresAt > this.#clock.now() && this.#ended.size <= endedMax) break
        this.#ended.delete(nonce)
      }
    }
    return this.#setCookie(request, '', 0, path)
  }

  /** Whether a session that was good is so still. */
  isGood({ session, expiresAt }: Visitor): boolean {
    return expiresAt > this.#clock.now() && !this.#ended.has(session)
  }

  #setCookie(request: Request, value: string, maxAge: number, path: string): string {
    const isSecure =
      request.url.startsWith('https:') || request.headers.get('origin')?.startsWith('https:')
    const rest = `Path=${path}; HttpOnly; SameSite=Strict; Max-Age=${maxAge}`
    return `${this.#cookie}=${value}; ${rest}${isSecure === true ? '; Secure' : ''}`
  }
}
