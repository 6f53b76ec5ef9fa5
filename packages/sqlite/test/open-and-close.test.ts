import assert from 'node:assert/strict'
import { once } from 'node:events'
import fs, {
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { dirname, join } from 'node:path'
import { chdir, cwd } from 'node:process'
import { Worker } from 'node:worker_threads'
import { SluiceError, systemClock } from '@sluice/core'
import { examineStore, sqliteDriver } from '@sluice/sqlite'
import Database from 'better-sqlite3'
import { onTestFinished, test } from 'vitest'
import { FileSource } from '../src/connection/database-source.ts'
import { sqliteEnvironment } from '../src/connection/environment.ts'
import { targetOf } from '../src/connection/target.ts'
import { loadLibrary } from '../src/library/library.ts'
import { SqliteDriver } from '../src/sqlite-driver.ts'
import { scratchFile, scratchFolder } from './scratch.ts'
import { ask, askOptions, claimRequest, storeOn } from './store.ts'

/** What this process has open of the folder of a file, as far as the system tells. */
function openBeside(file: string): string[] {
  if (!existsSync('/proc/self/fd')) return []
  const paths = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`)
    } catch {
      // That of the listing itself is closed by now.
      return ''
    }
  })
  const folder = realpathSync(dirname(file))
  return paths.filter((path) => path.startsWith(folder))
}

test('an option that is undefined is absent, also one of the other way to name a store', async () => {
  const file = scratchFile()
  const byFile = sqliteDriver({ file, database: undefined, exclusive: undefined })
  await byFile.open({})
  await byFile.close()
  assert.ok(existsSync(file))
  const database = new Database(file)
  const byDatabase = sqliteDriver({ database, file: undefined, library: undefined })
  await byDatabase.open({})
  await byDatabase.close()
  database.close()
})

test('a new file says in its user_version which schema it has, as programs read it that are older', async () => {
  const file = scratchFile()
  const driver = sqliteDriver({ file })
  await driver.open({})
  await driver.close()
  const database = new Database(file)
  const schema = database.prepare('select max(version) from sluice_schema').pluck().get()
  assert.equal(database.pragma('user_version', { simple: true }), schema)
  database.close()
})

/** A database as TypeScript before 6.0 reads the types of better-sqlite3. */
interface OlderDatabase extends Omit<Database.Database, 'prepare'> {
  prepare(sql: string): Database.Statement<unknown[]> | Database.Statement<[NonNullable<unknown>]>
}

test('a database of better-sqlite3 needs no cast, as older compilers read its types too', async () => {
  const database: OlderDatabase = new Database(':memory:')
  const driver = sqliteDriver({ database, exclusive: true })
  await driver.open({})
  await driver.close()
  database.close()
})

test('options that name no store are refused, with both ways to name one', () => {
  const none = { durability: 'process' } as unknown as Parameters<typeof sqliteDriver>[0]
  assert.throws(() => sqliteDriver(none), {
    code: 'ERR_INVALID_INPUT',
    parameter: 'options',
    message: /must have either file or database/,
  })
})

test('addresses are refused in place of paths', () => {
  for (const file of ['sqlite:./queue.db', 'file:queue.db']) {
    const refusal = { code: 'ERR_INVALID_INPUT', parameter: 'file', message: /must be a path/ }
    assert.throws(() => sqliteDriver({ file }), refusal)
  }
})

test('opening and closing leaves nothing behind', async () => {
  const file = scratchFile()
  const cycle = async (): Promise<void> => {
    const driver = sqliteDriver({ file, durability: 'process' })
    await driver.open({})
    await driver.watch?.(() => {})
    await driver.add('q', [ask('a')], askOptions)
    await driver.close()
  }
  await cycle()
  const resources = process.getActiveResourcesInfo().length
  for (let nth = 0; nth < 100; nth += 1) await cycle()
  assert.deepEqual(openBeside(file), [])
  // The test runner has some of its own that come and go; a hundred of ours would show.
  assert.ok(process.getActiveResourcesInfo().length < resources + 10)
  assert.deepEqual(readdirSync(dirname(file)), ['queue.db'])
})

test('without hard links, the file of one process does not replace that of another', async () => {
  const file = scratchFile()
  const [one, other] = [storeOn(file), storeOn(file)]
  const { linkSync, renameSync } = fs
  const others = [other]
  let openingOther: unknown
  onTestFinished(() => {
    Object.assign(fs, { linkSync, renameSync })
    syncBuiltinESMExports()
  })
  Object.assign(fs, {
    linkSync() {
      throw Object.assign(new Error('made up'), { code: 'EPERM' })
    },
    renameSync(from: string, to: string) {
      const next = others.pop()
      if (next !== undefined) openingOther = next.driver.open({})
      renameSync(from, to)
    },
  })
  syncBuiltinESMExports()
  await one.driver.open({})
  await other.real.step(10)
  await openingOther
  for (const [key, { driver }] of Object.entries({ one, other })) {
    await driver.add('q', [ask(key)], askOptions)
  }
  const { rows } = await one.driver.list('q', { limit: 10 })
  assert.deepEqual(
    rows.map(({ key }) => key),
    ['one', 'other'],
  )
  await one.driver.close()
  await other.driver.close()
  assert.deepEqual(readdirSync(dirname(file)), ['queue.db'])
})

test('a relative path leads to the folder in which the driver was created', async () => {
  const folder = dirname(scratchFile())
  mkdirSync(join(folder, 'elsewhere'))
  const before = cwd()
  onTestFinished(() => chdir(before))
  chdir(folder)
  const driver = sqliteDriver({ file: 'queue.db', durability: 'process' })
  chdir('elsewhere')
  await driver.open({})
  await driver.close()
  assert.deepEqual(readdirSync(folder).sort(), ['elsewhere', 'queue.db'])
  assert.deepEqual(readdirSync('.'), [])
})

test('a relative path is refused where the current directory was removed', async () => {
  const folder = scratchFolder()
  const before = cwd()
  onTestFinished(() => chdir(before))
  chdir(folder)
  rmdirSync(folder)
  assert.throws(() => sqliteDriver({ file: 'queue.db' }), { code: 'ERR_STORE' })
  await assert.rejects(examineStore({ file: 'queue.db' }), { code: 'ERR_STORE' })
  sqliteDriver({ file: join(before, 'queue.db') })
})

test('a link that leads to itself is refused', async () => {
  const file = scratchFile()
  symlinkSync(file, file)
  await assert.rejects(
    async () => await sqliteDriver({ file }).open({}),
    (error) =>
      SluiceError.is(error, 'ERR_STORE') &&
      error.message.startsWith(`${file} cannot be reached: ELOOP`),
  )
})

test('a driver that is not open watches nothing, and takes no part in a transaction', () => {
  const driver = sqliteDriver({ file: scratchFile() })
  for (const call of [() => driver.watch?.(() => {}), () => driver.transact?.({})]) {
    assert.throws(call, (error) => SluiceError.is(error, 'ERR_STORE'))
  }
})

test('a transaction takes part in the file that is open, wherever its link leads by now', async () => {
  const folder = dirname(scratchFile())
  for (const name of ['one', 'two']) mkdirSync(join(folder, name))
  const current = join(folder, 'current')
  symlinkSync('one', current)
  const driver = sqliteDriver({ file: join(current, 'queue.db'), durability: 'process' })
  await driver.open({})
  rmSync(current)
  symlinkSync('two', current)
  const library = loadLibrary(undefined)
  const database = library.open(join(folder, 'one', 'queue.db'))
  database.exec('begin immediate')
  void driver.transact?.(database).add('q', [ask('a')], askOptions)
  database.exec('commit')
  database.close()
  const other = library.open(join(current, 'queue.db'))
  assert.throws(
    () => driver.transact?.(other),
    (error) => SluiceError.is(error, 'ERR_INVALID_INPUT'),
  )
  other.close()
  assert.equal((await driver.claim('q', claimRequest())).claims[0]?.key, 'a')
  await driver.close()
})

test('a thread shares a file as a process does', async () => {
  const file = scratchFile()
  const driver = sqliteDriver({ file, durability: 'process' })
  await driver.open({})
  const woken = new Promise<void>((resolve) => {
    void driver.watch?.(() => resolve())
  })
  const thread = new Worker(new URL('children/thread.ts', import.meta.url), {
    workerData: file,
    execArgv: ['--conditions=sluice-source', '--disable-warning=ExperimentalWarning'],
  })
  await once(thread, 'message')
  await woken
  const { claims } = await driver.claim('q', claimRequest())
  assert.equal(claims[0]?.key, 'of the thread')
  const ended = once(thread, 'exit')
  thread.postMessage('go')
  await ended
  await driver.add('q', [ask('still here')], askOptions)
  await driver.close()
  assert.deepEqual((await examineStore({ file })).findings, [])
})

test('a store can be examined while it is in use, with any settings', async () => {
  const file = scratchFile()
  const driver = sqliteDriver({ file, durability: 'process', library: 'node:sqlite' })
  await driver.open({})
  await driver.add('q', [ask('a')], askOptions)
  const { findings, keys, library } = await examineStore({ file })
  assert.deepEqual({ findings, keys, library }, { findings: [], keys: 1, library: 'node:sqlite' })
  await driver.add('q', [ask('b')], askOptions)
  await driver.close()
})

test('a driver that is opened twice is closed by one close', async () => {
  const file = scratchFile()
  const driver = sqliteDriver({ file })
  await driver.open({})
  await driver.open({})
  await driver.close()
  assert.deepEqual(openBeside(file), [])
})

test('a file that is refused does not stay open', async () => {
  const file = scratchFile()
  const database = new Database(file)
  database.exec('create table invoices (id integer primary key)')
  database.close()
  const driver = sqliteDriver({ file })
  for (let nth = 0; nth < 3; nth += 1) {
    await assert.rejects(
      async () => await driver.open({}),
      (error) => SluiceError.is(error, 'ERR_STORE_FOREIGN'),
    )
  }
  assert.deepEqual(openBeside(file), [])
})

test('a network file system is refused, unless an option allows it', () => {
  const file = scratchFile()
  const settings = {
    file,
    library: loadLibrary(undefined),
    durability: 'process',
    migrate: 'apply',
    mustExist: false,
    unsafeFilesystem: false,
    ownership: 'ours',
  } as const
  const onNetwork = () => 'nfs'
  assert.throws(
    () => new FileSource(settings, onNetwork).open(systemClock.now()),
    (error) => SluiceError.is(error, 'ERR_STORE') && !error.retryable,
  )
  assert.ok(!existsSync(file))
  const source = new FileSource({ ...settings, unsafeFilesystem: true }, onNetwork)
  source.close(source.open(systemClock.now()))
})

test('under an old SQLite the file is for one connection alone', async () => {
  const file = scratchFile()
  // What a Node brings whose SQLite is old; the real one is as safe as can be.
  const old = { ...sqliteEnvironment, builtInSqlite: () => '3.47.2' }
  const { capabilities, transact } = new SqliteDriver(
    targetOf({ file, library: 'node:sqlite' }, old),
  )
  assert.equal(capabilities.shared, false)
  assert.equal(capabilities.transact, false)
  assert.equal(transact, undefined)
  assert.equal(
    new SqliteDriver(targetOf({ file, library: 'better-sqlite3' }, old)).capabilities.shared,
    true,
  )
})

test('a directory that was moved while in use is waited for, as a file is', async () => {
  const folder = join(scratchFolder(), 'queues')
  mkdirSync(folder)
  const file = join(folder, 'queue.db')
  const { driver, real } = storeOn(file)
  await driver.open({})
  renameSync(folder, `${folder}.away`)
  await real.step(1_000)
  const add = async () => await driver.add('q', [ask('a')], askOptions)
  for (const what of [`${file}, or its -wal or -shm, was moved`, `${file} does not exist`]) {
    await assert.rejects(add, (error) => {
      assert.ok(SluiceError.is(error, 'ERR_STORE'), String(error))
      assert.ok(error.message.startsWith(what), error.message)
      return error.retryable
    })
  }
  renameSync(`${folder}.away`, folder)
  assert.equal((await add())[0]?.outcome, 'added')
  await driver.close()
})
