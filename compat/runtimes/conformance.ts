// `conformance.ts memory | sqlite LIBRARY | postgres URL`: the conformance suite on the runtime that runs
// this file. Prints what failed and one line of counts; the exit code says whether all passed.
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import {
  type CreateSubject,
  failureText,
  runCases,
  type Subject,
} from '../../packages/conformance/src/index.ts'
import { fakeClock } from '../../packages/core/src/testing/index.ts'
import { memoryDriver } from '../../packages/memory/src/index.ts'

const [kind = '', where = ''] = process.argv.slice(2)

const onMemory = (): Subject => ({ driver: memoryDriver(), clock: fakeClock() })

async function onSqlite(): Promise<CreateSubject> {
  const { sqliteDriver } = await import('../../packages/sqlite/src/index.ts')
  const library = where === 'better-sqlite3' ? where : 'node:sqlite'
  const requireThere = createRequire(new URL('../../packages/sqlite/package.json', import.meta.url))
  const open = (path: string) => {
    const loaded = requireThere(library)
    return library === 'better-sqlite3' ? new loaded(path) : new loaded.DatabaseSync(path)
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

const subjects: Readonly<Record<string, () => CreateSubject | Promise<CreateSubject>>> = {
  memory: () => onMemory,
  sqlite: onSqlite,
  postgres: onPostgres,
}
const create = await subjects[kind]?.()
if (create === undefined) throw new Error(`name one of ${Object.keys(subjects).join(', ')}`)

// A rejection that is handled only later, as some cases do, is none; one that is never handled is.
const unhandled = new Set<Promise<unknown>>()
process.on('unhandledRejection', (_, promise) => void unhandled.add(promise))
process.on('rejectionHandled', (promise) => void unhandled.delete(promise))

const counts = { passed: 0, failed: 0, skipped: 0 }
const options = {
  timeoutMs: 60_000,
  chance: { modelRuns: 20, histories: 3 },
  ...(kind === 'postgres' && {
    except: { 'clock.back.later-process': 'the time that is kept is the server’s' },
  }),
}
for await (const result of runCases(create, options)) {
  if (result.verdict === 'failed') {
    counts.failed += 1
    console.error(failureText(result))
  } else if (result.verdict === 'passed' || result.verdict === 'excepted') counts.passed += 1
  else counts.skipped += 1
}
counts.failed += unhandled.size
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`)
process.exit(counts.failed === 0 && counts.passed > 100 ? 0 : 1)
