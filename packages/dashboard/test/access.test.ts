import { createRateLimitingQueue } from 'sluice'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Ask, kept, Site, token } from './site.ts'

/** An open dashboard, one that wants a token, and one on which things can be done. */
const kinds = {
  'that anybody may look at': {},
  'with a token': { auth: { token } },
  'with a token and actions': { auth: { token }, allowActions: true },
} as const

/** Every way to ask for something, as the router itself says. */
function routesOf(site: Site): { method: string; path: string; for: string }[] {
  const { app, routes } = site.assembled
  return app.routes.map(({ method, path }) => {
    const route = routes.find((one) => one.method === method && one.path === path)
    if (route === undefined)
      throw new Error(`the router knows ${method} ${path}, the list does not`)
    return { method, path: path.replace('*', 'index.js'), for: route.for }
  })
}

function askOf(method: string, headers: Record<string, string> = {}): Ask {
  return method === 'GET' ? { headers } : { method, headers, body: {} }
}

async function everyRoute(
  site: Site,
  check: (route: ReturnType<typeof routesOf>[number], name: string) => Promise<void>,
): Promise<void> {
  const routes = routesOf(site)
  expect(routes.length).toBeGreaterThan(10)
  for (const route of routes) await check(route, `${route.method} ${route.path}`)
}

const query = '?queue=orders&key=a&about=overview'

for (const [kind, options] of Object.entries(kinds)) {
  describe(`a dashboard ${kind}`, () => {
    test('answers only allowed hosts, on every route', async () => {
      const site = kept(new Site(options))
      await everyRoute(site, async ({ method, path }, name) => {
        for (const host of [
          'evil.example',
          'localhost.evil.example',
          '127.0.0.1.evil.example:80',
          '',
        ]) {
          const { status, body } = await site.ask(path + query, askOf(method, { host }))
          expect([status, body['code']], `${name} for ${host}`).toEqual([403, 'ERR_FOREIGN_HOST'])
        }
      })
    })

    test('answers no page of another origin, on every route', async () => {
      const site = kept(new Site(options))
      await everyRoute(site, async ({ method, path }, name) => {
        const origins = [
          'http://evil.example',
          'null',
          'http://localhost:81',
          'file://localhost',
          '?',
        ]
        for (const origin of origins) {
          const { status, body } = await site.ask(path + query, askOf(method, { origin }))
          expect([status, body['code']], `${name} from ${origin}`).toEqual([
            403,
            'ERR_FOREIGN_ORIGIN',
          ])
        }
        for (const site_ of ['cross-site', 'same-site']) {
          const headers = { 'sec-fetch-site': site_, 'sec-fetch-mode': 'cors' }
          const { status } = await site.ask(path + query, askOf(method, headers))
          expect(status, `${name} ${site_}`).toBe(403)
        }
      })
    })

    test('answers those who follow a link to it, and no form of another page', async () => {
      const site = kept(new Site(options))
      const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
      const typed = { 'sec-fetch-site': 'none' }
      for (const headers of [link, typed]) {
        for (const method of ['GET', 'HEAD']) {
          expect((await site.ask('/healthz', { method, headers })).status).toBe(200)
        }
        await everyRoute(site, async ({ method, path }, name) => {
          if (method !== 'POST') return
          const { status, body } = await site.ask(path, askOf(method, headers))
          expect([status, body['code']], name).toEqual([403, 'ERR_FOREIGN_ORIGIN'])
        })
      }
      const own = { origin: 'http://localhost', 'sec-fetch-site': 'same-origin' }
      const { body } = await site.ask('/api/sign-out', askOf('POST', own))
      expect(body['code']).not.toBe('ERR_FOREIGN_ORIGIN')
    })

    test('protects every response by its headers, errors too', async () => {
      const site = kept(new Site(options))
      const paths = routesOf(site).map(({ path }) => path)
      for (const path of [...paths, '/nothing', '/assets/../index.html']) {
        for (const method of ['GET', 'POST']) {
          const aborting = new AbortController()
          const ask = { ...askOf(method), signal: aborting.signal }
          const { headers } = await site.send(path + query, ask)
          aborting.abort()
          expect(headers.get('content-security-policy'), path).toBe(
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; " +
              "img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
          )
          expect(headers.get('x-content-type-options'), path).toBe('nosniff')
          expect(headers.get('referrer-policy'), path).toBe('no-referrer')
          expect(headers.get('cross-origin-opener-policy'), path).toBe('same-origin')
          expect(headers.get('cross-origin-resource-policy'), path).toBe('same-origin')
          expect(headers.get('access-control-allow-origin'), path).toBeNull()
          const isPage = path === '/' && method === 'GET'
          const cached = isPage ? /^no-(cache|store)$/ : /^no-store(, no-transform)?$/
          expect(headers.get('cache-control'), path).toMatch(cached)
        }
      }
    })

    test('takes no other method than the one of a route', async () => {
      const site = kept(new Site(options))
      await everyRoute(site, async ({ method, path }, name) => {
        const others = ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'].filter((one) => one !== method)
        for (const other of method === 'POST' ? [...others, 'GET', 'HEAD'] : others) {
          const ask = other === 'GET' || other === 'HEAD' ? { method: other } : askOf(other)
          const { status, headers } = await site.ask(path + query, ask)
          expect(status, `${name} as ${other}`).toBe(405)
          const allowed = (headers.get('allow') ?? '').split(', ')
          expect(allowed, `${name} as ${other}`).toContain(method)
          const head = await site.ask(path + query, { method: 'HEAD' })
          expect(head.status, `HEAD ${name}`).not.toBe(allowed.includes('HEAD') ? 405 : 200)
        }
      })
    })

    test('takes a POST only as JSON, and not too much of it', async () => {
      const site = kept(new Site(options))
      const isActing = 'allowActions' in options
      if (isActing) await site.signIn()
      await everyRoute(site, async ({ method, path, for: whom }, name) => {
        if (method !== 'POST' || (whom === 'actors' && !isActing)) return
        const types = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', '']
        for (const type of types) {
          const ask = { method, headers: { 'content-type': type }, body: '{"token":1}' }
          expect((await site.ask(path, ask)).status, `${name} as ${type}`).toBe(415)
        }
        const long = { method, body: { token: 'x'.repeat(70_000) } }
        expect((await site.ask(path, long)).status, name).toBe(413)
        for (const body of ['', '{', '[]', 'null', '"x"', '\u0000']) {
          expect((await site.ask(path, { method, body })).status, `${name} of ${body}`).toBe(400)
        }
        const json = { 'content-type': 'application/json' }
        expect((await site.ask(path, { method, headers: json })).status, name).toBe(400)
        // Half a character of UTF-8, within what would otherwise be JSON.
        const latin = new Blob([Buffer.from('{"token":"\xe9"}', 'latin1')])
        const { body } = await site.ask(path, { method, body: latin })
        expect(body['message'], name).toBe('the body is not UTF-8')
      })
      // The visitor was told; a log would fill up with the requests of any sender.
      expect(site.errors).toEqual([])
    })
  })
}

