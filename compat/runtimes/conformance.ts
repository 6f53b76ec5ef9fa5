// `conformance.ts memory | sqlite LIBRARY | postgres URL | redis LIBRARY URL`: the conformance suite on the
// runtime that runs this file. Prints what failed and one line of counts; the exit code says whether all passed.
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import type { CreateSubject } from '../../packages/conformance/src/index.ts'
import { fakeClock } from '../../packages/core/src/testing/index.ts'
import { type Examined, examined, examinedInMemory, report } from './suite.ts'

const [kind = '', where = '', url = ''] = process.argv.slice(2)

const libraries = ['better-sqlite3', 'node:sqlite', 'bun:sqlite'] as const

async function onSqlite(): Promise<CreateSubject> {
  const { sqliteDriver } = await import('../../packages/sqlite/src/index.ts')
  const library = libraries.find((name) => name === where) ?? 'node:sqlite'
  const requireThere = createRequire(new URL('../../packages/sqlite/package.json', import.meta.url))
  const open = (path: string) => {
    const loaded = requireThere(library)
    const { Database = loaded, DatabaseSync = Database } = loaded
    return new DatabaseSync(path)
  }
  return () => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-runtimes-'))
    const file = join(folder, 'queue.db')
    const make = () => sqliteDriver({ file, library, durability: 'process' })
    let callers: ReturnType<typeof open> | undefined
    return {
      driver: make(),
      clock: fakeClock(),
      restart: make,
      peer: make,
      begin() {
        callers ??= open(file)
        const database = callers
        database.exec('begin immediate')
        return {
          handle: database,
          commit: () => void database.exec('commit'),
          rollback: () => void database.exec('rollback'),
        }
      },
      dispose() {
        callers?.close()
        rmSync(folder, { recursive: true, force: true })
      },
    }
  }
}

async function onPostgres(): Promise<CreateSubject> {
  const { postgresDriver } = await import('../../packages/postgres/src/index.ts')
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({ connectionString: where, max: 8 })
  const free: string[] = []
  let made = 0
  return () => {
    made += 1
    const schema = free.pop() ?? `runtime_${process.pid}_${made}`
    const make = () => postgresDriver({ pool, schema, onWarning() {} })
    return {
      driver: make(),
      clock: fakeClock(),
      restart: make,
      peer: make,
      async begin() {
        const client = new pg.Client({ connectionString: where })
        await client.connect()
        await client.query('begin')
        const end = async (how: string): Promise<void> => {
          await client.query(how)
          await client.end()
        }
        return { handle: client, commit: () => end('commit'), rollback: () => end('rollback') }
      },
      async dispose() {
        const { rows } = await pool.query<{ name: string }>(
          "select tablename as name from pg_tables where schemaname = $1 and tablename <> 'migrations'",
          [schema],
        )
        await pool.query(rows.map(({ name }) => `delete from ${schema}.${name}`).join('; '))
        free.push(schema)
      },
    }
  }
}

async function onRedis(): Promise<CreateSubject> {
  const { redisDriver } = await import('../../packages/redis/src/index.ts')
  const library = where === 'ioredis' ? where : 'redis'
  let made = 0
  return () => {
    made += 1
    const prefix = `runtime-${process.pid}-${made}:`
    const make = () => redisDriver({ url, library, prefix })
    return { driver: make(), clock: fakeClock(), restart: make, peer: make }
  }
}

// A rejection that is handled only later, as some cases do, is none; one that is never handled is.
const unhandled = new Set<Promise<unknown>>()
process.on('unhandledRejection', (_, promise) => void unhandled.add(promise))
process.on('rejectionHandled', (promise) => void unhandled.delete(promise))

const kinds: Readonly<Record<string, () => Promise<Examined>>> = {
  memory: examinedInMemory,
  sqlite: async () => await examined(await onSqlite()),
  postgres: async () =>
    await examined(await onPostgres(), {
      except: { 'clock.back.later-process': 'the time that is kept is the server’s' },
    }),
  redis: async () => await examined(await onRedis()),
}
const result = await kinds[kind]?.()
if (result === undefined) throw new Error(`name one of ${Object.keys(kinds).join(', ')}`)
console.log(report(result))
if (unhandled.size > 0) console.error(`${unhandled.size} rejections were not handled`)
process.exit(result.failures.length === 0 && unhandled.size === 0 && result.passed > 100 ? 0 : 1)
