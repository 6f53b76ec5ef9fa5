/** The programs of the page on frameworks, with the real frameworks. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { sqliteDriver } from '@sluice/sqlite'
import { inspectStore } from 'sluice'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../tools/needs/src/free-port.ts'
import { compiled, complaintsAbout, installBuilt, layOutPage } from '../pages/laid-out.ts'
import { eventually, type Program, refused, startProgram } from '../pages/program.ts'

const path = 'docs/guides/frameworks.md'
const page = layOutPage(path)
const modules = fileURLToPath(new URL('../node_modules/', import.meta.url))
afterAll(() => page.remove())

const token = 'a token of more than sixteen letters'

/** Uses an application as its users would: adds a key, looks at the dashboard, and acts on it. */
async function use(url: string, program: Program): Promise<void> {
  const added = await fetch(`${url}/orders/42`, { method: 'POST' })
  expect(await added.json()).toEqual({ outcome: 'added' })
  await program.said('done order/42')

  const shown = await fetch(`${url}/queues`)
  expect([shown.status, shown.headers.get('content-type')]).toEqual([
    200,
    'text/html; charset=utf-8',
  ])
  const [, script = ''] = /src="([^"]+\.js)"/.exec(await shown.text()) ?? []
  const code = await fetch(new URL(script, `${url}/queues/`))
  expect([code.status, code.headers.get('content-type')]).toEqual([
    200,
    expect.stringContaining('javascript'),
  ])

  expect((await fetch(`${url}/queues/api/overview`)).status).toBe(401)
  const signedIn = await fetch(`${url}/queues/api/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ token }),
  })
  expect(signedIn.status).toBe(200)
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  const overview = await fetch(`${url}/queues/api/overview`, { headers: { cookie } })
  expect(await overview.json()).toMatchObject({ queues: [{ queue: 'orders' }] })
  // A page that is open: its stream must not keep the server open.
  const stream = await fetch(`${url}/queues/api/stream?about=overview`, { headers: { cookie } })
  expect(stream.headers.get('content-type')).toBe('text/event-stream')
  await stream.body?.getReader().read()
}

/** A worker that was stopped in order has said so in the store. */
async function expectStopped(file: string): Promise<void> {
  await using store = inspectStore(sqliteDriver({ file }))
  const workers = await store.queue('orders').workers()
  expect(workers.length).toBeGreaterThan(0)
  expect(workers.map(({ concurrency }) => concurrency)).toEqual(workers.map(() => 0))
}

test('the programs are correct for the compiler', () => {
  expect(complaintsAbout(page)).toEqual([])
})

/** Starts a program of the page, and resolves when it answers. */
async function start(name: string, env: Readonly<Record<string, string>> = {}) {
  const port = await freePort()
  // Node strips types, and no decorators.
  const file = name.startsWith('nest') ? compiled(page, `${name}.ts`) : `${name}.ts`
  const program = startProgram(['--conditions=sluice-source', file], {
    cwd: page.folder,
    env: { PORT: String(port), QUEUE_FILE: `${name}.db`, DASHBOARD_TOKEN: token, ...env },
  })
  onTestFinished(program.kill)
  const url = `http://localhost:${port}`
  await Promise.race([eventually(`${url}/queues/healthz`), program.said('never')])
  return { program, url }
}

const next = join(modules, 'next', 'dist', 'bin', 'next')

/** Lays out the page as an application of Next.js, and returns its folder. */
function layOutNext(): string {
  const own = layOutPage(path)
  onTestFinished(() => own.remove())
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(own.folder, name)), { recursive: true })
    writeFileSync(join(own.folder, name), text)
  }
  write(
    'app/layout.tsx',
    'export default ({ children }: { children: React.ReactNode }) => <html><body>{children}</body></html>\n',
  )
  // Next.js fills it in; without one it would read that of `compat`, which names our sources.
  write('tsconfig.json', '{}\n')
  write('app/page.tsx', 'export default () => <p>orders</p>\n')
  // An application of Next.js has only its own files, all of which it checks.
  for (const other of ['express', 'fastify', 'hono', 'nest', 'shared-queue']) {
    rmSync(join(own.folder, `${other}.ts`))
  }
  installBuilt(own)
  return own.folder
}