describe('a visitor who has not signed in', () => {
  test('is shown nothing of the store, on every route but those that let one sign in', async () => {
    const site = kept(
      new Site({ auth: { token }, allowActions: true, storeName: 'the orders of ACME' }),
    )
    await everyRoute(site, async ({ method, path, for: whom }, name) => {
      const { status, body, text } = await site.ask(path + query, askOf(method))
      expect(text, name).not.toContain('ACME')
      if (whom === 'all') return
      expect([status, body['code']], name).toEqual([401, 'ERR_NOT_SIGNED_IN'])
    })
    const open = routesOf(site).filter((route) => route.for === 'all')
    expect(open.map(({ path }) => path)).toEqual([
      '/',
      '/assets/index.js',
      '/healthz',
      '/api/session',
      '/api/sign-in',
      '/api/sign-out',
    ])
    expect(site.assembled.live.size).toBe(0)
  })

  test('is not authenticated by forged cookies', async () => {
    const site = kept(new Site({ auth: { token } }))
    await site.signIn()
    const { cookie = '' } = site.headers
    const [name, value = ''] = cookie.split('=')
    const [end = '', nonce, mac] = value.split('.')
    const forged = [
      `${Number(end) + 1}.${nonce}.${mac}`,
      `${end}.${nonce}x.${mac}`,
      `${end}.${nonce}.${mac?.slice(1)}`,
      `${end}.${nonce}.`,
      `${end}.${nonce}`,
      '..',
      '',
      token,
    ]
    for (const one of forged) {
      const { status } = await site.ask('/api/overview', { headers: { cookie: `${name}=${one}` } })
      expect(status, one).toBe(401)
    }
    const both = { cookie: `${name}=forged; other=1; ${cookie}` }
    expect((await site.ask('/api/overview', { headers: both })).status).toBe(200)
  })
})

