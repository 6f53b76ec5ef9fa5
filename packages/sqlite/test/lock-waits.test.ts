import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { SluiceError, systemClock } from '@sluice/core'
import { sqliteDriver } from '@sluice/sqlite'
import { test, vi } from 'vitest'
import type { SqliteDatabase } from '../src/library/database.ts'
import { type Fault, FaultyLibrary, sqliteError } from './faulty-library.ts'
import { scratchFile } from './scratch.ts'
import { ask, askOptions, claimRequest, storeOn } from './store.ts'

const Database = createRequire(import.meta.url)('better-sqlite3')

/** Lets statements fail with an error. */
function failing(pattern: RegExp, code: string): Fault {
  return {
    before(sql) {
      if (pattern.test(sql)) throw sqliteError(code)
    },
  }
}

/** A store of which every write meets a lock while `isLocked`. */
async function lockedStore() {
  const store = storeOn(scratchFile())
  await store.driver.open({})
  const lock = { isLocked: true, code: 'SQLITE_BUSY' }
  store.library.fault = {
    before(sql) {
      if (lock.isLocked && sql === 'begin immediate') throw sqliteError(lock.code)
    },
  }
  return { ...store, lock }
}

test('a write does not overtake one that waits, when the lock is free by then', async () => {
  const { driver, real, lock } = await lockedStore()
  const first = driver.add('q', [{ ...ask('a'), item: '1' }], askOptions)
  lock.isLocked = false
  const second = driver.add('q', [{ ...ask('a'), item: '2' }], askOptions)
  await real.step(10)
  await Promise.all([first, second])
  const { claims } = await driver.claim('q', claimRequest())
  assert.deepEqual(
    claims.map(({ item }) => item),
    ['2'],
  )
  await driver.close()
})

test('after a long wait, the next one begins with short pauses again', async () => {
  const { driver, real, lock } = await lockedStore()
  const first = driver.add('q', [ask('a')], askOptions)
  await real.step(2_000)
  lock.isLocked = false
  await real.step(100)
  await first
  lock.isLocked = true
  let isAdded = false
  const second = (async () => {
    await driver.add('q', [ask('b')], askOptions)
    isAdded = true
  })()
  lock.isLocked = false
  await real.step(5)
  assert.ok(isAdded)
  await second
  await driver.close()
})

test('a write that fails otherwise after a wait rejects at once, and so do those behind it', async () => {
  const { driver, real, lock } = await lockedStore()
  const errors: unknown[] = []
  const adds = ['a', 'b'].map(async (key) => {
    await Promise.resolve(driver.add('q', [ask(key)], askOptions)).catch((error: unknown) => {
      errors.push(error)
    })
  })
  lock.code = 'SQLITE_FULL'
  await real.step(10)
  await Promise.all(adds)
  assert.deepEqual(
    errors.map((error) => (error as { code?: unknown }).code),
    ['ERR_STORE_FULL', 'ERR_STORE_FULL'],
  )
  lock.isLocked = false
  assert.equal((await driver.add('q', [ask('c')], askOptions)).length, 1)
  await driver.close()
})

test('writes that waited let other work have a turn after 20 ms', async () => {
  const { driver, real, library, lock } = await lockedStore()
  const done: string[] = []
  const adds = ['a', 'b', 'c'].map(async (key) => {
    await driver.add('q', [ask(key)], askOptions)
    done.push(key)
  })
  lock.isLocked = false
  let nowMs = 0
  vi.spyOn(real, 'monotonicMs').mockImplementation(() => nowMs)
  library.fault = {
    before(sql) {
      if (sql === 'begin immediate') nowMs += 21
    },
  }
  await real.step(4)
  assert.deepEqual(done, ['a'])
  await real.step(4)
  assert.deepEqual(done, ['a', 'b'])
  await real.step(4)
  await Promise.all(adds)
  await driver.close()
})

