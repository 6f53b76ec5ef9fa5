import { existsSync } from 'node:fs'
import { startPostgres, testPostgres } from '@sluice/test-postgres'
import pg from 'pg'
import { afterEach, expect, test, vi } from 'vitest'

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
  // Of the server itself: other processes start servers at the same time.
  const folder = await shown(server.url, 'data_directory')
  expect(existsSync(folder)).toBe(true)
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

test('the server that the environment names is used and left alone', async () => {
  vi.stubEnv('SLUICE_TEST_POSTGRES_URL', 'postgres://db.example/app')
  const server = await testPostgres()
  expect(server).toMatchObject({ url: 'postgres://db.example/app', port: 5432 })
  await expect(server.stop()).rejects.toThrow('SLUICE_TEST_POSTGRES_URL')
  await server.dispose()
})
