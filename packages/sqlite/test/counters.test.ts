import assert from 'node:assert/strict'
import { nextTurn } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import Database from 'better-sqlite3'
import { describe, test } from 'vitest'
import { examineStore } from '../src/index.ts'
import { scratchFile } from './scratch.ts'
import { ask, askOptions, claimRequest, type Store, storeOn } from './store.ts'

/** Two connections to one file, as those of two processes, at a time that stands still. */
async function twoOn(file: string): Promise<readonly [Store, Store]> {
  const clock = fakeClock()
  const both = [storeOn(file), storeOn(file)] as const
  for (const { driver } of both) await driver.open({ clock })
  return both
}

async function close(stores: readonly Store[]): Promise<void> {
  for (const { driver } of stores) await driver.close()
}

const last = 'last'

/** Takes `last`, which has the highest priority, and gives it back. */
async function run({ driver }: Store, as: 'retry' | 'release' | 'done'): Promise<void> {
  const [claim] = (await driver.claim('q', claimRequest(1))).claims
  assert.equal(claim?.key, last)
  const { key, token } = claim
  const delay = { delayMs: 0, plan: undefined, jitter: undefined }
  const finish = as === 'done' ? { as, key, token, forget: false } : { as, key, token, ...delay }
  await driver.finish('q', [finish as never], askOptions)
}

describe('a key that is added', () => {
  const ends: Record<string, (store: Store) => unknown> = {
    'is there': () => undefined,
    'is held': ({ driver }) => driver.claim('q', claimRequest(1)),
    'is finished': (store) => run(store, 'done'),
    'was given back': (store) => run(store, 'release'),
    'keeps only its failures': async (store) => {
      await run(store, 'retry')
      await run(store, 'done')
    },
    'was cancelled': ({ driver }) => driver.cancel('q', [last]),
    'is parked': ({ driver }) => driver.operate.park('q', [last]),
    'was removed': ({ driver }) => driver.operate.remove('q', [last]),
  }
  for (const [what, end] of Object.entries(ends)) {
    test(`comes after all others when the one before it ${what}`, async () => {
      const [one, two] = await twoOn(scratchFile())
      await one.driver.add('q', [ask('a')], askOptions)
      await two.driver.add('q', [ask('b'), ask('c')], askOptions)
      await one.driver.add('q', [{ ...ask(last), priority: 5 }], askOptions)
      await end(two)
      await two.driver.add('q', [ask('d')], askOptions)
      await one.driver.add('q', [ask('e'), ask('f')], askOptions)
      const { claims } = await two.driver.claim('q', claimRequest(10))
      assert.deepEqual(
        claims.map(({ key }) => key).filter((key) => key !== last),
        ['a', 'b', 'c', 'd', 'e', 'f'],
      )
      await close([one, two])
    })
  }

  test('wakes other processes however often the last one was deleted', async () => {
    const [one, two] = await twoOn(scratchFile())
    let wakes = 0
    one.driver.watch(() => {
      wakes += 1
    })
    for (let round = 1; round <= 3; round += 1) {
      await two.driver.add('q', [ask(last)], askOptions)
      await one.real.step(5)
      assert.equal(wakes, 2 * round - 1)
      await run(two, 'done')
      await one.real.step(5)
      assert.equal(wakes, 2 * round)
    }
    await close([one, two])
  })

  test('writes no counter', async () => {
    const { driver, library } = storeOn(scratchFile())
    await driver.open({ clock: fakeClock() })
    await driver.add('q', [ask('a')], askOptions)
    await driver.operate.purge('q')
    const before = library.statements
    await driver.add('q', [ask('b')], askOptions)
    // Begins, reads the rows of the store and the queue together, inserts the key, and commits.
    assert.equal(library.statements - before, 4)
    await driver.close()
  })
})

