import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { SluiceError, systemClock } from '@sluice/core'
import { describe, onTestFinished, test } from 'vitest'
import { FileSource } from '../src/connection/database-source.ts'
import { type Library, type LibraryName, loadLibrary } from '../src/library/library.ts'
import { isSafeVersion } from '../src/library/sqlite-version.ts'
import { scratchFile } from './scratch.ts'
import { ask, askOptions, storeOn } from './store.ts'

const builtIn = process.versions['sqlite'] ?? '0'

/** The library of this Node, as it behaves when its SQLite must not share a file. */
function agedLibrary(): Library {
  const library = loadLibrary('node:sqlite')
  return {
    ...library,
    open(path) {
      const database = library.open(path)
      const prepare = database.prepare.bind(database)
      const aged = (sql: string) =>
        prepare(sql === 'select sqlite_version()' ? "select '3.47.2'" : sql)
      return Object.assign(database, { prepare: aged })
    },
  }
}

/** A driver past the shared connection, as another process would have it. */
function aged(file: string) {
  const { driver, connection } = storeOn(file, { library: agedLibrary() })
  onTestFinished(() => connection.close())
  return driver
}

function isRemedy(error: unknown): boolean {
  return (
    SluiceError.is(error, 'ERR_STORE') &&
    !error.retryable &&
    /is open in another process .* SQLite 3\.\d+\.\d+ .* install better-sqlite3/.test(error.message)
  )
}

test('an old SQLite that meets another connection says so at open, without waiting', async () => {
  const file = scratchFile()
  const first = aged(file)
  await first.open({})
  await assert.rejects(async () => await aged(file).open({}), isRemedy)
  // The first one is not disturbed, and the second can have the file after it.
  await first.add('q', [ask('a')], askOptions)
  await first.close()
  const next = aged(file)
  await next.open({})
  assert.deepEqual((await next.list('q', { limit: 2 })).rows.length, 1)
})

test('an old SQLite takes no database of the program, which it would share with it', async () => {
  const file = scratchFile()
  const library = agedLibrary()
  const database = library.open(file)
  database.exec('pragma journal_mode = wal; create table invoices (id integer primary key)')
  const source = new FileSource({
    ...{ file, library, durability: 'process', migrate: 'apply', mustExist: true },
    ...{ unsafeFilesystem: true, ownership: 'guest' },
  })
  assert.throws(
    () => source.open(systemClock.now()),
    (error) =>
      SluiceError.is(error, 'ERR_STORE') && /^SQLite 3\.47\.2 can damage/.test(error.message),
  )
  database.exec('insert into invoices values (1)')
  database.close()
})

/** A process that opens the file, says how that went, and stays. */
function open(file: string, library: LibraryName): ChildProcess {
  const child = fork(new URL('children/opener.ts', import.meta.url), [file, library], {
    execArgv: ['--conditions=sluice-source', '--experimental-strip-types', '--no-warnings'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

test('an old SQLite does not take a file away that a newer one has open', async () => {
  const file = scratchFile()
  const newer = open(file, 'better-sqlite3')
  assert.deepEqual(await once(newer, 'message'), ['open', undefined])
  await assert.rejects(async () => await aged(file).open({}), isRemedy)
  assert.deepEqual(await once(open(file, 'better-sqlite3'), 'message'), ['open', undefined])
})

// `npm run test:oldest` runs this on a Node whose SQLite is old.
describe.runIf(!isSafeVersion(builtIn))(`SQLite ${builtIn} of this Node`, () => {
  test('a second process is told at open, at once, what to do', async () => {
    const file = scratchFile()
    const first = open(file, 'node:sqlite')
    assert.deepEqual(await once(first, 'message'), ['open', undefined])
    const startedAt = performance.now()
    const [reply] = await once(open(file, 'node:sqlite'), 'message')
    // The wait for a lock is 20 s.
    assert.ok(performance.now() - startedAt < 20_000)
    assert.equal(reply.code, 'ERR_STORE')
    assert.equal(reply.retryable, false)
    assert.ok(reply.message.includes(file) && reply.message.includes(`SQLite ${builtIn}`))
    assert.match(reply.message, /install better-sqlite3/)
    first.send('end')
    await once(first, 'exit')
    assert.deepEqual(await once(open(file, 'node:sqlite'), 'message'), ['open', undefined])
  })
})
