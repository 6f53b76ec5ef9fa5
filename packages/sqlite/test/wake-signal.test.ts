import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Claim } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { describe, onTestFinished, test } from 'vitest'
import { targetOf } from '../src/connection/target.ts'
import type { SqliteDatabase } from '../src/library/database.ts'
import { SqliteDriver } from '../src/sqlite-driver.ts'
import { sqliteError } from './faulty-library.ts'
import { scratchFile } from './scratch.ts'
import { ask, askOptions, claimRequest, fakeEnvironment, type Store, storeOn } from './store.ts'

const Database = createRequire(import.meta.url)('better-sqlite3') as new (
  path: string,
) => SqliteDatabase

/** Drivers on one file, as two processes have them. */
async function twoStores() {
  const file = scratchFile()
  const [one, two] = [storeOn(file), storeOn(file)]
  onTestFinished(async () => {
    await one.driver.close()
    await two.driver.close()
  })
  await one.driver.open({})
  await two.driver.open({})
  return { file, one, two }
}

describe('a watcher', () => {
  test('is called at once, and once, after a change of this process', async () => {
    const { driver } = storeOn(scratchFile())
    await driver.open({})
    const wakes: (string | undefined)[] = []
    driver.watch((queue) => wakes.push(queue))
    const added = driver.add('q', [ask('a')], askOptions)
    void driver.add('q', [ask('b')], askOptions)
    void driver.add('r', [ask('c')], askOptions)
    assert.deepEqual(wakes, [], 'not before whoever did it has its answer')
    await added
    assert.deepEqual(wakes, ['q', 'r'])
    await driver.close()
  })

  test('that was not ended ends with the driver', async () => {
    const { driver, real } = storeOn(scratchFile())
    await driver.open({})
    driver.watch(() => undefined)
    await driver.close()
    assert.equal(real.waiters(), 0)
  })

  test('that watches twice goes on when one of the two watches has ended', async () => {
    const { driver } = storeOn(scratchFile())
    await driver.open({})
    const wakes: (string | undefined)[] = []
    const onWake = (queue: string | undefined) => void wakes.push(queue)
    driver.watch(onWake)
    driver.watch(onWake)()
    await driver.add('q', [ask('a')], askOptions)
    assert.deepEqual(wakes, ['q'])
    await driver.close()
  })

  test('is called within 5 ms after a change of another process', async () => {
    const { one, two } = await twoStores()
    const wakes: (string | undefined)[] = []
    one.driver.watch((queue) => wakes.push(queue))
    await two.driver.add('q', [ask('a')], askOptions)
    await one.real.step(5)
    assert.deepEqual(wakes, [undefined])
    await one.real.step(1_000)
    assert.deepEqual(wakes, [undefined], 'and once')
  })

  test('is called once after a transaction of the caller, and not before it has ended', async () => {
    const file = scratchFile()
    const one = storeOn(file)
    await one.driver.open({})
    await one.driver.add('q', [ask('a')], askOptions)
    const wakes: (string | undefined)[] = []
    one.driver.watch((queue) => wakes.push(queue))
    const database = new Database(file)
    database.exec('begin immediate')
    void one.driver.transact?.(database).add('q', [ask('b')], askOptions)
    await one.real.step(50)
    assert.deepEqual(wakes, [])
    database.exec('commit')
    await one.real.step(5)
    assert.deepEqual(wakes, [undefined])
    await one.real.step(1_000)
    assert.deepEqual(wakes, [undefined], 'and once')
    database.close()
    await one.driver.close()
  })

  test('is called after a transaction of the caller on the one connection there is', async () => {
    const database = new Database(scratchFile())
    const real = fakeClock()
    const driver = new SqliteDriver(targetOf({ database, exclusive: true }, fakeEnvironment(real)))
    await driver.open({})
    const wakes: (string | undefined)[] = []
    driver.watch((queue) => wakes.push(queue))
    database.exec('begin')
    void driver.transact?.(database).add('q', [ask('a')], askOptions)
    await real.step(50)
    assert.deepEqual(wakes, [])
    database.exec('commit')
    await real.step(5)
    assert.deepEqual(wakes, [undefined])
    await driver.close()
    database.close()
  })

  test('is called when a transaction of the caller has made a delayed key due', async () => {
    const { file, one, two } = await twoStores()
    const later = ['a', 'b'].map((key) => ({ ...ask(key), delayMs: 60_000 }))
    await one.driver.add('q', later, askOptions)
    const wakes: (string | undefined)[] = []
    two.driver.watch((queue) => wakes.push(queue))
    const database = new Database(file)
    database.exec('begin')
    void one.driver.transact?.(database).add('q', [ask('a')], askOptions)
    database.exec('commit')
    await two.real.step(5)
    assert.deepEqual(wakes, [undefined])
    database.close()
  })

  test('is not called for heartbeats and renewals of another process', async () => {
    const { one, two } = await twoStores()
    await two.driver.add('q', [ask('a'), ask('b')], askOptions)
    const { claims } = await two.driver.claim('q', claimRequest(2))
    let wakes = 0
    one.driver.watch(() => {
      wakes += 1
    })
    const worker = { name: 'w', concurrency: 1 } as never
    const tick = { holder: 'two', limit: 100, failuresExpireMs: 86_400_000, worker }
    const statementsBefore = one.library.statements
    for (let nth = 0; nth < 5; nth += 1) {
      await two.driver.tick('q', tick)
      await two.driver.renew('q', claims, 60_000 + nth)
      await one.real.step(5)
    }
    assert.equal(wakes, 0)
    assert.equal(one.library.statements - statementsBefore, 5, 'one number is read for each look')
    await one.real.step(60_000)
    const looksBefore = one.library.versionReads
    await two.driver.tick('q', tick)
    await one.real.step(1_000)
    assert.equal(one.library.versionReads - looksBefore, 20, 'and it looks as seldom as before')
  })

  const work: Record<string, (other: Store, held: Claim) => unknown> = {
    'an add': ({ driver }) => driver.add('q', [ask('new')], askOptions),
    'a delayed add': ({ driver }) =>
      driver.add('q', [{ ...ask('new'), delayMs: 60_000 }], askOptions),
    'a claim, whose lease may end': ({ driver }) => driver.claim('q', claimRequest()),
    'a release': ({ driver }, { key, token }) =>
      driver.finish('q', [{ as: 'release', key, token }], askOptions),
    'the end of a run': ({ driver }, { key, token }) =>
      driver.finish('q', [{ as: 'done', key, token, forget: true }], askOptions),
    'a pause': ({ driver }) => driver.operate.pause('q'),
    'a park': ({ driver }) => driver.operate.park('q', ['waiting']),
    'an import': async ({ driver }) => {
      const { rows } = await driver.list('q', { limit: 1, state: 'ready' })
      return await driver.transfer.importRows('r', rows)
    },
  }
  for (const [what, act] of Object.entries(work)) {
    test(`is called for ${what} of another process`, async () => {
      const { one, two } = await twoStores()
      await two.driver.add('q', [ask('held'), ask('waiting')], askOptions)
      const [held] = (await two.driver.claim('q', claimRequest())).claims
      assert.ok(held)
      let wakes = 0
      one.driver.watch(() => {
        wakes += 1
      })
      await act(two, held)
      await one.real.step(5)
      assert.equal(wakes, 1)
    })
  }

  test('is called for a change while its connection was closed', async () => {
    const { one, two } = await twoStores()
    let wakes = 0
    one.driver.watch(() => {
      wakes += 1
    })
    one.library.fault = {
      before(sql) {
        if (sql === 'begin') throw sqliteError('SQLITE_IOERR_READ')
      },
    }
    const claim = async () => await one.driver.claim('q', claimRequest())
    await assert.rejects(claim)
    await one.real.step(1_000)
    assert.equal(wakes, 0, 'a store in trouble wakes no watcher')
    await two.driver.add('q', [ask('a')], askOptions)
    one.library.fault = {}
    await one.driver.counts('q', { cap: 1 })
    await one.real.step(5)
    assert.equal(wakes, 1)
  })

  test('is called later where the commits of others cannot be read for a while', async () => {
    const { one, two } = await twoStores()
    let wakes = 0
    one.driver.watch(() => {
      wakes += 1
    })
    one.library.fault = {
      before(sql) {
        if (sql === 'pragma data_version') throw sqliteError('SQLITE_IOERR_READ')
      },
    }
    await two.driver.add('q', [ask('a')], askOptions)
    await one.real.step(50)
    assert.equal(wakes, 0)
    one.library.fault = {}
    await one.real.step(5)
    assert.equal(wakes, 1)
  })

  test('looks less often after a quiet minute, and as often again after a change', async () => {
    const { one, two } = await twoStores()
    let wakes = 0
    one.driver.watch(() => {
      wakes += 1
    })
    const looksIn = async (ms: number): Promise<number> => {
      const before = one.library.versionReads
      await one.real.step(ms)
      return one.library.versionReads - before
    }
    assert.equal(await looksIn(1_000), 200)
    await one.real.step(60_000)
    assert.equal(await looksIn(1_000), 20)
    await two.driver.add('q', [ask('a')], askOptions)
    await one.real.step(50)
    assert.equal(wakes, 1)
    assert.equal(await looksIn(1_000), 200)
    // A change of this process counts, too.
    await one.real.step(61_000)
    assert.equal(await looksIn(1_000), 20)
    await one.driver.add('q', [ask('b')], askOptions)
    assert.equal(await looksIn(1_000), 200)
    await one.driver.close()
    await two.driver.close()
    assert.equal(one.real.waiters(), 0)
  })

  test('is called for a change of another process while this one changes more often than it looks', async () => {
    const { one, two } = await twoStores()
    const wakes: (string | undefined)[] = []
    one.driver.watch((queue) => wakes.push(queue))
    await two.driver.add('q', [ask('a')], askOptions)
    for (let ms = 0; ms < 6; ms += 1) {
      await one.driver.add('r', [ask(`b${ms}`)], askOptions)
      await one.real.step(1)
    }
    assert.ok(wakes.includes(undefined))
  })

  test('is called for a change of another process after which another watcher begins', async () => {
    const { one, two } = await twoStores()
    const wakes: (string | undefined)[] = []
    one.driver.watch((queue) => wakes.push(queue))
    await two.driver.add('q', [ask('a')], askOptions)
    one.driver.watch(() => {})
    await one.real.step(5)
    assert.deepEqual(wakes, [undefined])
  })

  test('costs nothing without a watcher', async () => {
    const { driver, library, real } = storeOn(scratchFile())
    await driver.open({})
    const stop = driver.watch(() => {})
    stop()
    const before = library.statements + library.versionReads
    await real.step(600_000)
    assert.equal(library.statements + library.versionReads, before)
    await driver.close()
  })
})

