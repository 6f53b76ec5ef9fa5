import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { hasRedis, startRedis } from '@sluice/test-redis'
import { createQueue } from 'sluice'
import { describe, expect, onTestFinished, test } from 'vitest'
import { cli, json, output } from './cli.ts'
import { driverOf, workOn } from './queues.ts'
import { newFile, postgresForFile } from './stores.ts'

const postgres = postgresForFile()

describe('doctor', () => {
  test('finds a file intact, as a table and as JSON', async () => {
    const store = newFile()
    await output(['add', 'orders', 'a'], { store })
    const out = await output(['doctor'], { store })
    expect(out).toMatch(/^CHECK +LEVEL +FOUND\nintegrity +ok +every page/)
    expect(out).toMatch(/\nfile +ok +1 key in \d+ bytes\n/)
    await output(['add', 'orders', 'b'], { store })
    expect(await json(['doctor'], { store })).toMatchObject({
      healthy: true,
      store,
      findings: expect.arrayContaining([
        {
          check: 'file',
          level: 'ok',
          summary: expect.stringMatching(/^2 keys in \d+ bytes$/),
          facts: { keys: 2, bytes: expect.any(Number) },
        },
      ]),
    })
  })

  test.each([
    'sluice_schema',
    'sluice_keys',
    'sqlite_autoindex_sluice_keys_1',
    'sluice_keys_waiting',
    'sluice_holders',
    'the header',
    'the middle',
  ])('exits with 3 when pages are damaged, and calls nothing of them intact: %s', async (name) => {
    const store = newFile()
    await output(['add', 'orders', '--stdin'], {
      store,
      stdin: Array.from({ length: 2_000 }, (_, at) => `a-rather-long-key-to-fill-pages/${at}`),
    })
    const file = store.slice('sqlite:'.length)
    const database = new DatabaseSync(file)
    const root = database.prepare('select rootpage from sqlite_schema where name = ?').get(name)
    database.close()
    const bytes = readFileSync(file)
    const page = Number(root?.['rootpage'] ?? (name === 'the header' ? 1 : bytes.length / 4096 / 2))
    // The first hundred bytes say how the file is read; without them, it is no database.
    bytes.fill(0x5a, 4096 * Math.floor(page - 1) + (page === 1 ? 100 : 0), 4096 * Math.floor(page))
    writeFileSync(file, bytes)
    const { code, out, err } = await cli(['doctor'], { store })
    expect({ code, err }).toEqual({ code: 3, err: '' })
    expect(out).toMatch(/^(integrity|store) +failure +\S/m)
    expect(out).not.toMatch(/intact|\b0 keys/)
  })

  test('warns of a log that has grown, which --strict takes for a failure', async () => {
    const store = newFile()
    const file = store.slice('sqlite:'.length)
    const queue = createQueue<string>({ name: 'orders', driver: await driverOf(store) })
    onTestFinished(() => queue.close())
    await queue.add('b')
    // As long as a reader that never ends would let it grow.
    truncateSync(`${file}-wal`, 2 * 64 * 1024 * 1024 + 1)
    const { code, out } = await cli(['doctor'], { store })
    expect(code).toBe(0)
    expect(out).toMatch(/^log +warning +the log has grown to 134217729 bytes: a connection keeps/m)
    const strict = await cli(['doctor', '--strict', '-o', 'json'], { store })
    expect([strict.code, JSON.parse(strict.out).healthy]).toEqual([3, false])
    truncateSync(`${file}-wal`, 2 * 64 * 1024 * 1024)
    expect(await output(['doctor', '--strict'], { store })).toMatch(/^log +ok /m)
  })

  test('shows why a store cannot be examined, and exits with 3 without advising itself', async () => {
    const damaged = newFile()
    writeFileSync(damaged.slice('sqlite:'.length), 'no database at all, but text'.repeat(50))
    const foreign = newFile()
    const database = new DatabaseSync(foreign.slice('sqlite:'.length))
    database.exec('create table users (name)')
    database.close()
    for (const [store, code] of [
      [damaged, 'ERR_STORE_DAMAGED'],
      [foreign, 'ERR_STORE_FOREIGN'],
      ['redis://u:hunter22@127.0.0.1:1', 'ERR_STORE'],
    ] as const) {
      const said = await cli(['doctor', '-o', 'json'], { store })
      expect([store, said.code, said.err]).toEqual([store, 3, ''])
      expect(said.out).not.toMatch(/sluice doctor|hunter22/)
      expect(JSON.parse(said.out)).toMatchObject({
        healthy: false,
        findings: [{ check: 'store', level: 'failure', facts: { code } }],
      })
    }
    // A path that is wrong says nothing of a store, and memory is none.
    expect((await cli(['doctor'], { store: newFile() })).code).toBe(1)
    expect((await cli(['doctor'], { store: 'memory:' })).err).toMatch(/nothing to check.*ERR_USAGE/)
  })

  test('checks Postgres, and exits with 3 if the schema is missing', async () => {
    const store = await postgres.fresh()
    expect(await output(['doctor', '--no-headers'], { store })).toMatch(
      /^schema +ok +the schema is/,
    )
    const bare = await cli(['doctor', '-o', 'json'], { store: postgres.bare() })
    expect(bare.code).toBe(3)
    expect(JSON.parse(bare.out)).toMatchObject({
      healthy: false,
      findings: [{ check: 'schema', level: 'failure' }],
    })
    const away = await cli(['doctor'], { store: 'postgres://u:hunter22@127.0.0.1:1/x' })
    expect(away.code).toBe(3)
    expect(away.out).toContain('ECONNREFUSED')
    expect(away.out + away.err).not.toContain('hunter22')
  })

  test.skipIf(!hasRedis)('checks the queues of a prefix of Redis', async () => {
    const redis = await startRedis()
    onTestFinished(() => redis.dispose())
    const store = `${redis.url}?prefix=shop:&one-slot=true`
    await output(['add', 'orders', 'a'], { store })
    await workOn(store, 'orders', () => {})
    const seen = new AbortController()
    const watch = ['workers', '--no-headers', '-w', '--interval', '100ms']
    await cli(watch, { store, closed: seen.signal, onOut: () => seen.abort() })
    expect(await output(['doctor'], { store })).toMatch(
      /^workers +ok +1 of 1 queues have a worker/m,
    )
  })
})
