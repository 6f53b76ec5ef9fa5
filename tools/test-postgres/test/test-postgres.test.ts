import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, onFreePorts } from '@sluice/needs/free-port'
import { startPostgres, testPostgres } from '@sluice/test-postgres'
import pg from 'pg'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { startOn } from '../src/index.ts'

afterEach(() => vi.unstubAllEnvs())

async function shown(url: string, setting: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(`show ${setting}`)).rows[0][setting]
  } finally {
    await client.end()
  }
}

test('a server has its settings after a stop and after a crash, and leaves no data behind', async () => {
  const server = await startPostgres({ settings: ['max_connections=17'] })
  const folder = String(await shown(server.url, 'data_directory'))
  expect(await shown(server.url, 'max_connections')).toBe('17')
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

test('the server that the environment names is used and left alone', async () => {
  vi.stubEnv('SLUICE_TEST_POSTGRES_URL', 'postgres://db.example/app')
  const server = await testPostgres()
  expect(server).toMatchObject({ url: 'postgres://db.example/app', port: 5432 })
  await expect(server.stop()).rejects.toThrow('SLUICE_TEST_POSTGRES_URL')
  await server.dispose()
})
