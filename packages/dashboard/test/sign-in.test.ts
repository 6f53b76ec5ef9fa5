import { fakeClock } from '@sluice/core/testing'
import { describe, expect, test } from 'vitest'
import { type Visitor, Visitors } from '../src/access/visitors.ts'
import { kept, Site, token } from './site.ts'

function siteOf(options: ConstructorParameters<typeof Site>[0] = {}, clock?: Site['clock']): Site {
  return kept(new Site({ auth: { token }, ...options }, clock))
}

async function signInStatus(site: Site, given: unknown): Promise<number> {
  return (await site.ask('/api/sign-in', { method: 'POST', body: { token: given } })).status
}

async function isIn(site: Site): Promise<boolean> {
  return (await site.ask('/api/overview')).status === 200
}

describe('signing in', () => {
  test('gives a cookie that scripts and other sites never get', async () => {
    const site = siteOf({ basePath: '/queues/' })
    const ask = { method: 'POST', body: { token } }
    const { status, headers, text } = await site.ask('/queues/api/sign-in', ask)
    expect([status, text]).toEqual([200, '{}'])
    expect(headers.get('set-cookie')).toMatch(
      /^sluice_[0-9a-f]{8}=[\w.-]+; HttpOnly; SameSite=Strict; Max-Age=43200$/,
    )
    const secure = { ...ask, headers: { host: 'localhost', origin: 'https://localhost' } }
    const over = await site.ask('/queues/api/sign-in', secure)
    expect(over.headers.get('set-cookie')).toMatch(/; Secure$/)
    const { dashboard } = site.assembled
    const direct = await dashboard.fetch(
      new Request('https://localhost/queues/api/sign-in', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token }),
      }),
    )
    expect(direct.headers.get('set-cookie')).toMatch(/; Secure$/)
  })

  test('allows reading, and acting if actions are enabled', async () => {
    const site = siteOf({ allowActions: true })
    expect((await site.ask('/api/session')).body).toMatchObject({
      ...{
        mustSignIn: true,
        canSignIn: true,
        signedIn: false,
        mayAct: false,
        store: '',
        driver: '',
      },
    })
    expect(await isIn(site)).toBe(false)
    await site.signIn()
    expect(await isIn(site)).toBe(true)
    const { body } = await site.ask('/api/session')
    expect(body).toMatchObject({
      ...{ mustSignIn: false, canSignIn: false, signedIn: true, mayAct: true },
      ...{ store: 'memory', driver: 'memory', csrf: expect.any(String) },
    })
    expect(body).not.toHaveProperty('readOnlyBecause')
  })

  test('lasts also if the time of a clock has fractions of a millisecond', async () => {
    const site = siteOf({}, fakeClock(Date.UTC(2026, 0) + 0.5))
    await site.signIn()
    expect(await isIn(site)).toBe(true)
  })

  test('is not offered where there is no token', async () => {
    const site = siteOf({ auth: undefined })
    expect(await signInStatus(site, token)).toBe(404)
  })

  test('takes no token but the right one', async () => {
    const site = siteOf()
    for (const wrong of ['', `${token} `, token.toUpperCase(), token.slice(1)]) {
      expect(await signInStatus(site, wrong), wrong).toBe(401)
    }
    for (const wrong of [null, 1, [token], { token }]) {
      expect(await signInStatus(site, wrong)).toBe(400)
    }
  })

  test('is refused to wrong tokens after many of them, for a while', async () => {
    const site = siteOf()
    for (let tries = 0; tries < 10; tries += 1) expect(await signInStatus(site, 'no')).toBe(401)
    const body = { token: 'no' }
    const answer = await site.ask('/api/sign-in', { method: 'POST', body })
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '6'])
    await site.clock.step(6_000)
    expect(await signInStatus(site, 'no')).toBe(401)
    expect(await signInStatus(site, 'no')).toBe(429)
  })

  test('is not kept from the owner by the wrong tokens of others, and costs nothing', async () => {
    const site = siteOf()
    for (let tries = 0; tries < 12; tries += 1) await signInStatus(site, 'no')
    for (let second = 0; second < 40; second += 1) {
      await site.clock.step(1_000)
      await signInStatus(site, 'no')
      expect(await signInStatus(site, token)).toBe(200)
    }
    await site.clock.step(6_000)
    expect(await signInStatus(site, 'no'), 'the right ones took none of what is allowed').toBe(401)
  })

  test('lasts for half a day', async () => {
    const site = siteOf()
    await site.signIn()
    await site.clock.step(12 * 60 * 60 * 1_000 - 1)
    expect(await isIn(site)).toBe(true)
    await site.clock.step(1)
    expect(await isIn(site)).toBe(false)
  })

  test('holds in every process with the same token, and in no other', async () => {
    const site = siteOf()
    await site.signIn()
    const twin = siteOf({}, site.clock)
    twin.headers = site.headers
    expect(await isIn(twin)).toBe(true)
    const stranger = siteOf({ auth: { token: 'another token for tests' } }, site.clock)
    stranger.headers = site.headers
    expect(await isIn(stranger)).toBe(false)
  })
})

