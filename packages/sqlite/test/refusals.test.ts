import assert from 'node:assert/strict'
import fs, {
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type ErrorCode, SluiceError, type SluiceTypeError } from '@sluice/core'
import { examineStore, type SqliteDatabase, sqliteDriver } from '@sluice/sqlite'
import { describe, onTestFinished, test } from 'vitest'
import { networkName } from '../src/connection/network-filesystem.ts'
import { isSafeVersion } from '../src/library/sqlite-version.ts'
import { scratchFile } from './scratch.ts'
import { ask, askOptions, storeOn } from './store.ts'

const Database = createRequire(import.meta.url)('better-sqlite3') as new (
  path: string,
) => SqliteDatabase

async function opened(options: Parameters<typeof sqliteDriver>[0]) {
  const driver = sqliteDriver(options)
  await driver.open({})
  return driver
}

/** Makes a store with one key in it, and closes it. */
async function makeStore(file: string): Promise<void> {
  const driver = await opened({ file })
  await driver.add('q', [ask('a')], askOptions)
  await driver.close()
}

async function refuses(file: string, code: ErrorCode, more: object = {}): Promise<SluiceError> {
  let caught: unknown
  await assert.rejects(
    async () => await opened({ file, ...more }),
    (error) => {
      caught = error
      return true
    },
  )
  assert.ok(SluiceError.is(caught), String(caught))
  assert.equal(caught.code, code, caught.message)
  return caught
}

function change(file: string, sql: string): void {
  const database = new Database(file)
  database.exec(sql)
  database.close()
}

describe('a file is refused', () => {
  test('that is empty', async () => {
    const file = scratchFile()
    writeFileSync(file, '')
    await refuses(file, 'ERR_STORE_DAMAGED')
    assert.equal(statSync(file).size, 0, 'and left as it is')
  })

  test('that is a text', async () => {
    const file = scratchFile()
    writeFileSync(file, 'not a database, but long enough to be read as one '.repeat(100))
    const { message } = await refuses(file, 'ERR_STORE_DAMAGED')
    assert.match(message, /restore a backup, or name another file/)
  })

  test('whose header is flipped', async () => {
    const file = scratchFile()
    await makeStore(file)
    const bytes = readFileSync(file)
    bytes[5] = (bytes[5] ?? 0) ^ 0xff
    writeFileSync(file, bytes)
    await refuses(file, 'ERR_STORE_DAMAGED')
  })

  test('of which only half is there', async () => {
    const file = scratchFile()
    await makeStore(file)
    truncateSync(file, Math.floor(statSync(file).size / 2 / 4096) * 4096)
    const { message } = await refuses(file, 'ERR_STORE_DAMAGED')
    assert.match(message, /damaged/)
  })

  test('that is a database of another program', async () => {
    const file = scratchFile()
    change(file, 'create table invoices (id integer primary key)')
    await refuses(file, 'ERR_STORE_FOREIGN')
    change(file, 'insert into invoices values (1)')
  })

  test('that is a database without anything in it', async () => {
    const file = scratchFile()
    change(file, 'pragma journal_mode = wal; create table t (a); drop table t')
    await refuses(file, 'ERR_STORE_FOREIGN')
  })

  test('that has our mark and nothing else of ours', async () => {
    const file = scratchFile()
    await makeStore(file)
    change(file, 'drop table sluice_schema')
    const { message } = await refuses(file, 'ERR_STORE_DAMAGED')
    assert.match(message, /restore a backup/)
  })

  test('whose schema is newer and would not be understood', async () => {
    const file = scratchFile()
    await makeStore(file)
    change(file, 'insert into sluice_schema values (999, 1, 0)')
    const { message } = await refuses(file, 'ERR_SCHEMA_NEWER')
    assert.match(message, /999, newer than \d+; upgrade @sluice\/sqlite/)
  })

  test('whose user_version says that it is newer', async () => {
    const file = scratchFile()
    await makeStore(file)
    change(file, 'pragma user_version = 999')
    await refuses(file, 'ERR_SCHEMA_NEWER')
  })

  test('not whose schema is newer and harmless', async () => {
    const file = scratchFile()
    await makeStore(file)
    change(file, 'insert into sluice_schema values (999, 0, 0); pragma user_version = 999')
    await (await opened({ file })).close()
  })

  test('not whose schema another process makes newer and harmless while it is opened', async () => {
    for (let isMade = false, at = 1; !isMade; at += 1) {
      const file = scratchFile()
      await makeStore(file)
      const { driver, library } = storeOn(file)
      library.fault.before = () => {
        if (library.statements !== at) return
        change(file, 'insert into sluice_schema values (999, 0, 0); pragma user_version = 999')
      }
      await driver.open({})
      isMade = library.statements < at
      await driver.close()
    }
  })

  test('whose log is there without it', async () => {
    const file = scratchFile()
    writeFileSync(`${file}-wal`, 'perhaps everything that was acknowledged')
    await refuses(file, 'ERR_STORE_DAMAGED')
    assert.ok(!existsSync(file))
  })

  test('not that another process creates and opens between two looks', async () => {
    const [file, made] = [scratchFile(), scratchFile()]
    await makeStore(made)
    const { statSync: look } = fs
    onTestFinished(() => {
      Object.assign(fs, { statSync: look })
      syncBuiltinESMExports()
    })
    const createdElsewhere = (path: fs.PathLike, ...more: unknown[]): unknown => {
      if (path === `${file}-wal` && !existsSync(file)) {
        copyFileSync(made, file)
        const other = new Database(file)
        other.exec('select 1 from sqlite_schema')
        onTestFinished(() => void other.close())
      }
      return Reflect.apply(look, fs, [path, ...more])
    }
    Object.assign(fs, { statSync: createdElsewhere })
    syncBuiltinESMExports()
    const driver = await opened({ file })
    const { rows } = await driver.list('q', { limit: 10 })
    assert.deepEqual(
      rows.map(({ key }) => key),
      ['a'],
    )
    await driver.close()
  })

  test('that is a directory', async () => {
    const file = scratchFile()
    mkdirSync(file)
    await refuses(file, 'ERR_STORE')
  })

  test('that must exist and does not', async () => {
    const file = scratchFile()
    await refuses(file, 'ERR_STORE', { mustExist: true })
    assert.deepEqual(readdirSync(dirname(file)), [])
  })

  test('with an older schema, unless it may be changed', async () => {
    const file = scratchFile()
    const database = new Database(file)
    database.exec('create table mine (id integer primary key)')
    const verify = sqliteDriver({ database, migrate: 'verify' })
    await assert.rejects(
      async () => await verify.open({}),
      (error) => SluiceError.is(error, 'ERR_SCHEMA_OLDER'),
    )
    const apply = sqliteDriver({ database })
    await apply.open({})
    await apply.close()
    await verify.open({})
    await verify.close()
    database.close()
  })
})

