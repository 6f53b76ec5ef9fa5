import assert from 'node:assert/strict'
import { cpSync, existsSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { SluiceError } from '@sluice/core'
import { type LibraryName, type SqliteDatabase, sqliteDriver } from '@sluice/sqlite'
import { describe, test } from 'vitest'
import { scratchFile, scratchFolder } from './scratch.ts'
import { ask, askOptions, claimRequest } from './store.ts'

const requireHere = createRequire(import.meta.url)

function connect(library: LibraryName, path: string): SqliteDatabase {
  if (library === 'better-sqlite3') return new (requireHere(library))(path)
  return new (requireHere(library).DatabaseSync)(path)
}

/** A connection on which every whole number of a row arrives as a bigint. */
function connectWithBigInts(library: LibraryName, path: string): SqliteDatabase {
  const options = { readBigInts: true, returnArrays: true }
  if (library === 'node:sqlite') return new (requireHere(library).DatabaseSync)(path, options)
  const database = connect(library, path)
  return (database as unknown as { defaultSafeIntegers(): SqliteDatabase }).defaultSafeIntegers()
}

function firstValue(database: SqliteDatabase, sql: string): unknown {
  return Object.values(database.prepare(sql).get() as object)[0]
}

function count(database: SqliteDatabase): unknown {
  return (database.prepare('select count(*) as n from invoices').get() as { n: unknown }).n
}

for (const library of ['better-sqlite3', 'node:sqlite'] as const) {
  describe(`in a database of the program's own, ${library}`, () => {
    const setUp = async () => {
      const database = connect(library, scratchFile())
      database.exec('create table invoices (id integer primary key)')
      const driver = sqliteDriver({ database, durability: 'process' })
      await driver.open({})
      return { database, driver }
    }

    test('that was removed, no other file is made in its place', async () => {
      const file = scratchFile()
      const database = connect(library, file)
      database.exec('create table invoices (id integer primary key)')
      const driver = sqliteDriver({ database, durability: 'process' })
      rmSync(file)
      await assert.rejects(
        async () => await driver.open({}),
        (error) => SluiceError.is(error, 'ERR_STORE') && /does not exist/.test(error.message),
      )
      assert.ok(!existsSync(file))
      database.close()
    })

    test('whose own table has the name of one of ours, no transaction is left open', async () => {
      const database = connect(library, scratchFile())
      database.exec('create table sluice_keys (id integer primary key)')
      const driver = sqliteDriver({ database, exclusive: true })
      await assert.rejects(async () => await driver.open({}), /sluice_keys already exists/)
      database.exec('begin; insert into sluice_keys values (1); commit')
      database.close()
    })

    test('the keys are stored next to its tables, and its application_id stays', async () => {
      const { database, driver } = await setUp()
      assert.equal(
        (database.prepare('pragma application_id').get() as Record<string, unknown>)[
          'application_id'
        ],
        0,
      )
      await driver.add('q', [ask('a')], askOptions)
      assert.equal(
        (database.prepare('select key from sluice_keys').get() as { key: unknown }).key,
        'a',
      )
      await driver.close()
      database.close()
    })

    test('a connection that is closed after its transaction does no harm', async () => {
      const file = scratchFile()
      const driver = sqliteDriver({ file, library, durability: 'process' })
      await driver.open({})
      const woken = new Promise<void>((resolve) => {
        void driver.watch?.(() => resolve())
      })
      const database = connect(library, file)
      database.exec('begin immediate')
      void driver.transact?.(database).add('q', [ask('a')], askOptions)
      database.exec('commit')
      database.close()
      await woken
      await driver.close()
    })

    test.each([false, true])(
      'whose own queries give bigints (exclusive: %s)',
      async (exclusive) => {
        const database = connectWithBigInts(library, scratchFile())
        const driver = sqliteDriver({ database, exclusive, durability: 'process' })
        await driver.open({})
        database.exec('begin immediate')
        void driver.transact?.(database).add('q', [ask('a'), ask('b')], askOptions)
        database.exec('commit')
        const { claims } = await driver.claim('q', claimRequest(2))
        assert.deepEqual(
          claims.map(({ key, token }) => [key, typeof token]),
          [
            ['a', 'number'],
            ['b', 'number'],
          ],
        )
        assert.equal(typeof firstValue(database, 'select 1'), 'bigint', 'its setting stays')
        await driver.close()
        database.close()
      },
    )

    test.each(['full_column_names = on', 'short_column_names = off'])(
      'that names columns otherwise is refused, and keeps its setting (%s)',
      async (setting) => {
        const file = scratchFile()
        const database = connect(library, file)
        database.exec(`pragma ${setting}`)
        const [name = ''] = setting.split(' ')
        const before = firstValue(database, `pragma ${name}`)
        const exclusive = sqliteDriver({ database, exclusive: true })
        const isRefused = (error: unknown) =>
          SluiceError.is(error, 'ERR_INVALID_INPUT') && error.message.includes(`pragma ${name}`)
        await assert.rejects(async () => await exclusive.open({}), isRefused)
        const guest = sqliteDriver({ database, durability: 'process' })
        await guest.open({})
        await guest.add('q', [ask('a')], askOptions)
        database.exec('begin immediate')
        const add = () => guest.transact?.(database).add('q', [ask('b')], askOptions)
        assert.throws(add, isRefused)
        assert.equal(firstValue(database, `pragma ${name}`), before)
        database.exec('pragma full_column_names = off; pragma short_column_names = on')
        assert.ok(add())
        database.exec('commit')
        await guest.close()
        database.close()
      },
    )

    test('a rollback takes everything back, and a commit keeps it', async () => {
      const { database, driver } = await setUp()
      const write = () => {
        database.exec('insert into invoices (id) values (null)')
        const verbs = driver.transact?.(database)
        const replies = verbs?.add('q', [ask('a'), ask('b')], askOptions)
        assert.ok(Array.isArray(replies), 'it answers at once')
      }
      database.exec('begin immediate')
      write()
      database.exec('rollback')
      assert.equal(count(database), 0)
      assert.deepEqual(await driver.queues?.(), [])
      database.exec('begin immediate')
      write()
      database.exec('commit')
      assert.equal(count(database), 1)
      const { claims } = await driver.claim('q', claimRequest(10))
      assert.deepEqual(
        claims.map(({ key }) => key),
        ['a', 'b'],
      )
      await driver.close()
      database.close()
    })

    test('watchers are called when it commits', async () => {
      const { database, driver } = await setUp()
      const woken = new Promise<string | undefined>((resolve) => {
        void driver.watch?.((queue) => resolve(queue))
      })
      database.exec('begin immediate')
      void driver.transact?.(database).add('q', [ask('a')], askOptions)
      database.exec('commit')
      assert.equal(await woken, undefined)
      await driver.close()
      database.close()
    })

    test('a lost lease is thrown, and nothing of that step stays', async () => {
      const { database, driver } = await setUp()
      await driver.add('q', [ask('a'), ask('b')], askOptions)
      const [a, b] = (await driver.claim('q', claimRequest(2))).claims
      assert.ok(a && b)
      const done = (key: string, token: number) =>
        ({ as: 'done', key, token, forget: false }) as const
      database.exec('begin immediate')
      const verbs = driver.transact?.(database)
      assert.throws(
        () => verbs?.finish('q', [done('a', a.token), done('b', b.token + 1)], askOptions),
        (error) => SluiceError.is(error, 'ERR_LEASE_LOST'),
      )
      database.exec('commit')
      const [reply] = await driver.finish('q', [done('a', a.token)], askOptions)
      assert.equal(reply?.outcome, 'idle', 'the key is still held under its token')
      await driver.close()
      database.close()
    })

    test('a transaction has to have begun, and on this file', async () => {
      const { database, driver } = await setUp()
      assert.throws(
        () => driver.transact?.(database).add('q', [ask('a')], askOptions),
        (error) => SluiceError.is(error, 'ERR_INVALID_INPUT'),
      )
      const other = connect(library, scratchFile())
      assert.throws(
        () => driver.transact?.(other),
        (error) => SluiceError.is(error, 'ERR_INVALID_INPUT'),
      )
      assert.throws(
        () => driver.transact?.({}),
        (error) => SluiceError.is(error, 'ERR_INVALID_INPUT'),
      )
      other.close()
      await driver.close()
      database.close()
    })
  })

  test(`a call that cannot succeed in its transaction is not retryable, ${library}`, async () => {
    const file = scratchFile()
    const driver = sqliteDriver({ file, library, durability: 'process' })
    await driver.open({})
    const database = connect(library, file)
    const add = () => driver.transact?.(database).add('q', [ask('a')], askOptions)
    const isFinal = (text: RegExp) => (error: unknown) =>
      SluiceError.is(error, 'ERR_STORE') && !error.retryable && text.test(error.message)
    database.exec('begin')
    firstValue(database, 'select count(*) from sluice_keys')
    await driver.add('q', [ask('b')], askOptions)
    assert.throws(add, isFinal(/since this transaction read it; roll back/))
    database.exec('rollback; pragma query_only = on; begin')
    assert.throws(add, isFinal(/cannot write/))
    database.exec('rollback; pragma query_only = off; begin immediate')
    assert.ok(add())
    database.exec('commit')
    await driver.close()
    database.close()
  })

  test(`a connection of another library is refused, ${library}`, async () => {
    const file = scratchFile()
    const driver = sqliteDriver({ file, library, durability: 'process' })
    await driver.open({})
    const other = library === 'node:sqlite' ? 'better-sqlite3' : 'node:sqlite'
    const database = connect(other, file)
    database.exec('begin immediate')
    assert.throws(
      () => driver.transact?.(database).add('q', [ask('a')], askOptions),
      (error) =>
        SluiceError.is(error, 'ERR_STORE') &&
        error.message.includes(`of ${other}, and`) &&
        error.message.includes("two copies of SQLite in one process drop each other's locks"),
    )
    database.exec('rollback')
    assert.deepEqual(await driver.queues?.(), [])
    await driver.close()
    database.close()
  })

  test(`an exclusive database wakes and waits for transactions of others, ${library}`, async () => {
    const database = connect(library, ':memory:')
    const driver = sqliteDriver({ database, exclusive: true })
    await driver.open({})
    let wakes = 0
    const woken = new Promise<void>((resolve) => {
      void driver.watch?.(() => {
        wakes += 1
        resolve()
      })
    })
    database.exec('begin')
    void driver.transact?.(database).add('q', [ask('a')], askOptions)
    const adding = driver.add('q', [ask('b')], askOptions)
    assert.ok(adding instanceof Promise, 'it waits, as for a lock')
    assert.equal(wakes, 0)
    database.exec('commit')
    await woken
    await adding
    const { claims } = await driver.claim('q', claimRequest(10))
    assert.deepEqual(
      claims.map(({ key }) => key),
      ['a', 'b'],
    )
    await driver.close()
    database.exec('select 1')
    database.close()
  })
}

test('an exclusive database waits for a query of others that is not read to its end', async () => {
  const database = connect('better-sqlite3', ':memory:')
  const driver = sqliteDriver({ database, exclusive: true })
  await driver.open({})
  const query = database.prepare('values (1), (2)') as unknown as { iterate(): Iterator<unknown> }
  const rows = query.iterate()
  rows.next()
  const adding = driver.add('q', [ask('a')], askOptions)
  const claiming = driver.claim('q', claimRequest())
  rows.return?.()
  assert.deepEqual(
    (await adding).map(({ outcome }) => outcome),
    ['added'],
  )
  await claiming
  await driver.close()
  database.close()
})

test('a connection of another copy of the library is refused', async () => {
  const installed = dirname(requireHere.resolve('better-sqlite3/package.json'))
  const copied = join(scratchFolder(), 'better-sqlite3')
  // Without the sources of SQLite, which are long.
  cpSync(installed, copied, { recursive: true, filter: (path) => !path.includes('/deps') })
  const OtherDatabase = createRequire(join(copied, 'package.json'))(copied) as new (
    path: string,
  ) => SqliteDatabase
  const file = scratchFile()
  const driver = sqliteDriver({ file, library: 'better-sqlite3', durability: 'process' })
  await driver.open({})
  const database = new OtherDatabase(file)
  assert.throws(
    () => driver.transact?.(database),
    (error) =>
      SluiceError.is(error, 'ERR_STORE') &&
      error.message.includes('another copy of better-sqlite3'),
  )
  const guest = sqliteDriver({ database, durability: 'process' })
  await assert.rejects(
    async () => await guest.open({}),
    (error) => SluiceError.is(error, 'ERR_STORE') && error.message.includes('library'),
  )
  await driver.close()
  database.close()
})

test('a connection of a subclass of the library takes part', async () => {
  class OwnDatabase extends (requireHere('better-sqlite3') as new (
    path: string,
  ) => SqliteDatabase) {}
  const file = scratchFile()
  const driver = sqliteDriver({ file, library: 'better-sqlite3', durability: 'process' })
  await driver.open({})
  const database = new OwnDatabase(file)
  database.exec('begin immediate')
  void driver.transact?.(database).add('q', [ask('a')], askOptions)
  database.exec('commit')
  assert.equal((await driver.claim('q', claimRequest())).claims[0]?.key, 'a')
  await driver.close()
  database.close()
})