describe('a dashboard that is read-only', () => {
  const readOnly = {
    'since nobody can sign in': {},
    'though somebody has signed in': { auth: { token } },
    'though somebody is vouched for': { auth: { trust: () => 'ann' } },
  }
  for (const [why, options] of Object.entries(readOnly)) {
    test(`changes nothing on any route, ${why}`, async () => {
      const site = kept(new Site(options))
      const queue = createRateLimitingQueue<string>({
        name: 'orders',
        driver: site.driver,
        clock: site.clock,
      })
      await queue.addMany(['a', 'b'])
      const before = await queue.inspect.list()
      if ('auth' in options && 'token' in options.auth) await site.signIn()
      await everyRoute(site, async ({ method, path, for: whom }, name) => {
        if (method !== 'POST' || whom === 'all') return
        for (const action of ['purge', 'pause', 'remove', 'park', 'add']) {
          const body = { queue: 'orders', action, key: 'a', confirm: 'orders' }
          const answer = await site.ask(path, { method, body })
          expect([answer.status, answer.body['code']], name).toEqual([403, 'ERR_READ_ONLY'])
        }
      })
      expect(await queue.inspect.list()).toEqual(before)
      const session = await site.ask('/api/session')
      expect(session.body).toMatchObject({ mayAct: false, readOnlyBecause: expect.any(String) })
      await queue.close()
    })
  }
})

describe('an action', () => {
  test('needs the proof that the page itself asks for it', async () => {
    const site = kept(new Site({ auth: { token }, allowActions: true }))
    await site.signIn()
    const { cookie = '', 'x-sluice-csrf': csrf = '' } = site.headers
    const other = kept(new Site({ auth: { token }, allowActions: true }))
    await other.signIn()
    for (const wrong of [undefined, '', `${csrf}x`, other.headers['x-sluice-csrf']]) {
      site.headers = { cookie, ...(wrong === undefined ? {} : { 'x-sluice-csrf': wrong }) }
      const { status, body } = await site.act({ queue: 'orders', action: 'pause' })
      expect([status, body['code']]).toEqual([403, 'ERR_CSRF'])
    }
    site.headers = { cookie, 'x-sluice-csrf': csrf }
    expect((await site.act({ queue: 'orders', action: 'pause' })).status).toBe(200)
  })

  test('is for visitors that the application trusts, under the names that it returns', async () => {
    let who: string | undefined
    const site = kept(new Site({ auth: { trust: () => who }, allowActions: true }))
    expect((await site.ask('/api/session')).body).toMatchObject({
      mustSignIn: true,
      canSignIn: false,
    })
    expect((await site.act({ queue: 'orders', action: 'pause' })).status).toBe(401)
    expect((await site.ask('/api/sign-in', { method: 'POST', body: { token } })).status).toBe(404)
    who = ''
    expect((await site.ask('/api/overview')).status).toBe(401)
    who = 'ann'
    const { body } = await site.ask('/api/session')
    site.headers = { 'x-sluice-csrf': String(body['csrf']) }
    expect((await site.act({ queue: 'orders', action: 'pause' })).status).toBe(200)
    who = 'bob'
    expect((await site.act({ queue: 'orders', action: 'pause' })).body).toMatchObject({
      code: 'ERR_CSRF',
    })
  })

  test('is taken by every process with the secret of the one that showed the page', async () => {
    const trust = () => 'ann'
    const processOf = (secret: string) =>
      kept(new Site({ auth: { trust, secret }, allowActions: true }))
    const site = processOf('a secret for tests only')
    const { body } = await site.ask('/api/session')
    const codeOf = async (another: Site): Promise<unknown> => {
      another.headers = { 'x-sluice-csrf': String(body['csrf']) }
      return (await another.act({ queue: 'orders', action: 'pause' })).body['code']
    }
    expect(await codeOf(processOf('a secret for tests only'))).toBeUndefined()
    expect(await codeOf(processOf('another secret for tests'))).toBe('ERR_CSRF')
  })

  test('is rejected without a reason if the application fails to name the visitor', async () => {
    const site = kept(
      new Site({ auth: { trust: () => Promise.reject(new Error('db password is x')) } }),
    )
    const { status, text } = await site.ask('/api/overview')
    expect(status).toBe(500)
    expect(text).not.toContain('password')
    // A probe must not have a process restarted because of that.
    for (const path of ['/healthz', '/']) expect((await site.ask(path)).status).toBe(200)
    expect(site.errors).toHaveLength(1)
  })

  test('is rejected for a reason that is printed where there is no onError', async () => {
    const print = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    onTestFinished(() => print.mockRestore())
    const trust = () => Promise.reject(new Error('no database'))
    const site = kept(new Site({ auth: { trust }, onError: undefined }))
    expect((await site.ask('/api/overview')).status).toBe(500)
    expect(print.mock.calls.flat().map(String)).toEqual([
      'sluice: the dashboard failed:',
      'Error: no database',
    ])
  })

  test('is rejected also if onError throws, which is printed with the error', async () => {
    const print = vi.spyOn(console, 'error').mockImplementation(() => undefined)
    onTestFinished(() => print.mockRestore())
    const site = kept(
      new Site({
        auth: { trust: () => Promise.reject(new Error('no database')) },
        onError: () => {
          throw new Error('no log')
        },
      }),
    )
    expect((await site.ask('/api/overview')).status).toBe(500)
    expect(print.mock.calls.flat().map(String)).toEqual([
      'sluice: the onError of the dashboard threw:',
      'Error: no log',
      'when it was called with:',
      'Error: no database',
    ])
  })
})