test('a missing directory is a retryable error: once it exists, opening succeeds', async () => {
  const file = join(dirname(scratchFile()), 'not', 'there', 'queue.db')
  const driver = sqliteDriver({ file })
  await assert.rejects(
    async () => await driver.open({}),
    (error) => SluiceError.is(error, 'ERR_STORE') && error.retryable,
  )
  mkdirSync(dirname(file), { recursive: true })
  await driver.open({})
  await driver.close()
})

test('a link to a file that does not exist yet leads to the new file', async () => {
  const folder = dirname(scratchFile())
  const link = join(folder, 'link.db')
  mkdirSync(join(folder, 'data'))
  symlinkSync(join('data', 'queue.db'), link)
  const one = await opened({ file: link })
  const two = await opened({ file: join(folder, 'data', 'queue.db') })
  await one.add('q', [ask('a')], askOptions)
  assert.deepEqual(await two.queues?.(), ['q'])
  await one.close()
  await two.close()
  assert.deepEqual(readdirSync(folder).sort(), ['data', 'link.db'])
  assert.deepEqual(readdirSync(join(folder, 'data')), ['queue.db'])
})

test('a new file is for its owner only, and no other file is left', async () => {
  const file = scratchFile()
  const driver = await opened({ file })
  assert.equal(statSync(file).mode & 0o777, 0o600)
  await driver.close()
  assert.deepEqual(readdirSync(dirname(file)), ['queue.db'])
})

test('a damaged page is not seen when opening, and is when examining', async () => {
  const file = scratchFile()
  const driver = await opened({ file })
  const keys = Array.from({ length: 1_000 }, (_, index) => ask(`key ${index}`))
  await driver.add('q', keys, askOptions)
  await driver.close()
  assert.deepEqual((await examineStore({ file })).findings, [])
  const handle = openSync(file, 'r+')
  writeSync(handle, Buffer.alloc(2_000, 0xaa), 0, 2_000, 20 * 4096)
  const { findings } = await examineStore({ file })
  assert.ok(findings.length > 0)
})