test('an idle queue runs no statement between ticks, and few in one', async () => {
  const { driver, library, real } = storeOn(scratchFile())
  await driver.open({})
  driver.watch(() => {})
  await driver.add('q', [ask('a')], askOptions)
  const { claims } = await driver.claim('q', claimRequest())
  await driver.finish(
    'q',
    claims.map(({ key, token }) => ({ as: 'done' as const, key, token, forget: true })),
    askOptions,
  )
  const before = library.statements
  await real.step(600_000)
  assert.equal(library.statements, before)
  await driver.tick('q', { holder: 'holder', limit: 100, failuresExpireMs: 86_400_000 })
  // The transaction, the store, the queue, the first lease, the priorities, the stale rows.
  assert.ok(library.statements - before <= 7, `${library.statements - before} statements`)
  await driver.close()
})

// Where the system takes the memory of an idle process, timers that do nothing take two hundredths.
test('an idle process takes at most a hundredth of a core, or little more than its timers', async () => {
  const program = fileURLToPath(new URL('children/idle.ts', import.meta.url))
  const flags = ['--conditions=sluice-source', '--disable-warning=ExperimentalWarning']
  const args = [...flags, program, scratchFile()]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const said = JSON.parse(stdout) as Readonly<Record<'idle' | 'timers' | 'perSecond', number>>
  const { idle, timers, perSecond } = said
  assert.ok(idle <= Math.max(1, 3 * timers), `hundredths of a core: ${stdout.trim()}`)
  assert.ok(perSecond <= 25, `${perSecond} looks a second`)
})

test('a claim that finds nothing takes no lock', async () => {
  const { driver, library } = storeOn(scratchFile())
  await driver.open({})
  await driver.add('q', [{ ...ask('a'), delayMs: 60_000 }], askOptions)
  library.fault = {
    before(sql) {
      assert.notEqual(sql, 'begin immediate')
    },
  }
  const { claims } = await driver.claim('q', claimRequest())
  assert.deepEqual(claims, [])
  library.fault = {}
  await driver.close()
})