test('the last token is read at once while the lock is held', async () => {
  const { driver } = await lockedStore()
  assert.equal(typeof driver.transfer.lastToken(), 'number')
  await driver.close()
})

test('a process does not end while its write waits for a lock', async () => {
  const file = scratchFile()
  const driver = sqliteDriver({ file })
  await driver.open({})
  await driver.close()
  const holder = new Database(file) as SqliteDatabase
  holder.exec('begin immediate')
  const child = spawn(
    process.execPath,
    [
      ...['--conditions=sluice-source', '--disable-warning=ExperimentalWarning'],
      fileURLToPath(new URL('children/waiting-add.ts', import.meta.url)),
      file,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  let said = ''
  let isLocked = true
  child.stdout.on('data', (chunk) => {
    said += String(chunk)
    if (!isLocked || !said.startsWith('tries\n'.repeat(4))) return
    isLocked = false
    holder.exec('commit')
  })
  await new Promise((resolve) => child.once('close', resolve))
  holder.close()
  assert.match(said, /^(tries\n){4,}added\n$/)
})

test('a write that has waited wakes the watchers of its process', async () => {
  const { driver, real, lock } = await lockedStore()
  const woken: (string | undefined)[] = []
  driver.watch((queue) => woken.push(queue))
  const adding = driver.add('q', [ask('a')], askOptions)
  lock.isLocked = false
  await real.step(10)
  await adding
  assert.deepEqual(woken, ['q'])
  await driver.close()
})

test('an examination does not wait behind a write, and fails with an error of the store', async () => {
  const { driver, connection } = await lockedStore()
  const adding = assert.rejects(async () => await driver.add('q', [ask('a')], askOptions))
  assert.equal(
    connection.look(systemClock, () => 'seen'),
    'seen',
  )
  const failing = async () =>
    await connection.look(systemClock, () => {
      throw sqliteError('SQLITE_IOERR')
    })
  await assert.rejects(failing, (error) => SluiceError.is(error, 'ERR_STORE') && error.retryable)
  await driver.close()
  await adding
})

test('a transaction of the caller is never rolled back, also after one of the driver had to be', async () => {
  const library = new FaultyLibrary()
  const database = library.open(':memory:')
  const driver = sqliteDriver({ database, exclusive: true })
  await driver.open({})
  const add = async () => await driver.add('q', [ask('a')], askOptions)
  library.fault = failing(/^(insert into sluice_keys|rollback)/, 'SQLITE_NOMEM')
  await assert.rejects(add)
  library.fault = {}
  await add()
  // The next call opens the store again.
  library.fault = failing(/^begin/, 'SQLITE_IOERR')
  await assert.rejects(add)
  library.fault = {}
  database.exec('begin; create table mine (value)')
  const adding = add()
  database.exec('commit')
  assert.equal((await adding)[0]?.outcome, 'unchanged')
  database.exec('select * from mine')
  await driver.close()
  database.close()
})

test.each([
  ['a file', (file: string, lockWaitMs: number) => sqliteDriver({ file, lockWaitMs })],
  [
    'the file of a database',
    (file: string, lockWaitMs: number) =>
      sqliteDriver({ database: new Database(file), lockWaitMs }),
  ],
  [
    'a database that is exclusive',
    (file: string, lockWaitMs: number) =>
      sqliteDriver({ database: new Database(file), exclusive: true, lockWaitMs }),
  ],
])('lockWaitMs is how long a write waits: %s', async (_, driverOn) => {
  const file = scratchFile()
  const driver = driverOn(file, 20)
  await driver.open({})
  const holder = new Database(file) as SqliteDatabase
  holder.exec('begin immediate')
  const startedAt = performance.now()
  const add = async () => await driver.add('q', [ask('a')], askOptions)
  await assert.rejects(add, (error) => SluiceError.is(error, 'ERR_STORE_BUSY'))
  // real time: by default, it waits for 20 s.
  assert.ok(performance.now() - startedAt < 15_000)
  holder.close()
  await driver.close()
})
