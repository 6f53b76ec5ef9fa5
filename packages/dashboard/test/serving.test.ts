import { createServer, get, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Driver } from '@sluice/core'
import { type FakeClock, fakeClock } from '@sluice/core/testing'
import { memoryDriver } from '@sluice/memory'
import { createQueue, type Queue, systemClock } from 'sluice'
import { afterEach, describe, expect, test } from 'vitest'
import { type Assembled, assemble } from '../src/create-dashboard.ts'
import type { DashboardOptions } from '../src/dashboard.ts'
import { serveDashboard, toNodeHandler } from '../src/node.ts'
import { type Serving, serveAssembled } from '../src/serve-dashboard.ts'
import { EventReader } from './event-reader.ts'
import { token } from './site.ts'

const open: { close(): Promise<unknown> }[] = []

afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close()
})

interface Served {
  readonly serving: Serving
  readonly assembled: Assembled
  readonly driver: Driver
  readonly clock: FakeClock
  readonly queue: Queue<string>
  readonly port: number
}

const patient = { headersMs: 60_000, requestMs: 60_000, checkEveryMs: 5_000 }

async function serve(
  options: Partial<DashboardOptions> = {},
  arrival: typeof patient = patient,
): Promise<Served> {
  const driver = memoryDriver()
  const clock = fakeClock()
  const queue = createQueue<string>({ name: 'orders', driver, clock })
  let assembled: Assembled | undefined
  const make = (given: DashboardOptions): Assembled => {
    assembled = assemble(given)
    return assembled
  }
  const serving = await serveAssembled(make, { driver, clock, ...options }, {}, arrival)
  open.push(queue, serving)
  const port = Number(new URL(serving.url).port)
  return { serving, assembled: assembled as Assembled, driver, clock, queue, port }
}

