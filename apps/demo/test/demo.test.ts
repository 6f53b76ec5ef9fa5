// The demo as a user sees it: real processes on a real file, or a real Redis.
// real time: it shows a lease ending in another process, which no fake clock reaches.
import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { text } from 'node:stream/consumers'
import { hasRedis, startRedis } from '@sluice/test-redis'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import { lives } from '../src/lives.ts'
import { demoLeaseMs, driverOf } from '../src/open-store.ts'
import { queueOf } from '../src/shop.ts'

// Processes start, are killed and start again, each one slowly on a machine that is held up: it ends what hangs.
vi.setConfig({ testTimeout: 600_000 })

const folder = mkdtempSync(join(tmpdir(), 'sluice-demo-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Show {
  readonly lines: string[]
  readonly child: ChildProcess
  readonly ended: Promise<number | null>
  /** Resolves with the first line that contains a text; rejects if the demo ends without. */
  line(text: string): Promise<string>
}

function show(...args: readonly string[]): Show {
  const child = spawn(
    process.execPath,
    ['--conditions=sluice-source', join(import.meta.dirname, '../src/demo.ts'), ...args],
    // Its own file is in the temporary folder.
    { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, TMPDIR: folder } },
  )
  // Its workers end when it does.
  onTestFinished(() => void child.kill('SIGKILL'))
  // EPIPE where it has ended, which its output explains.
  child.stdin.on('error', () => {})
  const lines: string[] = []
  const waiting: { text: string; resolve: (line: string) => void; reject: (e: Error) => void }[] =
    []
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line)
    for (const { text, resolve } of waiting) if (line.includes(text)) resolve(line)
  })
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      for (const { text, reject } of waiting) reject(new Error(`ended without "${text}"`))
      resolve(code)
    })
  })
  const line = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const found = lines.find((each) => each.includes(text))
      if (found !== undefined) resolve(found)
      else waiting.push({ text, resolve, reject })
    })
  return { lines, child, ended, line }
}

test('a server is broken, a worker is killed, and the queues survive a restart', async () => {
  const file = join(folder, 'demo.db')
  const first = show('--port=0', file)
  await first.line('back after their worker was killed: ')
  first.child.stdin?.write('b')
  await first.line('answers 503 now')
  expect(await first.line('why does customer/')).toMatch(/back-off for .* answered 503$/)
  first.child.stdin?.write('bp')
  await first.line('search-index is paused')
  const page = new URL((await first.line('http://')).trim())
  const [, token = ''] = page.hash.split('=')
  page.hash = ''
  expect(await (await fetch(page)).text()).toContain('<script type="module"')
  expect((await fetch(new URL('api/overview', page))).status).toBe(401)
  const signIn = await fetch(new URL('api/sign-in', page), {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: page.origin },
    body: JSON.stringify({ token }),
  })
  const cookie = signIn.headers.get('set-cookie')?.split(';')[0] ?? ''
  const overview = await fetch(new URL('api/overview', page), { headers: { cookie } })
  const { queues } = (await overview.json()) as { queues: { queue: string; paused: boolean }[] }
  expect(queues.map(({ queue }) => queue).toSorted()).toEqual([
    'certificates',
    'deployments',
    'pods',
    'reminders',
    'search-index',
    'thumbnails',
    'webhooks',
  ])
  first.child.kill('SIGINT')
  expect(await first.ended).toBe(0)
  expect(first.lines.at(-1)).toMatch(/\d+ changes cost \d+ runs\. In the store: ready \d+/)

  const second = show('--port=0', file)
  expect(await second.line('from the last time: ')).not.toMatch(/ready 0, delayed 0/)
  second.child.stdin?.write('q')
  expect(await second.ended).toBe(0)
})

test('its own file with the tables of an older version is made again; a file of others is not', async () => {
  const own = join(folder, 'sluice-demo.db')
  const fresh = show('--port=0', '--seconds=0')
  expect(await fresh.ended).toBe(0)
  const database = new DatabaseSync(own)
  database.exec('alter table sluice_keys rename column crashes to broken')
  database.close()
  const other = spawn(
    process.execPath,
    ['--conditions=sluice-source', join(import.meta.dirname, '../src/demo.ts'), '--port=0', own],
    { stdio: 'ignore' },
  )
  expect(await new Promise((resolve) => other.once('close', resolve))).not.toBe(0)
  const again = show('--port=0', '--seconds=0')
  expect(await again.line('the file of an older demo was removed')).toMatch(/crashes/)
  expect(await again.ended).toBe(0)
})

test.each([
  [['--help'], 0, 'usage: npm start'],
  [['--port=x'], 2, undefined],
  [['--speed=1'], 2, undefined],
])('%j ends with %i', async (args, code, line) => {
  const called = show(...args)
  expect(await called.ended).toBe(code)
  if (line !== undefined) expect(called.lines[0]).toContain(line)
})

/** A worker process on a file, which loads a module first. */
function startWorker(file: string, module: string): ChildProcess {
  const flags = ['--conditions=sluice-source', '--no-warnings']
  const program = join(import.meta.dirname, '../src/worker-process.ts')
  const child = fork(program, [file, '1', 'http://127.0.0.1:1/'], {
    execArgv: [...flags, `--import=data:text/javascript,${module}`],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

test('a worker whose demo has gone while it started ends in order', async () => {
  const module = 'await new Promise((end)=>process.once("disconnect",end))'
  const worker = startWorker(join(folder, 'gone.db'), module)
  const printed = text(worker.stderr!)
  const ended = once(worker, 'exit')
  worker.disconnect()
  expect([await ended, await printed]).toEqual([[0, null], ''])
})

test('a worker whose demo has gone when it begins a run ends in order', async () => {
  const file = join(folder, 'gone-later.db')
  const life = lives.find(({ name }) => name === 'pods')!
  const queue = queueOf(life, driverOf(file), { leaseMs: demoLeaseMs })
  await queue.add({ key: 'pod/1', revision: 1, reason: 'changed' })
  await queue.close()
  // The channel is closed, and the worker has not heard of it.
  const module =
    'const {send}=process;process.send=(...args)=>{process.connected&&process.disconnect();send.apply(process,args)}'
  const worker = startWorker(file, module)
  const printed = text(worker.stderr!)
  expect([await once(worker, 'exit'), await printed]).toEqual([[0, null], ''])
})

test('the queues may be in a Redis cluster, where they share no buckets', async () => {
  const driver = driverOf('redis-cluster://127.0.0.1:1')
  for (const life of lives) await queueOf(life, driver).close()
})

test.skipIf(!hasRedis)('the queues are in a Redis', async () => {
  const server = await startRedis()
  onTestFinished(() => server.dispose())
  const demo = show('--port=0', '--no-open', `--store=${server.url}`)
  await demo.line(`in ${server.url}`)
  await demo.line('back after their worker was killed: ')
  demo.child.stdin?.write('q')
  expect(await demo.ended).toBe(0)
  expect(demo.lines.at(-1)).toMatch(/\d+ changes cost [1-9]\d* runs/)
  expect(await server.command('EXISTS', 'sluice-demo:{pods}:rows')).toBe(1)
})
