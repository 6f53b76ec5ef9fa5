import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs, {
  existsSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { dirname } from 'node:path'
import {
  type Driver,
  type ErrorCode,
  SluiceError,
  type SluiceEvent,
  sluiceChannel,
} from '@sluice/core'
import { onTestFinished, test } from 'vitest'
import { LogGuard } from '../src/connection/log-guard.ts'
import { sqliteDriver } from '../src/index.ts'
import type { SqliteDatabase } from '../src/library/database.ts'
import { scratchFile } from './scratch.ts'
import { useSettledFolder } from './settled-folder.ts'
import { ask, askOptions, fakeEnvironment, storeOn } from './store.ts'

const Database = createRequire(import.meta.url)('better-sqlite3') as new (
  path: string,
) => SqliteDatabase

/** A database whose log is guarded, and another connection that may read from it. */
function guarded(bytesMax: number) {
  const file = scratchFile()
  const database = new Database(file)
  database.exec('pragma busy_timeout = 10; pragma journal_mode = wal; create table t (a)')
  database.exec('insert into t values (1)')
  const reader = new Database(file)
  const warnings: unknown[] = []
  const subscriber = { error: ({ error }: SluiceEvent) => void warnings.push(error) }
  sluiceChannel.subscribe(subscriber as never)
  onTestFinished(() => {
    sluiceChannel.unsubscribe(subscriber as never)
    reader.close()
    database.close()
  })
  const environment = fakeEnvironment()
  const guard = new LogGuard(file, environment, bytesMax)
  guard.opened()
  const commit = (bytes: number): void => {
    database.exec(`update t set a = randomblob(${bytes})`)
    guard.committed(database)
  }
  return {
    file,
    environment,
    reader,
    warnings,
    commit,
    logBytes: () => statSync(`${file}-wal`).size,
  }
}

test('a reader that keeps the log from being emptied is reported; then the log is emptied', () => {
  const bytesMax = 1024 * 1024
  const { reader, environment, warnings, commit, logBytes } = guarded(bytesMax)
  const write = (): void => {
    for (let nth = 0; nth < 256; nth += 1) commit(8_000)
  }
  reader.exec('begin')
  reader.prepare('select count(*) from t').get()
  write()
  assert.equal(warnings.length, 1)
  assert.match(String(warnings[0]), /has grown to [0-9]+ MiB/)
  assert.ok(logBytes() > bytesMax)
  write()
  assert.equal(warnings.length, 1, 'not again at once')

  reader.exec('commit')
  const laterMs = environment.clock.monotonicMs() + 60_000
  environment.clock.monotonicMs = () => laterMs
  write()
  assert.equal(warnings.length, 1)
  assert.ok(logBytes() <= bytesMax, `${logBytes()} bytes`)
})

test('the length of the log counts, however few commits made it', () => {
  const { reader, warnings, commit } = guarded(1024 * 1024)
  reader.exec('begin')
  reader.prepare('select count(*) from t').get()
  commit(600_000)
  assert.equal(warnings.length, 0)
  commit(600_000)
  assert.equal(warnings.length, 1)
})

for (const how of ['removed', 'replaced'] as const) {
  test(`a log that was ${how} is noticed by the next commit, whose outcome is open`, async () => {
    const file = scratchFile()
    const { driver, library } = storeOn(file)
    await driver.open({})
    await driver.add('q', [ask('a')], askOptions)
    if (how === 'removed') rmSync(`${file}-wal`)
    else renameSync(`${file}-wal`, `${file}-wal.away`)
    if (how === 'replaced') new Database(file).close()
    const openedBefore = library.opened
    await assert.rejects(
      async () => await driver.add('q', [ask('b')], askOptions),
      (error) => SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME'),
    )
    const [reply] = await driver.add('q', [ask('c')], askOptions)
    assert.equal(reply?.outcome, 'added')
    assert.equal(library.opened, openedBefore + 1)
    await driver.close()
    const { driver: next } = storeOn(file)
    await next.open({})
    const { rows } = await next.list('q', { limit: 10 })
    assert.ok(rows.some(({ key }) => key === 'c'))
    await next.close()
    assert.ok(readdirSync(dirname(file)).includes('queue.db'))
  })
}

test('while nothing changes in its folder, the length of the log is looked at once a second', async () => {
  const { file, environment, warnings, commit, reader } = guarded(1024 * 1024)
  await useSettledFolder(file, environment)
  commit(1_000)
  reader.exec('begin')
  reader.prepare('select count(*) from t').get()
  commit(2_000_000)
  assert.equal(warnings.length, 0)
  const laterMs = environment.clock.monotonicMs() + 1_000
  environment.clock.monotonicMs = () => laterMs
  commit(1_000)
  assert.equal(warnings.length, 1)
})

test('a log that was removed loses nothing, and no other is made while a connection uses it', async () => {
  const file = scratchFile()
  const { driver, real } = storeOn(file, { lockWaitMs: 1 })
  const { driver: other, real: otherReal } = storeOn(file)
  await driver.open({})
  await other.open({})
  const add = async (key: string) => await driver.add('q', [ask(key)], askOptions)
  const fails =
    (code: ErrorCode) =>
    (error: unknown): boolean =>
      SluiceError.is(error, code)
  const ready = async (by: Driver) => (await by.counts('q', { cap: 10 })).ready
  await add('a')
  assert.equal(await ready(other), 1)
  rmSync(`${file}-wal`)
  await assert.rejects(() => add('b'), fails('ERR_UNKNOWN_OUTCOME'))
  // Read by another process: to close a file ends the locks that this one has on it.
  const copied = scratchFile()
  execFileSync('cp', [file, copied])
  const { driver: copy } = storeOn(copied)
  await copy.open({})
  assert.equal(await ready(copy), 2)
  await copy.close()
  await Promise.all([assert.rejects(() => add('c'), fails('ERR_STORE_BUSY')), real.step(100)])
  assert.ok(!existsSync(`${file}-wal`))
  await otherReal.step(1_000)
  await assert.rejects(() => ready(other), fails('ERR_STORE'))
  await add('c')
  assert.equal(await ready(other), 3)
  await other.close()
  await driver.close()
})

test('a file that another connection is just opening is opened, whenever its log and locks appear', async () => {
  const file = scratchFile()
  const { driver: other } = storeOn(file)
  await other.open({})
  const { statSync } = fs
  onTestFinished(() => {
    Object.assign(fs, { statSync })
    syncBuiltinESMExports()
  })
  for (const hidden of [0, 1, 2, 3, 4]) {
    let looks = 0
    // Both are there from the next look on.
    const looking = (path: string, options: object) => {
      const isOfLog = path.endsWith('-wal') || path.endsWith('-shm')
      if (isOfLog) looks += 1
      return isOfLog && looks <= hidden ? undefined : statSync(path, options)
    }
    Object.assign(fs, { statSync: looking })
    syncBuiltinESMExports()
    const { driver } = storeOn(file)
    await driver.open({})
    assert.ok(looks > hidden)
    await driver.close()
  }
  await other.close()
})

test('a log is noticed that was removed between the opening of the file and the first commit', async () => {
  const file = scratchFile()
  const { driver: first } = storeOn(file)
  await first.open({})
  await first.close()
  const { driver } = storeOn(file)
  await driver.open({})
  rmSync(`${file}-wal`)
  await assert.rejects(
    async () => await driver.add('q', [ask('a')], askOptions),
    (error) => SluiceError.is(error, 'ERR_STORE') && error.retryable,
  )
  await driver.close()
})

test.runIf(existsSync('/proc/self/fd'))(
  'no folder is opened for a database in memory, which has no log',
  async () => {
    const database = new Database(':memory:')
    const driver = sqliteDriver({ database, exclusive: true })
    await driver.open({})
    await driver.add('q', [ask('a')], askOptions)
    const open = readdirSync('/proc/self/fd').map((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`)
      } catch {
        // That of the listing itself is closed by now.
        return undefined
      }
    })
    assert.ok(!open.includes(process.cwd()))
    await driver.close()
    database.close()
  },
)

for (const how of ['removed', 'replaced'] as const) {
  test(`a log is noticed that was ${how} after its folder had been at rest`, async () => {
    const { file, environment, commit } = guarded(1024 * 1024)
    await useSettledFolder(file, environment)
    for (let nth = 0; nth < 3; nth += 1) commit(1_000)
    if (how === 'replaced') renameSync(`${file}-wal`, `${file}-wal.away`)
    else rmSync(`${file}-wal`)
    writeFileSync(`${file}-wal`, '')
    assert.throws(
      () => commit(1_000),
      (error) => SluiceError.is(error, 'ERR_UNKNOWN_OUTCOME'),
    )
  })
}
