/** The conformance suite on runtimes other than Node. */
import { spawn } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { type PostgresServer, testPostgres } from '@sluice/test-postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'

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
}, 60_000)

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

const cases = Object.keys(runtimes).flatMap((runtime) => [
  [runtime, 'memory', ''],
  [runtime, 'sqlite', 'node:sqlite'],
  [runtime, 'postgres', ''],
])

test.each(cases)('%s keeps every promise of %s %s', { timeout: 600_000 }, async (...named) => {
  const [runtime = '', kind = '', library = ''] = named
  const where = kind === 'postgres' ? server.url : library
  expect(await examined(runtime, kind, where)).toMatch(/^\d{3} passed, 0 failed, \d+ skipped$/)
})
