import assert from 'node:assert/strict'
import { existsSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { dirname } from 'node:path'
import { SluiceError } from '@sluice/core'
import { examineStore, sqliteDriver } from '@sluice/sqlite'
import { describe, test } from 'vitest'
import { FaultyLibrary, sqliteError } from './faulty-library.ts'
import { scratchFile } from './scratch.ts'
import { ask, askOptions, claimRequest, storeOn } from './store.ts'

function withCode(code: string, retryable?: boolean) {
  return (error: unknown) => {
    assert.ok(SluiceError.is(error), String(error))
    assert.equal(error.code, code, error.message)
    if (retryable !== undefined) assert.equal(error.retryable, retryable)
    return true
  }
}

/** Lets every statement that matches fail. */
function failing(pattern: RegExp, code: string) {
  return {
    before(sql: string) {
      if (pattern.test(sql)) throw sqliteError(code)
    },
  }
}

describe('an input or output error', () => {
  test('while committing leaves the outcome unknown, and the file is opened again', async () => {
    const { driver, library } = storeOn(scratchFile())
    await driver.open({})
    library.fault = failing(/^commit$/, 'SQLITE_IOERR_FSYNC')
    await assert.rejects(
      async () => await driver.add('q', [ask('a')], askOptions),
      withCode('ERR_UNKNOWN_OUTCOME', false),
    )
    library.fault = {}
    assert.deepEqual(
      (await driver.add('q', [ask('a')], askOptions)).map(({ outcome }) => outcome),
      ['added'],
    )
    assert.equal(library.opened, 2 + 1, 'once to make the file, once to use it, and once again')
    await driver.close()
  })

  test('while committing, when the commit took effect, shows the key afterwards', async () => {
    const { driver, library } = storeOn(scratchFile())
    await driver.open({})
    library.fault = {
      after(sql) {
        if (sql === 'commit') throw sqliteError('SQLITE_IOERR_FSYNC')
      },
    }
    await assert.rejects(
      async () => await driver.add('q', [ask('a')], askOptions),
      withCode('ERR_UNKNOWN_OUTCOME'),
    )
    library.fault = {}
    assert.equal((await driver.claim('q', claimRequest())).claims[0]?.key, 'a')
    await driver.close()
  })

  test('before the commit leaves nothing behind', async () => {
    const { driver, library } = storeOn(scratchFile())
    await driver.open({})
    await driver.add('q', [{ ...ask('later'), delayMs: 60_000 }], askOptions)
    library.fault = failing(/^update sluice_store/, 'SQLITE_IOERR_WRITE')
    // The last statement of an add that inserts a key and changes another one.
    await assert.rejects(
      async () => await driver.add('q', [ask('a'), ask('later')], askOptions),
      withCode('ERR_STORE', true),
    )
    library.fault = {}
    assert.deepEqual((await driver.claim('q', claimRequest())).claims, [])
    await driver.close()
  })

  test('is followed by an examination, and a damaged file is refused for good', async () => {
    const { driver, library } = storeOn(scratchFile())
    await driver.open({})
    library.fault = {
      before(sql) {
        if (sql === 'commit') throw sqliteError('SQLITE_IOERR_WRITE')
        if (sql === 'pragma quick_check') throw sqliteError('SQLITE_CORRUPT')
      },
    }
    const add = async () => await driver.add('q', [ask('a')], askOptions)
    await assert.rejects(add, withCode('ERR_UNKNOWN_OUTCOME'))
    await assert.rejects(add, withCode('ERR_STORE_DAMAGED', false))
    await assert.rejects(add, withCode('ERR_STORE_DAMAGED', false))
    await driver.close()
  })
})

describe('a full disk', () => {
  for (const [where, pattern] of [
    ['while writing', /^insert into sluice_keys/],
    ['while committing', /^commit$/],
  ] as const) {
    test(`${where} says that nothing was done, and goes on once there is room`, async () => {
      const { driver, library } = storeOn(scratchFile())
      await driver.open({})
      library.fault = failing(pattern, 'SQLITE_FULL')
      const add = async () => await driver.add('q', [ask('a')], askOptions)
      await assert.rejects(add, withCode('ERR_STORE_FULL', true))
      library.fault = {}
      assert.deepEqual((await driver.claim('q', claimRequest())).claims, [])
      assert.equal((await add())[0]?.outcome, 'added')
      await driver.close()
    })
  }
})

describe('a locked file', () => {
  test('is attempted again, in the order of the calls, without holding up the process', async () => {
    const file = scratchFile()
    const { driver, library, real } = storeOn(file)
    await driver.open({})
    let isLocked = true
    library.fault = {
      before(sql) {
        if (isLocked && sql === 'begin immediate') throw sqliteError('SQLITE_BUSY')
      },
    }
    const outcomes: string[] = []
    const adds = ['a', 'b'].map(async (key) => {
      const [reply] = await driver.add('q', [ask(key)], askOptions)
      outcomes.push(`${key} ${reply?.outcome}`)
    })
    await real.step(1_000)
    assert.deepEqual(outcomes, [])
    isLocked = false
    await real.step(200)
    await Promise.all(adds)
    assert.deepEqual(outcomes, ['a added', 'b added'])
    assert.equal(real.waiters(), 0)
    await driver.close()
  })

  test('can still be read', async () => {
    const { driver, library } = storeOn(scratchFile())
    await driver.open({})
    library.fault = failing(/^begin immediate$/, 'SQLITE_BUSY')
    const adding = assert.rejects(
      async () => await driver.add('q', [ask('a')], askOptions),
      withCode('ERR_STORE_BUSY', true),
    )
    assert.deepEqual(await driver.queues(), [])
    await driver.close()
    await adding
  })

  test('is given up at the deadline, with nothing done', async () => {
    const { driver, library, real } = storeOn(scratchFile(), { lockWaitMs: 2_000 })
    await driver.open({})
    library.fault = failing(/^begin immediate$/, 'SQLITE_BUSY')
    const adding = assert.rejects(
      async () => await driver.add('q', [ask('a')], askOptions),
      withCode('ERR_STORE_BUSY', true),
    )
    await real.step(2_200)
    await adding
    library.fault = {}
    assert.deepEqual((await driver.claim('q', claimRequest())).claims, [])
    await driver.close()
  })

  test('is waited for while opening', async () => {
    const { driver, library, real } = storeOn(scratchFile())
    let isLocked = true
    library.fault = {
      before() {
        if (isLocked) throw sqliteError('SQLITE_BUSY_RECOVERY')
      },
    }
    const opening = driver.open({})
    await real.step(500)
    isLocked = false
    await real.step(200)
    await opening
    assert.deepEqual(await driver.queues(), [])
    await driver.close()
  })
})

describe('a transaction that cannot be rolled back', () => {
  test('is ended with its connection, so that the next one can begin', async () => {
    const { driver, library } = storeOn(scratchFile())
    await driver.open({})
    const openedBefore = library.opened
    library.fault = failing(/^(insert into sluice_keys|rollback)/, 'SQLITE_NOMEM')
    const add = async () => await driver.add('q', [ask('a')], askOptions)
    await assert.rejects(add, withCode('ERR_STORE'))
    library.fault = {}
    assert.equal((await add())[0]?.outcome, 'added')
    assert.equal(library.opened, openedBefore + 1)
    await driver.close()
  })

  test('on the one connection that was handed in is rolled back before the next one', async () => {
    const library = new FaultyLibrary()
    const database = library.open(':memory:')
    const driver = sqliteDriver({ database, exclusive: true })
    await driver.open({})
    library.fault = failing(/^(insert into sluice_keys|rollback)/, 'SQLITE_NOMEM')
    const add = async () => await driver.add('q', [ask('a')], askOptions)
    await assert.rejects(add, withCode('ERR_STORE'))
    library.fault = {}
    assert.equal((await add())[0]?.outcome, 'added')
    await driver.close()
    database.close()
  })
})

describe('a process that only adds notices within a second that its file', () => {
  const away = (file: string) => {
    for (const suffix of ['', '-wal', '-shm']) {
      renameSync(`${file}${suffix}`, `${file}.away${suffix}`)
    }
  }
  const ways: Record<string, (file: string) => Promise<void>> = {
    'was moved': async (file) => away(file),
    'was removed': async (file) => {
      for (const suffix of ['', '-wal', '-shm']) rmSync(`${file}${suffix}`)
    },
    'was replaced': async (file) => {
      away(file)
      const { driver } = storeOn(file)
      await driver.open({})
      await driver.close()
    },
  }
  for (const [what, doIt] of Object.entries(ways)) {
    test(what, async () => {
      const file = scratchFile()
      const { driver, real } = storeOn(file)
      await driver.open({})
      const add = async (key: string) => await driver.add('q', [ask(key)], askOptions)
      await add('before')
      await doIt(file)
      await real.step(1_000)
      await assert.rejects(() => add('after'), withCode('ERR_STORE', true))
      if (what !== 'was replaced') {
        await assert.rejects(() => add('after'), withCode('ERR_STORE', true))
        return
      }
      assert.equal((await add('after'))[0]?.outcome, 'added')
      await driver.close()
      const next = storeOn(file).driver
      await next.open({})
      assert.deepEqual(
        (await next.list('q', { limit: 10 })).rows.map(({ key }) => key),
        ['after'],
      )
      await next.close()
    })
  }
})

for (const suffix of ['', '-shm']) {
  test(`an add is not acknowledged after queue.db${suffix} alone was moved`, async () => {
    const file = scratchFile()
    const { driver } = storeOn(file)
    await driver.open({})
    await driver.add('q', [ask('before')], askOptions)
    renameSync(`${file}${suffix}`, `${file}.away`)
    await assert.rejects(
      async () => await driver.add('q', [ask('after')], askOptions),
      withCode('ERR_UNKNOWN_OUTCOME'),
    )
    await driver.close()
  })
}

test('a backup that was moved in place of the file is not opened with the log of the former file', async () => {
  const file = scratchFile()
  const { driver, library } = storeOn(file)
  await driver.open({})
  const add = async (key: string) => await driver.add('q', [ask(key)], askOptions)
  await add('before')
  const other = library.open(file)
  other.exec(`vacuum into '${file}.backup'`)
  other.close()
  await add('later')
  renameSync(`${file}.backup`, file)
  await assert.rejects(() => add('after'), withCode('ERR_UNKNOWN_OUTCOME'))
  await assert.rejects(() => add('after'), withCode('ERR_STORE', true))
  for (const suffix of ['-wal', '-shm']) rmSync(`${file}${suffix}`)
  await add('after')
  const { rows } = await driver.list('q', { limit: 10 })
  assert.deepEqual(rows.map(({ key }) => key).sort(), ['after', 'before'])
  await driver.close()
  const { findings } = await examineStore({ file })
  assert.deepEqual(findings, [])
})

test('an add whose file cannot be reached any more is not said to have changed nothing', async () => {
  const file = scratchFile()
  const folder = dirname(file)
  const { driver } = storeOn(file)
  await driver.open({})
  await driver.add('q', [ask('before')], askOptions)
  renameSync(folder, `${folder}.away`)
  symlinkSync(folder, folder)
  try {
    await assert.rejects(
      async () => await driver.add('q', [ask('after')], askOptions),
      withCode('ERR_UNKNOWN_OUTCOME'),
    )
  } finally {
    rmSync(folder)
    renameSync(`${folder}.away`, folder)
  }
  assert.equal((await driver.counts('q', { cap: 10 })).ready, 2)
  await driver.close()
})

test('a file that was removed while in use is noticed by the next tick, and comes back', async () => {
  const file = scratchFile()
  const { driver, real } = storeOn(file)
  await driver.open({})
  await driver.add('q', [ask('a')], askOptions)
  const tick = async () =>
    await driver.tick('q', { holder: 'holder', limit: 10, failuresExpireMs: 1_000 })
  for (const suffix of ['', '-wal', '-shm']) renameSync(`${file}${suffix}`, `${file}.away${suffix}`)
  await real.step(1_000)
  await assert.rejects(tick, withCode('ERR_STORE', true))
  await assert.rejects(tick, withCode('ERR_STORE', true), 'and no empty one takes its place')
  for (const suffix of ['', '-wal', '-shm']) {
    try {
      renameSync(`${file}.away${suffix}`, `${file}${suffix}`)
    } catch {
      rmSync(`${file}${suffix}`, { force: true })
    }
  }
  assert.ok((await tick()).nextAt < Infinity, 'the key is there')
  await driver.close()
})

test('a file of locks that was removed while in use is noticed, and there again', async () => {
  const file = scratchFile()
  const { driver, real } = storeOn(file)
  await driver.open({})
  await driver.add('q', [ask('a')], askOptions)
  rmSync(`${file}-shm`)
  await real.step(1_000)
  await assert.rejects(
    async () => await driver.add('q', [ask('b')], askOptions),
    withCode('ERR_STORE', true),
  )
  await driver.add('q', [ask('c')], askOptions)
  assert.ok(existsSync(`${file}-shm`), 'other processes meet its locks')
  assert.equal((await driver.counts('q', { cap: 10 })).ready, 2)
  await driver.close()
})

test('without its file of locks, a file is opened only when no connection uses it', async () => {
  const file = scratchFile()
  const { driver } = storeOn(file)
  await driver.open({})
  await driver.add('q', [ask('a')], askOptions)
  rmSync(`${file}-shm`)
  const { driver: next, real } = storeOn(file, { lockWaitMs: 1 })
  const opening = next.open({})
  await Promise.all([
    assert.rejects(async () => await opening, withCode('ERR_STORE_BUSY', true)),
    real.step(100),
  ])
  assert.ok(!existsSync(`${file}-shm`), 'it has made no other locks')
  await driver.close()
  await next.open({})
  assert.equal((await next.counts('q', { cap: 10 })).ready, 1)
  await next.close()
})

test('a connection is refused in another process or thread', async () => {
  const { driver, environment } = storeOn(scratchFile())
  await driver.open({})
  environment.where = 'elsewhere'
  await assert.rejects(
    async () => await driver.add('q', [ask('a')], askOptions),
    withCode('ERR_STORE', false),
  )
  environment.where = 'here'
  await driver.close()
})

test('a driver that is not open says so', async () => {
  const { driver } = storeOn(scratchFile())
  await assert.rejects(
    async () => await driver.add('q', [ask('a')], askOptions),
    withCode('ERR_STORE'),
  )
  await driver.open({})
  await driver.close()
  await assert.rejects(async () => await driver.queues(), withCode('ERR_STORE'))
})
