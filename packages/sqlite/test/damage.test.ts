import assert from 'node:assert/strict'
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { type ErrorCode, SluiceError } from '@sluice/core'
import { examineStore, type SqliteDatabase, sqliteDriver } from '@sluice/sqlite'
import * as fc from 'fast-check'
import { describe, test } from 'vitest'
import { findingsIn } from '../src/connection/database-source.ts'
import { sqliteError } from './faulty-library.ts'
import { scratchFile } from './scratch.ts'
import { ask, askOptions, claimRequest, storeOn } from './store.ts'

const runs = Number(process.env['SLUICE_DAMAGE_RUNS'] ?? 60)
const pageBytes = 4_096

type Damage =
  | { readonly kind: 'flips'; readonly at: readonly number[]; readonly mask: number }
  | { readonly kind: 'zeroed page' | 'page of noise'; readonly page: number }
  | { readonly kind: 'cut'; readonly share: number }

const damage: fc.Arbitrary<Damage> = fc.oneof(
  fc.record({
    kind: fc.constant('flips' as const),
    at: fc.array(fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), {
      minLength: 1,
      maxLength: 30,
    }),
    mask: fc.integer({ min: 1, max: 255 }),
  }),
  fc.record({
    kind: fc.constantFrom('zeroed page' as const, 'page of noise' as const),
    page: fc.nat(40),
  }),
  fc.record({
    kind: fc.constant('cut' as const),
    share: fc.double({ min: 0.01, max: 0.99, noNaN: true }),
  }),
)

function damaged(whole: Buffer, how: Damage): Buffer {
  const bytes = Buffer.from(whole)
  if (how.kind === 'cut') return bytes.subarray(0, Math.ceil(bytes.length * how.share))
  if (how.kind === 'flips') {
    for (const at of how.at) {
      const index = Math.floor(at * bytes.length)
      bytes[index] = (bytes[index] ?? 0) ^ how.mask
    }
    return bytes
  }
  const start = (how.page % (bytes.length / pageBytes)) * pageBytes
  bytes.fill(how.kind === 'zeroed page' ? 0 : 0x5a, start, start + pageBytes)
  return bytes
}

/** Does a call, which may fail, but only in a way that says what it is. */
async function attempt<T>(call: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await call()
  } catch (error) {
    assert.ok(SluiceError.is(error), String(error))
    assert.match(error.code, /^ERR_(STORE|SCHEMA|UNKNOWN|CLOSED)/)
    return undefined
  }
}

test('a damaged file answers rightly or says that it cannot', async () => {
  const file = scratchFile()
  const driver = sqliteDriver({ file, durability: 'process' })
  await driver.open({})
  const asks = Array.from({ length: 600 }, (_, index) => ({
    ...ask(`key-${index}`),
    item: JSON.stringify('x'.repeat(index % 50)),
    priority: index % 5,
  }))
  await driver.add('q', asks, askOptions)
  await driver.claim('q', claimRequest(50))
  await driver.close()
  const whole = readFileSync(file)

  await fc.assert(
    fc.asyncProperty(damage, async (how) => {
      const broken = scratchFile()
      writeFileSync(broken, damaged(whole, how))
      const store = sqliteDriver({ file: broken, durability: 'process' })
      await attempt(async () => {
        await store.open({})
      })
      await attempt(() => store.counts('q', { cap: 1_000 }))
      await attempt(() => store.list('q', { limit: 1_000 }))
      const reply = await attempt(() => store.claim('q', claimRequest(20)))
      for (const { key, token } of reply?.claims ?? []) {
        const finish = { as: 'done', key, token, forget: true } as const
        await attempt(() => store.finish('q', [finish], askOptions))
      }
      await attempt(() => store.add('q', [ask('key-1'), ask('new')], askOptions))
      await attempt(() => store.tick('q', { holder: 'h', limit: 10, failuresExpireMs: 1_000 }))
      await store.close()
      await attempt(() => examineStore({ file: broken }))
    }),
    { numRuns: runs },
  )
}, 120_000)

