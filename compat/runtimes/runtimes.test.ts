/** The conformance suite on runtimes other than Node. */
import { spawn } from 'node:child_process'
import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { type PostgresServer, testPostgres } from '@sluice/test-postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

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
    ...['run', '-A', '--no-check', '--conditions=sluice-source', '--node-modules-dir=manual'],
  ],
}

let server: PostgresServer

beforeAll(async () => {
  server = await testPostgres({ settings: ['max_connections=200'] })
})

afterAll(async () => {
  await server.dispose()
})

/** Runs the suite; its last line, or everything that it said if it failed. */
async function examined(runtime: string, ...args: readonly string[]): Promise<string> {
  const [command, ...flags] = runtimes[runtime]!
  const program = `${import.meta.dirname}/conformance.ts`
  const child = spawn(command, [...flags, program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  child.stdout.on('data', (data) => {
    said += String(data)
  })
  child.stderr.on('data', (data) => {
    said += String(data)
  })
  const code = await new Promise((resolve) => {
    child.on('exit', resolve)
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
  ],
  Deno: [
    ['memory', ''],
    ['sqlite', 'better-sqlite3'],
    ['sqlite', 'node:sqlite'],
    ['postgres', 'pg'],
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
      expect(await examined(runtime, kind, where)).toMatch(/^\d{3} passed, 0 failed, \d+ skipped$/)
    },
  )
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
    const stores = [libraries(runtime, 'sqlite'), libraries(runtime, 'postgres')]
    expect(page).toContain(`| ${[`${runtime} ${version}`, 'yes', ...stores].join(' | ')} |`)
  }
  expect(page).toContain(`| workerd ${dependencies['workerd']} | yes | no | no |`)
  for (const library of ['better-sqlite3', 'pg']) {
    expect(page).toContain(`${library} ${dependencies[library]}`)
  }
})