/** Waits for something that real sockets bring about. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) {
    await new Promise<void>((resolve) => {
      systemClock.startTimer(5, resolve).ref()
    })
  }
}

function dial(port: number, text: string): { socket: Socket; all: Promise<string> } {
  const socket = connect(port, '127.0.0.1')
  socket.write(text)
  let heard = ''
  socket.on('data', (chunk) => {
    heard += String(chunk)
  })
  socket.on('error', () => {})
  const all = new Promise<string>((resolve) => socket.on('close', () => resolve(heard)))
  return { socket, all }
}

describe('a served dashboard', () => {
  test('is reached on this machine alone, and nowhere else without a token', async () => {
    const { serving } = await serve()
    expect(serving.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/)
    expect(serving).not.toHaveProperty('signInUrl')
    expect((await fetch(`${serving.url}healthz`)).status).toBe(200)
    for (const host of ['0.0.0.0', '::', '192.168.1.1', 'example.com']) {
      const served = serveDashboard({ driver: memoryDriver() }, { host })
      await expect(served, host).rejects.toThrow(/auth is required to serve on/)
    }
  })

  // macOS has one address of the loopback only.
  test.skipIf(process.platform === 'darwin')(
    'answers under its address, and no other',
    async () => {
      const serving = await serveDashboard(
        { driver: memoryDriver(), auth: { token } },
        { host: '127.0.0.2' },
      )
      open.push(serving)
      expect((await fetch(`${serving.url}healthz`)).status).toBe(200)
      const headers = { host: 'localhost' }
      const port = Number(new URL(serving.url).port)
      const status = await new Promise<number | undefined>((resolve, reject) => {
        const request = get({ host: '127.0.0.2', port, path: '/healthz', headers }, (response) => {
          response.resume()
          resolve(response.statusCode)
        })
        request.once('error', reject)
      })
      expect(status).toBe(403)
    },
  )

  test.each(['::ffff:127.0.0.1', '127.1'])(
    'answers under %s, an address that browsers write in another way',
    async (host) => {
      const serving = await serveDashboard({ driver: memoryDriver(), auth: { token } }, { host })
      open.push(serving)
      expect((await fetch(`${serving.url}healthz`)).status).toBe(200)
    },
  )

  test.each(['127.0.0.1', '127.0.0.2', '0.0.0.0'])(
    'answers the address that it returns for %s, whatever other hosts are allowed',
    async (host) => {
      const options = { driver: memoryDriver(), auth: { token }, hosts: ['queues.example.com'] }
      const serving = await serveDashboard(options, { host })
      open.push(serving)
      expect((await fetch(`${serving.url}healthz`)).status).toBe(200)
    },
  )

  test('leads to no sign-in for a token that is undefined', async () => {
    const { serving } = await serve({ auth: { trust: () => 'ann', token: undefined } })
    expect(serving).not.toHaveProperty('signInUrl')
    expect((await fetch(`${serving.url}api/overview`)).status).toBe(200)
  })

  test('leads to where one signs in, with the token where no server sees it', async () => {
    // The page reads it from the address, where %20 is a space.
    const token = 'for this test %20 only'
    const { serving } = await serve({ auth: { token }, basePath: '/queues' })
    const { pathname, search, hash } = new URL(serving.signInUrl ?? '')
    expect([pathname, search, hash]).toEqual([
      '/queues/',
      '',
      `#sign-in=${encodeURIComponent(token)}`,
    ])
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ token })
    const answer = await fetch(`${serving.url}api/sign-in`, { method: 'POST', headers, body })
    expect(answer.status).toBe(200)
    const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? ''
    expect((await fetch(`${serving.url}api/overview`)).status).toBe(401)
    expect((await fetch(`${serving.url}api/overview`, { headers: { cookie } })).status).toBe(200)
  })

  test('answers raw requests, and rejects those for other hosts', async () => {
    const { port } = await serve()
    const said = async (head: string): Promise<string> => {
      const { all } = dial(port, `${head}\r\nConnection: close\r\n\r\n`)
      return (await all).split('\r\n')[0] ?? ''
    }
    const own = `Host: 127.0.0.1:${port}`
    expect(await said(`GET /api/session HTTP/1.1\r\n${own}`)).toMatch(/ 200 /)
    expect(await said(`GET /x/../api/session HTTP/1.1\r\n${own}`)).toMatch(/ 200 /)
    expect(await said('GET /api/session HTTP/1.1\r\nHost: evil.example')).toMatch(/ 403 /)
    const foreign = 'http://127.0.0.1/api/session'
    expect(await said(`GET ${foreign} HTTP/1.1\r\nHost: evil.example`)).toMatch(/ 403 /)
    expect(await said(`GET /x/../api/overview HTTP/1.1\r\nHost: evil.example`)).toMatch(/ 403 /)
    expect(await said(`GET / HTTP/1.1\r\n${own}\r\nHost: evil.example`)).toMatch(/ 403 /)
    expect(await said('GET /api/session HTTP/1.1')).toMatch(/ 400 /)
    expect(await said('GET /api/session HTTP/1.0')).toMatch(/ 400 /)
    expect(await said(`GET \\..\\api HTTP/1.1\r\n${own}`)).toMatch(/ 400 /)
  })

  test('does not wait for incomplete requests', async () => {
    const errors: unknown[] = []
    const onError = (error: unknown): void => void errors.push(error)
    const arrival = { headersMs: 200, requestMs: 400, checkEveryMs: 50 }
    const { port, serving } = await serve({ onError }, arrival)
    // real time: the server itself measures how long a request takes to arrive.
    const half = dial(port, 'GET /api/overview HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ')
    expect(await half.all).toMatch(/^HTTP\/1\.1 408 /)
    const body = dial(
      port,
      'POST /api/sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n' +
        'Content-Length: 1000\r\n\r\n{"token": "',
    )
    expect(await body.all).toMatch(/^HTTP\/1\.1 408 /)
    // A client that goes away is no failure of the dashboard.
    await serving.close()
    expect(errors).toEqual([])
  })

  test('ends open streams and releases the port when it is closed, also when closed twice', async () => {
    const { serving, clock, port } = await serve()
    const events = new EventReader(await fetch(`${serving.url}api/stream?about=overview`))
    await clock.step(0)
    expect((await events.next())?.event).toBe('snapshot')
    await Promise.all([serving.close(), serving.close()])
    expect(await events.next()).toBeUndefined()
    const { all } = dial(port, 'GET / HTTP/1.1\r\n\r\n')
    expect(await all).toBe('')
  })

  test('does not wait for the rest of a request when it is closed', async () => {
    const { serving, port } = await serve()
    const { socket, all } = dial(
      port,
      'POST /api/sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n' +
        'Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n',
    )
    await new Promise((resolve) => socket.once('data', resolve))
    await serving.close()
    expect(await all).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  })

  test('says why if the port cannot be had, and leaves nothing open', async () => {
    const { port } = await serve()
    const driver = memoryDriver()
    await expect(serveDashboard({ driver }, { port })).rejects.toThrow(/EADDRINUSE/)
    let closed = 0
    const make = (options: DashboardOptions) => {
      const { dashboard } = assemble(options)
      const close = async () => {
        closed += 1
        await dashboard.close()
      }
      return { dashboard: { ...dashboard, close } }
    }
    await expect(serveAssembled(make, { driver }, { port }, patient)).rejects.toThrow(/EADDRINUSE/)
    expect(closed).toBe(1)
    await expect(serveDashboard({ driver }, { port: 70_000 })).rejects.toThrow(/where\.port/)
    for (const options of [undefined, null, 5, []]) {
      await expect(serveDashboard(options as never)).rejects.toMatchObject({
        code: 'ERR_INVALID_INPUT',
        parameter: 'options',
      })
    }
  })
})

describe('a stream over a socket', () => {
  const head = 'GET /api/stream?about=overview HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'

  test('is forgotten when its reader goes away, in every way one can', async () => {
    const { assembled, clock, port } = await serve()
    const { live } = assembled
    const ways: ((socket: Socket) => void)[] = [
      (socket) => socket.destroy(),
      (socket) => socket.resetAndDestroy(),
      (socket) => socket.end(),
    ]
    for (const leave of ways) {
      const { socket, all } = dial(port, head)
      await until(() => live.size === 1)
      await clock.step(1_000)
      leave(socket)
      await all
      await until(() => live.size === 0)
    }
    const aborting = new AbortController()
    const { signal } = aborting
    await fetch(`http://127.0.0.1:${port}/api/stream?about=overview`, { signal })
    expect(live.size).toBe(1)
    aborting.abort()
    await until(() => live.size === 0)
  })

  test('is closed if its reader stops reading', async () => {
    const { assembled, clock, driver, port } = await serve()
    const { socket, all } = dial(port, head)
    socket.pause()
    await until(() => assembled.live.size === 1)
    const queues = Array.from({ length: 100 }, (_, at) =>
      createQueue<string>({ name: `queue ${at}`, driver, clock }),
    )
    open.push(...queues)
    let ticks = 0
    while (assembled.live.size > 0) {
      ticks += 1
      for (const queue of queues) await queue.add(`key ${ticks}`)
      await clock.step(1_000)
    }
    expect(ticks).toBeGreaterThan(30)
    socket.resume()
    await all
  })

  test('is one of at most 50; a thousand more are rejected, and the heap stays flat', async () => {
    const { assembled, clock, queue, serving } = await serve()
    const url = `${serving.url}api/stream?about=overview`
    const readers: EventReader[] = []
    for (let reader = 0; reader < 50; reader += 1) readers.push(new EventReader(await fetch(url)))
    await clock.step(0)
    for (const reader of readers) expect((await reader.next())?.event).toBe('snapshot')
    setFlagsFromString('--expose-gc')
    const gc = runInNewContext('gc') as () => void
    const heapOf = (): number => {
      gc()
      return process.memoryUsage().heapUsed
    }
    const tick = async (): Promise<void> => {
      await queue.add(`key ${Math.floor(clock.now()) % 7}`)
      await clock.step(1_000)
      await Promise.all(readers.map((reader) => reader.next()))
    }
    // The log for readers that reconnect fills up first.
    for (let ticks = 0; ticks < 300; ticks += 1) await tick()
    const before = heapOf()
    for (let ticks = 0; ticks < 600; ticks += 1) await tick()
    const after = heapOf()
    console.log(`heap after 300 and 900 ticks of 50 streams: ${before} and ${after} bytes`)
    expect(after - before).toBeLessThan(3_000_000)
    for (let tries = 0; tries < 1_000; tries += 50) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => fetch(url)))
      for (const answer of answers) {
        expect(answer.status).toBe(503)
        await answer.arrayBuffer()
      }
    }
    expect(assembled.live.size).toBe(50)
    for (const reader of readers) await reader.cancel()
    await until(() => assembled.live.size === 0)
  })
})

describe('a dashboard mounted in a server of the kind of Express', () => {
  async function mount(
    listener: Parameters<typeof createServer>[1],
  ): Promise<{ url: string; server: Server }> {
    const server = createServer(listener)
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve)
    })
    open.push({
      close: () =>
        new Promise((resolve) => {
          server.closeAllConnections()
          server.close(resolve)
        }),
    })
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
  }

  /** The body as parsers of JSON, of texts and of bytes leave it. */
  const parsers: [string, (text: string) => unknown][] = [
    ['JSON', (text) => JSON.parse(text) as unknown],
    ['a text', (text) => text],
    ['bytes', (text) => Buffer.from(text)],
  ]
  test.each(parsers)(
    'answers below its path that was cut off, with a body read as %s',
    async (_, parse) => {
      const { dashboard } = assemble({
        driver: memoryDriver(),
        basePath: '/queues',
        auth: { token },
      })
      open.push(dashboard)
      const handle = toNodeHandler(dashboard)
      const parsed = async (incoming: IncomingMessage): Promise<IncomingMessage> => {
        const mounted = incoming as IncomingMessage & { originalUrl?: string; body?: unknown }
        mounted.originalUrl = mounted.url ?? ''
        mounted.url = mounted.originalUrl.slice('/queues'.length) || '/'
        if (mounted.method === 'POST') {
          let text = ''
          for await (const chunk of mounted) text += String(chunk)
          mounted.body = parse(text)
        }
        return mounted
      }
      const { url } = await mount((incoming, outgoing) => {
        void parsed(incoming).then((mounted) => handle(mounted, outgoing))
      })
      expect((await fetch(`${url}/queues`, { redirect: 'manual' })).headers.get('location')).toBe(
        '/queues/',
      )
      expect((await fetch(`${url}/queues/healthz`)).status).toBe(200)
      const headers = { 'content-type': 'application/json' }
      const body = JSON.stringify({ token })
      const answer = await fetch(`${url}/queues/api/sign-in`, { method: 'POST', headers, body })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('set-cookie')).toMatch(/; HttpOnly;/)
    },
  )
})