// SQLite says that a page is damaged also when the system could not read it.
describe('a page that SQLite calls damaged', () => {
  const setUp = async () => {
    const { driver, library } = storeOn(scratchFile())
    await driver.open({})
    await driver.add('q', [ask('a')], askOptions)
    const count = async () => (await driver.counts('q', { cap: 10 })).ready
    return { driver, library, count }
  }
  const isCode = (code: ErrorCode, retryable: boolean) => (error: unknown) =>
    SluiceError.is(error, code) && error.retryable === retryable

  test('is a retryable error, and the next call succeeds, if the file is not damaged', async () => {
    const { driver, library, count } = await setUp()
    const examinations: string[] = []
    library.fault = {
      before(sql) {
        if (sql.includes('from sluice_keys')) throw sqliteError('SQLITE_CORRUPT')
        if (sql === 'pragma integrity_check') examinations.push(sql)
      },
    }
    await assert.rejects(count, isCode('ERR_STORE', true))
    assert.equal(examinations.length, 1)
    library.fault = {}
    assert.equal(await count(), 1)
    await driver.close()
  })

  test('is ERR_STORE_DAMAGED at once, and for good, if the file is damaged', async () => {
    const { driver, library, count } = await setUp()
    library.fault = {
      before(sql) {
        if (/from sluice_keys|integrity_check/.test(sql)) throw sqliteError('SQLITE_CORRUPT')
      },
    }
    await assert.rejects(count, isCode('ERR_STORE_DAMAGED', false))
    await assert.rejects(count, isCode('ERR_STORE_DAMAGED', false))
    await driver.close()
  })

  test('is ERR_STORE_DAMAGED, with what was found, if an index lacks a row of its table', async () => {
    const file = scratchFile()
    const former = sqliteDriver({ file })
    await former.open({})
    await former.close()
    const before = readFileSync(file)
    await former.open({})
    await former.add('q', [ask('a')], askOptions)
    await former.close()
    const database = new DatabaseSync(file)
    const index = database.prepare('select rootpage from sqlite_schema where name = ?')
    const end = Number(index.get('sluice_keys_waiting')?.['rootpage']) * pageBytes
    database.close()
    const bytes = readFileSync(file)
    before.copy(bytes, end - pageBytes, end - pageBytes, end)
    writeFileSync(file, bytes)

    const { driver } = storeOn(file)
    await driver.open({})
    for (const _ of ['at once', 'and for good']) {
      await assert.rejects(
        async () => await driver.operate.remove('q', ['a']),
        (error) =>
          isCode('ERR_STORE_DAMAGED', false)(error) &&
          /is damaged: .*index sluice_keys_waiting/.test(String(error)),
      )
    }
    await driver.close()
  })

  test('is ERR_STORE_DAMAGED within a second after the file was emptied', async () => {
    const file = scratchFile()
    const { driver, real } = storeOn(file)
    await driver.open({})
    await driver.add('q', [ask('before')], askOptions)
    truncateSync(file)
    await real.step(1_000)
    const add = async () => await driver.add('q', [ask('after')], askOptions)
    await assert.rejects(add, isCode('ERR_STORE', true))
    await assert.rejects(add, isCode('ERR_STORE_DAMAGED', false))
    await driver.close()
  })

  test('is ERR_STORE_DAMAGED within a second after the log was emptied, and goes no further', async () => {
    const file = scratchFile()
    const { driver, real } = storeOn(file)
    await driver.open({})
    await driver.add('q', [ask('before')], askOptions)
    truncateSync(`${file}-wal`)
    await real.step(1_000)
    const add = async () => await driver.add('q', [ask('after')], askOptions)
    await assert.rejects(add, isCode('ERR_STORE_DAMAGED', false))
    await add()
    await driver.close()
    const { findings, keys } = await examineStore({ file })
    assert.deepEqual(findings, [])
    assert.equal(keys, 1)
  })

  test('does not keep the file from being opened, if the second attempt finds no damage', async () => {
    const file = scratchFile()
    const former = storeOn(file).driver
    await former.open({})
    await former.close()
    const { driver, library } = storeOn(file)
    let attempts = 0
    library.fault = {
      before(sql) {
        if (!sql.includes('from sqlite_schema')) return
        attempts += 1
        if (attempts === 1) throw sqliteError('SQLITE_CORRUPT')
      },
    }
    await driver.open({})
    assert.deepEqual(await driver.queues(), [])
    await driver.close()
  })

  test('is no finding of an examination that could not read it', () => {
    const finding = (text: string) => {
      const database = {
        prepare: () => ({ all: () => [{ integrity_check: text }] }),
      } as unknown as SqliteDatabase
      return findingsIn(database, 'integrity_check')
    }
    const unread = 'Tree 9 page 227: unable to get the page. error code=8458'
    assert.throws(() => finding(unread), { code: 'SQLITE_IOERR', message: unread })
    const damaged = 'Tree 9 page 227: btreeInitPage() returns error code 11'
    assert.deepEqual(finding(damaged), [damaged])
    assert.deepEqual(finding('ok'), [])
  })
})

test.each([
  ['drop table sluice_workers', 'no such table: sluice_workers'],
  ['drop table sluice_keys', 'no such table: sluice_keys'],
  ['drop index sluice_keys_waiting', 'no such index: sluice_keys_waiting'],
  ['alter table sluice_keys rename column crashes to old', 'no such column: crashes'],
])('what the schema lacks is found: %s', async (sql, lack) => {
  const file = scratchFile()
  const driver = sqliteDriver({ file })
  await driver.open({})
  await driver.add('q', [ask('a')], askOptions)
  await driver.close()
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
  const { findings } = await examineStore({ file })
  assert.ok(findings.includes(`the schema is not whole: ${lack}; restore a backup`), `${findings}`)
})

test('an item is damaged if it is not JSON, and not for being nested deeper than SQLite reads', async () => {
  const file = scratchFile()
  const driver = sqliteDriver({ file })
  await driver.open({})
  const deep = `${'['.repeat(1_500)}${']'.repeat(1_500)}`
  const asks = ['a', 'b', 'c'].map((key) => ({ ...ask(key), item: key === 'c' ? '1' : deep }))
  await driver.add('q', asks, askOptions)
  const database = new DatabaseSync(file)
  database.exec("update sluice_keys set item = item || ']' where key = 'b'")
  database.close()
  const { findings } = await examineStore({ file })
  assert.deepEqual(findings, ['the item of key b is not JSON'])
  await driver.close()
})

test('a file that lost what says which schema it has is damaged', async () => {
  const file = scratchFile()
  const driver = sqliteDriver({ file })
  await driver.open({})
  await driver.close()
  const database = new DatabaseSync(file)
  database.exec('delete from sluice_schema')
  database.close()
  await assert.rejects(
    async () => await sqliteDriver({ file }).open({}),
    (error) =>
      SluiceError.is(error, 'ERR_STORE_DAMAGED') && error.message.includes('which schema it has'),
  )
})