// Nest ends with the signal itself, after its hooks.
const servers = [
  { name: 'express', end: 0 },
  { name: 'fastify', end: 0 },
  { name: 'hono', end: 0 },
  { name: 'nest', end: 'SIGTERM' },
]

describe('a program adds keys, works, shows the dashboard, and stops', () => {
  test.for(servers)('$name', async ({ name, end }) => {
    const { program, url } = await start(name)
    await use(url, program)
    expect(await program.terminate()).toBe(end)
    expect(program.output()).not.toContain('rror')
    await expectStopped(join(page.folder, `${name}.db`))
  })

  test.for(servers)('$name ends after the request that it answers', async ({ name, end }) => {
    const gate = createServer().listen(0)
    await once(gate, 'listening')
    onTestFinished(() => void gate.close())
    const source = readFileSync(join(page.folder, `${name}.ts`), 'utf8')
    const waiting = source.replace('await orders.add', "await fetch(process.env['GATE']!) && $&")
    const file = join(page.folder, `${name}-waiting.ts`)
    writeFileSync(file, waiting)
    onTestFinished(() => rmSync(file))
    const address = gate.address() as { port: number }
    const { program, url } = await start(`${name}-waiting`, {
      GATE: `http://localhost:${address.port}`,
    })
    const answer = fetch(`${url}/orders/42`, { method: 'POST' })
    const [, response] = await once(gate, 'request')

    const ended = program.terminate()
    await refused(url)
    response.end()
    const outcome = answer.then(async (answered) => (await answered.json()) as unknown)
    await expect(outcome).resolves.toEqual({ outcome: 'added' })
    expect(await ended).toBe(end)
    await using store = inspectStore(
      sqliteDriver({ file: join(page.folder, `${name}-waiting.db`) }),
    )
    expect(await store.queue('orders').explain('order/42')).toMatchObject({ state: 'ready' })
  })

  test('Next.js', { timeout: 240_000 }, async () => {
    const folder = layOutNext()
    execFileSync(process.execPath, [next, 'build'], {
      cwd: folder,
      env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1', QUEUE_FILE: 'build.db' },
      stdio: 'pipe',
    })
    const port = await freePort()
    const program = startProgram([next, 'start', '--port', String(port)], {
      cwd: folder,
      env: {
        QUEUE_FILE: 'next.db',
        DASHBOARD_TOKEN: token,
        NEXT_MANUAL_SIG_HANDLE: '1',
        NEXT_TELEMETRY_DISABLED: '1',
      },
    })
    onTestFinished(program.kill)
    const url = `http://localhost:${port}`
    await Promise.race([eventually(`${url}/queues/healthz`), program.said('never')])
    await use(url, program)
    const drained = await fetch(`${url}/drain`, { method: 'POST' })
    expect(drained.status).toBe(204)
    expect(await program.terminate()).toBe(0)
    await expectStopped(join(folder, 'next.db'))
  })

  // Next.js 15 bundles with webpack unless it is told otherwise.
  test('Next.js, in development, with webpack', { timeout: 240_000 }, async () => {
    const port = await freePort()
    const program = startProgram([next, 'dev', '--webpack', '--port', String(port)], {
      cwd: layOutNext(),
      env: {
        NODE_ENV: 'development',
        QUEUE_FILE: 'next.db',
        DASHBOARD_TOKEN: token,
        NEXT_TELEMETRY_DISABLED: '1',
      },
    })
    // It ends the process that serves, too, which a kill would leave.
    onTestFinished(async () => void (await program.terminate()))
    const url = `http://localhost:${port}`
    await Promise.race([eventually(`${url}/queues/healthz`), program.said('never')])
    await use(url, program)
  })
})
