import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, onFreePorts } from '@sluice/needs/free-port'
import { startPostgres, testPostgres } from '@sluice/test-postgres'
import pg from 'pg'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { startOn } from '../src/index.ts'

afterEach(() => vi.unstubAllEnvs())

/** What the last one of some statements returns. */
async function rows(url: string, statements: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return [await client.query(statements)].flat().at(-1)!.rows
  } finally {
    await client.end()
  }
}

async function shown(url: string, setting: string): Promise<unknown> {
  return (await rows(url, `show ${setting}`))[0]?.[setting]
}

test('a server has its settings after a stop and after a crash, and leaves no data behind', async () => {
  const server = await startPostgres({ settings: ['max_connections=17'] })
  const folder = String(await shown(server.url, 'data_directory'))
  expect(await shown(server.url, 'max_connections')).toBe('17')
  // Elsewhere it would stay after a server that was killed.
  expect(readdirSync(join(folder, 'pg_dynshmem'))).not.toEqual([])
  await server.stop()
  await expect(shown(server.url, 'max_connections')).rejects.toThrow('ECONNREFUSED')
  await server.start()
  await server.crash()
  await server.start()
  expect(await shown(server.url, 'fsync')).toBe('off')
  await server.dispose()
  expect(existsSync(folder)).toBe(false)
})

test('a server starts on another port if a program has taken the one that was free', async () => {
  const first = await startPostgres()
  onTestFinished(() => first.dispose())
  const ports = [first.port, await freePort()]
  const server = await onFreePorts(() => startOn(ports.shift()!))
  onTestFinished(() => server.dispose())
  expect(server.port).not.toBe(first.port)
  const [mine, other] = [server, first].map(({ url }) => shown(url, 'data_directory'))
  expect(await mine).not.toBe(await other)
})

test.each(['with a space', `too-long-for-a-socket-${'x'.repeat(100)}`])(
  'a server starts where the folder of temporary files is %s',
  async (name) => {
    const folder = mkdtempSync(join(tmpdir(), `${name}-`))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    // A server that is started by root runs under another user.
    chmodSync(folder, 0o755)
    vi.stubEnv('TMPDIR', folder)
    const server = await startPostgres()
    onTestFinished(() => server.dispose())
    expect(await shown(server.socketUrl, 'data_directory')).toContain(name)
  },
)

test('the server that the environment names is left alone, and each call has a database there', async () => {
  const named = await startPostgres()
  onTestFinished(() => named.dispose())
  vi.stubEnv('SLUICE_TEST_POSTGRES_URL', named.url)
  const [server, other] = [await testPostgres(), await testPostgres()]
  expect(server.port).toBe(named.port)
  expect(await rows(server.url, 'create table kept (); select 1 as found')).toEqual([{ found: 1 }])
  const tables = `select tablename from pg_tables where tablename = 'kept'`
  expect(await rows(other.url, tables)).toEqual([])
  await expect(server.stop()).rejects.toThrow('SLUICE_TEST_POSTGRES_URL')
  await other.dispose()
  // What is connected does not keep the database.
  const open = new pg.Client({ connectionString: server.url })
  open.on('error', () => {})
  await open.connect()
  const ended = new Promise((resolve) => open.once('end', resolve))
  await server.dispose()
  await ended
  const databases = `select datname from pg_database where not datistemplate`
  expect(await rows(named.url, databases)).toEqual([{ datname: 'postgres' }])
})