describe('options', () => {
  const bad: Record<string, [object, RegExp]> = {
    'allowActions without auth': [{ allowActions: true }, /auth is required for allowActions/],
    'a short token': [{ auth: { token: 'hunter2' } }, /auth\.token must be .* 16 characters/],
    'an empty token': [{ auth: { token: '' } }, /auth\.token/],
    'a short secret': [{ auth: { trust: () => 'x', secret: 'hunter2' } }, /auth\.secret must be/],
    'a trust that is a name': [{ auth: { trust: 'ann' } }, /auth\.trust must be a function/],
    'auth of both kinds': [{ auth: { token, trust: () => 'x' } }, /auth\.token is not a known/],
    'an unknown option': [{ allowAction: true }, /allowAction is not a known option; did you mean/],
    'no hosts': [{ hosts: [] }, /hosts/],
    'a host with a path': [{ hosts: ['example.com/x'] }, /hosts\[0\]/],
    'a base path with dots': [{ basePath: '/../x' }, /basePath/],
    'a base path without a slash': [{ basePath: 'x' }, /basePath/],
    'ticks without end': [{ tickMs: 1 }, /tickMs/],
    'a hook that is none': [{ redact: 'x' }, /redact/],
    'actions in words': [{ auth: { token }, allowActions: 'no' }, /allowActions must be/],
    'a store name that is no text': [{ storeName: 7 }, /storeName/],
  }
  for (const [what, [options, message]] of Object.entries(bad)) {
    test(`${what} are refused by name, and secrets are not repeated`, () => {
      expect(() => new Site(options)).toThrow(message)
      try {
        new Site(options)
      } catch (error) {
        expect(String(error)).not.toContain('hunter2')
      }
    })
  }

  test('the way to authenticate that is undefined is absent', async () => {
    const signIn = { method: 'POST', body: { token } } as const
    const withToken = kept(new Site({ auth: { token, trust: undefined, secret: undefined } }))
    expect((await withToken.ask('/api/sign-in', signIn)).status).toBe(200)
    expect((await withToken.ask('/api/overview')).status).toBe(401)
    const trusting = kept(new Site({ auth: { trust: () => 'ann', token: undefined } }))
    expect((await trusting.ask('/api/overview')).status).toBe(200)
    expect((await trusting.ask('/api/sign-in', signIn)).status).toBe(404)
  })

  test('hosts hold with every port, or with the one that is named', async () => {
    const site = kept(new Site({ hosts: ['Queues.Example.com', 'inside:8080', '[::1]', '127.1'] }))
    const statusFor = async (host: string): Promise<number> =>
      (await site.ask('/healthz', { headers: { host } })).status
    expect(await statusFor('queues.example.com')).toBe(200)
    expect(await statusFor('QUEUES.example.com:81')).toBe(200)
    expect(await statusFor('inside:8080')).toBe(200)
    expect(await statusFor('inside:81')).toBe(403)
    expect(await statusFor('inside')).toBe(403)
    expect(await statusFor('[::1]:3000')).toBe(200)
    expect(await statusFor('127.1:3000')).toBe(200)
    expect(await statusFor('127.0.0.1')).toBe(200)
    expect(await statusFor('127.0.0.1:x')).toBe(403)
    expect(await statusFor('localhost')).toBe(403)
  })
})