test('an examination finds what the tables allow and keys do not', async () => {
  const file = scratchFile()
  const driver = await opened({ file })
  await driver.add('q', [ask('a'), ask('b')], askOptions)
  await driver.claim('q', { limit: 2, holder: 'h', claimId: 'c', leaseMs: 1_000 })
  await driver.close()
  const report = await examineStore({ file })
  assert.deepEqual(report.findings, [])
  assert.equal(report.keys, 2)
  change(
    file,
    `update sluice_queues set pending = 7;
     update sluice_keys set token = 9e15, holder = 99;
     insert into sluice_keys (queue, key) values (99, 'lost')`,
  )
  const { findings } = await examineStore({ file })
  for (const expected of [
    /queue q counts 7 pending keys/,
    /key a has token .*never given out/,
    /token .* holds 2 keys/,
    /key b is held by an unknown holder/,
    /key lost belongs to no queue/,
    /key lost has nothing to be remembered for/,
  ]) {
    assert.ok(
      findings.some((finding) => expected.test(finding)),
      `${expected} in ${findings.join('; ')}`,
    )
  }
})

test('the drivers of one file share a connection, through any path', async () => {
  const file = scratchFile()
  const one = await opened({ file })
  symlinkSync(file, `${file}.link`)
  const two = await opened({ file: `${file}.link` })
  await one.add('q', [ask('a')], askOptions)
  assert.deepEqual(await two.queues?.(), ['q'])
  await refuses(file, 'ERR_STORE', { durability: 'process' })
  await refuses(file, 'ERR_STORE', { library: 'node:sqlite' })
  await one.close()
  assert.deepEqual(await two.queues?.(), ['q'], 'until the last one closes')
  await two.close()
  await (await opened({ file, durability: 'process', library: 'node:sqlite' })).close()
})

test('a copy of a store continues where the store was', async () => {
  const file = scratchFile()
  await makeStore(file)
  copyFileSync(file, `${file}.copy`)
  const driver = await opened({ file: `${file}.copy` })
  const { claims } = await driver.claim('q', {
    limit: 1,
    holder: 'h',
    claimId: 'c',
    leaseMs: 1_000,
  })
  assert.equal(claims[0]?.key, 'a')
  await driver.close()
  rmSync(`${file}.copy`)
})

describe('options', () => {
  const bad: readonly [string, unknown][] = [
    ['file', { file: '' }],
    ['file', { file: 5 }],
    ['file', { file: ':memory:' }],
    ['file', { file: 'a\0b' }],
    ['durability', { file: 'a', durability: 'full' }],
    ['library', { file: 'a', library: 'sqlite3' }],
    ['migrate', { file: 'a', migrate: true }],
    ['lockWaitMs', { file: 'a', lockWaitMs: -1 }],
    ['database', { database: {} }],
    ['exclusive', { database: new Database(':memory:') }],
    ['fil', { fil: 'a' }],
  ]
  for (const [parameter, options] of bad) {
    test(`${parameter} of ${JSON.stringify(Object.values(options as object)[0])}`, () => {
      assert.throws(
        () => sqliteDriver(options as never),
        (error) =>
          SluiceError.is(error, 'ERR_INVALID_INPUT') &&
          (error as unknown as SluiceTypeError).parameter === parameter,
      )
    })
  }
})

test('a connection that is closed is refused as an argument', async () => {
  for (const Class of [Database, DatabaseSync as unknown as typeof Database]) {
    const database = new Class(scratchFile())
    const driver = await opened({ database, exclusive: true })
    database.close()
    const calls: [string, () => unknown][] = [
      ['database', () => sqliteDriver({ database })],
      ['database', () => sqliteDriver({ database, exclusive: true })],
      ['transaction', () => driver.transact?.(database)],
    ]
    for (const [parameter, call] of calls) {
      assert.throws(call, { code: 'ERR_INVALID_INPUT', parameter })
    }
  }
})

test('a path that ends with white space is refused: better-sqlite3 opens the file without it', () => {
  for (const space of [' ', '\n', '\u00a0']) {
    assert.throws(
      () => sqliteDriver({ file: `queue.db${space}` }),
      (error) => SluiceError.is(error, 'ERR_INVALID_INPUT'),
    )
  }
  // Elsewhere in a path it is a part of the name.
  sqliteDriver({ file: ' my folder /my queue.db' })
})

test('file systems of a network are known by their numbers', () => {
  assert.equal(networkName(0x6969), 'nfs')
  assert.equal(networkName(0xff534d42), 'cifs')
  // As statfs gives it where the number is a signed one.
  assert.equal(networkName(0xff534d42 | 0), 'cifs')
  assert.equal(networkName(0xef53), undefined)
})

test('versions of SQLite that damage shared files are known', () => {
  assert.deepEqual(['3.51.2', '3.51.3', '3.50.9', '3.52.0', '4.0.0', '3.7.0'].map(isSafeVersion), [
    false,
    true,
    false,
    true,
    true,
    false,
  ])
})
