/** The conformance suite on runtimes other than Node. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type PostgresServer, testPostgres } from '@sluice/test-postgres'
import { type RedisProcess, startRedis } from '@sluice/test-redis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'

/**
 * A binary of an npm package, which comes in another package for each platform: nothing is downloaded by
 * scripts.
 */
function binary(name: string, path: string): string {
  const folder = realpathSync(`${import.meta.dirname}/../node_modules/${name}`)
  return join(folder, '..', path)
}

const bunArch = process.arch === 'arm64' ? 'aarch64' : process.arch
const denoPlatform =
  process.platform === 'linux'
    ? `linux-${process.arch}-glibc`
    : `${process.platform}-${process.arch}`

/** How each runtime runs a TypeScript file, with the sources of the packages. */
const runtimes: Readonly<Record<string, readonly [string, ...(readonly string[])]>> = {
  Bun: [
    binary('bun', `@oven/bun-${process.platform}-${bunArch}/bin/bun`),
    '--conditions=sluice-source',
  ],
  Deno: [
    binary('deno', `@deno/${denoPlatform}/deno`),
    ...['run', '--no-prompt', '--no-check', '--conditions=sluice-source'],
    '--node-modules-dir=manual',
  ],
}

/** What Deno has to permit for each library, as the page says; also the folder of the test's own files. */
const permissions: Readonly<Record<string, readonly string[]>> = {
  '': ['--allow-sys=hostname'],
  'better-sqlite3': ['read', 'write', 'sys', 'ffi', 'env'].map((name) => `--allow-${name}`),
  'node:sqlite': ['read', 'write', 'sys=hostname,statfs', 'env'].map((name) => `--allow-${name}`),
  pg: ['--allow-sys=hostname', '--allow-net', '--allow-env'],
  redis: ['--allow-sys=hostname', '--allow-net'],
  ioredis: ['--allow-sys=hostname', '--allow-net', '--allow-env'],
}

let server: PostgresServer
let redis: RedisProcess

beforeAll(async () => {
  ;[server, redis] = await Promise.all([
    testPostgres({ settings: ['max_connections=200'] }),
    startRedis(),
  ])
})

afterAll(async () => {
  await Promise.all([server.dispose(), redis.dispose()])
})

/** Starts a program of this repository on a runtime. */
function start(runtime: string, permitted: readonly string[], ...args: readonly string[]) {
  const [command, ...flags] = runtimes[runtime]!
  const all = [...flags, ...(runtime === 'Deno' ? permitted : []), ...args]
  return spawn(command, all, { stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Runs the suite; its last line, or everything that it said if it failed. */
async function examined(
  runtime: string,
  library: string,
  ...args: readonly string[]
): Promise<string> {
  const program = `${import.meta.dirname}/conformance.ts`
  const child = start(runtime, permissions[library]!, program, ...args)
  let said = ''
  child.stdout.on('data', (data) => {
    said += String(data)
  })
  child.stderr.on('data', (data) => {
    said += String(data)
  })
  // Not its exit: that can be noticed before what it said last.
  const code = await new Promise((resolve) => {
    child.on('close', resolve)
  })
  return code === 0 ? (said.trim().split('\n').at(-1) ?? '') : said
}

/** What is run on each runtime: a store, and the library below it. */
const runs: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  Bun: [
    ['memory', ''],
    ['sqlite', 'better-sqlite3'],
    ['sqlite', 'node:sqlite'],
    ['sqlite', 'bun:sqlite'],
    ['postgres', 'pg'],
    ['redis', 'redis'],
    ['redis', 'ioredis'],
  ],
  Deno: [
    ['memory', ''],
    ['sqlite', 'better-sqlite3'],
    ['sqlite', 'node:sqlite'],
    ['postgres', 'pg'],
    ['redis', 'redis'],
    ['redis', 'ioredis'],
  ],
}

const cases = Object.entries(runs).flatMap(([runtime, stores]) =>
  stores.map(([kind, library]) => [runtime, kind, library] as const),
)

// Two at a time: they wait for their stores more than they compute.
describe.concurrent('the conformance suite', () => {
  test.each(cases)(
    '%s keeps every promise of %s %s',
    { timeout: 600_000 },
    async (runtime, kind, library) => {
      const where = kind === 'postgres' ? server.url : library
      expect(await examined(runtime, library, kind, where, redis.url)).toMatch(
        /^\d{3} passed, 0 failed, \d+ skipped$/,
      )
    },
  )
})

test.each(Object.keys(runtimes))('the command line serves a dashboard on %s', async (runtime) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-runtimes-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const program = `${import.meta.dirname}/../../packages/cli/src/bin.ts`
  const store = `sqlite:${folder}/queue.db`
  const add = start(runtime, ['-A'], program, 'add', 'orders', 'order/42', '--store', store)
  expect(await new Promise((resolve) => add.on('close', resolve))).toBe(0)

  const child = start(runtime, ['-A'], program, 'dashboard', store, '--port', '0')
  const ended = new Promise((resolve) => child.on('close', resolve))
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const address = String((await lines.next()).value)
  expect(await (await fetch(address)).text()).toMatch('<!doctype html>')
  const overview = await fetch(new URL('api/overview', address))
  expect(await overview.json()).toMatchObject({ queues: [{ queue: 'orders' }] })
  child.kill('SIGINT')
  expect(await ended).toBe(130)
})

test('the page says what was run, with which versions', () => {
  const root = `${import.meta.dirname}/../..`
  const page = readFileSync(`${root}/docs/operating/runtimes.md`, 'utf8')
  const manifest = readFileSync(`${root}/compat/package.json`, 'utf8')
  const { dependencies } = JSON.parse(manifest) as { dependencies: Record<string, string> }
  const libraries = (runtime: string, kind: string): string =>
    (runs[runtime] ?? [])
      .filter(([of]) => of === kind)
      .map(([, library]) => (library === 'better-sqlite3' ? library : `\`${library}\``))
      .join(', ')
  for (const runtime of Object.keys(runs)) {
    const version = dependencies[runtime.toLowerCase()]
    const stores = ['sqlite', 'postgres', 'redis'].map((kind) => libraries(runtime, kind))
    expect(page).toContain(`| ${[`${runtime} ${version}`, 'yes', ...stores].join(' | ')} |`)
  }
  expect(page).toContain(`| workerd ${dependencies['workerd']} | yes | no | no | no |`)
  for (const library of ['better-sqlite3', 'pg', 'redis', 'ioredis']) {
    expect(page).toContain(`${library} ${dependencies[library]}`)
  }
})