describe('signing out', () => {
  test('ends the session, also for other holders of its cookie', async () => {
    const site = siteOf()
    await site.signIn()
    const first = site.headers
    await site.signIn()
    const { status, headers } = await site.ask('/api/sign-out', { method: 'POST', body: {} })
    expect([status, headers.get('set-cookie')]).toEqual([
      200,
      expect.stringMatching(/^sluice_[0-9a-f]{8}=; HttpOnly; .*Max-Age=0$/),
    ])
    expect(await isIn(site)).toBe(false)
    // A second click, or one after the session has expired.
    expect((await site.ask('/api/sign-out', { method: 'POST', body: {} })).status).toBe(200)
    site.headers = first
    expect(await isIn(site)).toBe(true)
  })

  test('is remembered for as long as the cookie would be valid', async () => {
    const site = siteOf()
    await site.signIn()
    const { cookie = '' } = site.headers
    await site.ask('/api/sign-out', { method: 'POST', body: {} })
    await site.clock.step(12 * 60 * 60 * 1_000 - 1)
    await site.signIn()
    await site.ask('/api/sign-out', { method: 'POST', body: {} })
    site.headers = { cookie }
    expect(await isIn(site)).toBe(false)
  })

  test('is remembered until the session would have expired, and of at most 10,000 sessions', async () => {
    const clock = fakeClock()
    const visitors = new Visitors({ token }, clock)
    const request = new Request('http://localhost/api/sign-in')
    const signedIn = async (): Promise<Visitor> => {
      const cookie = visitors.signIn(request, token).split(';')[0] ?? ''
      const visitor = await visitors.of(new Request(request, { headers: { cookie } }))
      if (visitor === undefined) throw new Error('the cookie is not valid')
      return visitor
    }
    const isRemembered = (visitor: Visitor): boolean =>
      !visitors.isSignedIn({ ...visitor, expiresAt: Infinity })
    const signOut = async (): Promise<Visitor> => {
      const visitor = await signedIn()
      visitors.signOut(request, visitor)
      return visitor
    }
    const first = await signOut()
    await clock.step(60_000)
    const second = await signOut()
    for (let more = 2; more < 10_000; more += 1) await signOut()
    expect([isRemembered(first), isRemembered(second)]).toEqual([true, true])
    await signOut()
    expect([isRemembered(first), isRemembered(second)]).toEqual([false, true])
    await clock.step(12 * 60 * 60 * 1_000 - 1)
    await signOut()
    expect(isRemembered(second)).toBe(false)
    const last = await signOut()
    await clock.step(12 * 60 * 60 * 1_000)
    await signOut()
    expect(isRemembered(last)).toBe(false)
  })

  test('can be requested only by the page itself', async () => {
    const site = siteOf()
    await site.signIn()
    const { cookie = '' } = site.headers
    const own = site.headers
    site.headers = { cookie }
    expect((await site.ask('/api/sign-out', { method: 'POST', body: {} })).status).toBe(403)
    site.headers = own
    expect(await isIn(site)).toBe(true)
  })
})