describe('the number of pending keys', () => {
  test('is counted by the first add with a limit, and kept from then on by every process', async () => {
    const file = scratchFile()
    const [one, two] = await twoOn(file)
    const limited = (maxPending: number) => ({ ...askOptions, maxPending })
    const outcomes = async (key: string, maxPending: number) =>
      (await two.driver.add('q', [ask(key)], limited(maxPending))).map(({ outcome }) => outcome)
    await one.driver.add('q', [{ ...ask(last), priority: 5 }, ask('parked')], askOptions)
    await one.driver.add('q', [{ ...ask('later'), delayMs: 60_000 }], askOptions)
    await one.driver.operate.park('q', ['parked'])
    const { claims } = await one.driver.claim('q', claimRequest(1))
    await one.driver.add('q', [{ ...ask(last), priority: 5 }], askOptions)
    // The parked and the delayed one, and the next run of the held one.
    assert.deepEqual(await outcomes('d', 3), ['full'])
    assert.deepEqual(await outcomes('d', 4), ['added'])
    await one.driver.add('q', [ask('e')], askOptions)
    assert.deepEqual(await outcomes('f', 5), ['full'])
    await one.driver.finish(
      'q',
      claims.map(({ key, token }) => ({ as: 'done', key, token, forget: true })),
      askOptions,
    )
    assert.deepEqual(await outcomes('f', 5), ['full'])
    await run(one, 'done')
    assert.deepEqual(await outcomes('f', 5), ['added'])
    assert.deepEqual((await examineStore({ file })).findings, [])
    await one.driver.operate.purge('q')
    assert.deepEqual(await outcomes('g', 1), ['added'])
    assert.deepEqual(await outcomes('h', 1), ['full'])
    assert.deepEqual((await examineStore({ file })).findings, [])
    await close([one, two])
  })

  test('is kept in transactions of the caller', async () => {
    const file = scratchFile()
    const [one, two] = await twoOn(file)
    const add = async (key: string, maxPending: number) =>
      (await two.driver.add('q', [ask(key)], { ...askOptions, maxPending }))[0]?.outcome
    assert.equal(await add('a', 1), 'added')
    const database = new Database(file)
    database.exec('begin')
    void one.driver.transact?.(database).add('q', [ask('b'), ask('c')], askOptions)
    database.exec('commit')
    database.close()
    assert.equal(await add('d', 3), 'full')
    assert.equal(await add('d', 4), 'added')
    await close([one, two])
  })

  test('is right in the middle of a purge, in which other work and other processes get a turn', async () => {
    const file = scratchFile()
    const [one, two] = await twoOn(file)
    const limited = { ...askOptions, maxPending: 4_000 }
    for (let from = 0; from < 3_000; from += 1_000) {
      const asks = Array.from({ length: 1_000 }, (_, index) => ask(`k${from + index}`))
      await one.driver.add('q', asks, limited)
    }
    await one.driver.operate.park('q', ['k0'])
    await one.driver.claim('q', claimRequest(2))
    const purged = one.driver.operate.purge('q')
    await new Promise<void>(nextTurn)
    const added = Array.from({ length: 1_000 }, (_, index) => ask(`l${index}`))
    await two.driver.add('q', added, limited)
    const { ready, processing } = await two.driver.counts('q', { cap: 10_000 })
    assert.deepEqual({ isLeft: ready > 1_000, processing }, { isLeft: true, processing: 2 })
    assert.deepEqual((await examineStore({ file })).findings, [])
    // Not those that were added meanwhile: it would never end while another process adds.
    assert.equal(await purged, 2_998)
    assert.deepEqual((await examineStore({ file })).findings, [])
    await close([one, two])
  })
})

describe('a purge of thousands of keys', () => {
  for (const order of ['rising', 'falling']) {
    test(`leaves what is added meanwhile, of names in ${order} order`, async () => {
      const { driver } = storeOn(scratchFile())
      await driver.open({ clock: fakeClock() })
      const keys = Array.from({ length: 2_500 }, (_, i) => String(i).padStart(4, '0'))
      if (order === 'falling') keys.reverse()
      for (let at = 0; at < keys.length; at += 500) {
        await driver.add('q', keys.slice(at, at + 500).map(ask), askOptions)
      }
      const { claims } = await driver.claim('q', claimRequest(2))
      const [failing, dirty] = claims.map(({ key, token }) => ({ key, token }))
      assert.ok(failing !== undefined && dirty !== undefined)
      await driver.add('q', [ask(dirty.key)], askOptions)
      const purged = driver.operate.purge('q')
      await driver.add('q', [ask('before'), ask('~ after')], askOptions)
      const retry = { as: 'retry', ...failing, delayMs: 0 } as const
      const done = { as: 'done', ...dirty, forget: false } as const
      await driver.finish('q', [retry, done], askOptions)
      assert.equal(await purged, 2_499)
      const { rows } = await driver.list('q', { limit: 10 })
      const left = rows.map(({ key }) => key)
      assert.deepEqual(left, [failing.key, 'before', '~ after'])
      await driver.close()
    })
  }
})
