import assert from 'node:assert/strict'
import { SluiceError, systemClock } from '@sluice/core'
import { type FakeClock, fakeClock } from '@sluice/core/testing'
import { examineStore } from '@sluice/sqlite'
import { describe, onTestFinished, test, vi } from 'vitest'
import { scratchFile } from './scratch.ts'
import { ask, askOptions, claimRequest, type Store, storeOn } from './store.ts'

const hour = 3_600_000

async function opened(file: string, clock: FakeClock): Promise<Store> {
  const store = storeOn(file)
  await store.driver.open({ clock })
  return store
}

async function keysOf({ driver }: Store): Promise<readonly string[]> {
  const { claims } = await driver.claim('q', claimRequest(10))
  return claims.map(({ key }) => key)
}

const tickRequest = { holder: 'holder', limit: 10, failuresExpireMs: 86_400_000 }

describe('after the wall clock was set back', () => {
  for (const back of [1_000, 30_000, hour, 10 * 365 * 24 * hour]) {
    test(`by ${back} ms, ready keys stay ready and delays end on time, for every process`, async () => {
      const file = scratchFile()
      const clock = fakeClock()
      const one = await opened(file, clock)
      const two = await opened(file, clock)
      await one.driver.add('q', [ask('ready')], askOptions)
      await one.driver.add('q', [{ ...ask('delayed'), delayMs: 5_000 }], askOptions)
      for (const { driver } of [one, two]) driver.watch(() => {})
      clock.setTime(clock.now() - back)
      for (const { real } of [one, two]) await real.step(5)
      assert.deepEqual(await keysOf(two), ['ready'])
      const { now, nextAt } = await two.driver.tick('q', tickRequest)
      assert.equal(nextAt - now, 5_000)
      await clock.step(4_999)
      assert.deepEqual(await keysOf(two), [])
      await clock.step(1)
      assert.deepEqual(await keysOf(one), ['delayed'])
      assert.equal(one.driver.ahead, back)
      await one.driver.close()
      await two.driver.close()
    })
  }

  test('a process that starts then continues from the time of the others', async () => {
    const file = scratchFile()
    const clock = fakeClock()
    const one = await opened(file, clock)
    await one.driver.add('q', [ask('ready')], askOptions)
    clock.setTime(clock.now() - hour)
    await one.driver.add('q', [{ ...ask('delayed'), delayMs: 5_000 }], askOptions)
    await one.driver.close()
    const two = await opened(file, clock)
    assert.deepEqual(await keysOf(two), ['ready'])
    assert.equal(two.driver.ahead, hour)
    await clock.step(5_000)
    assert.deepEqual(await keysOf(two), ['delayed'])
    await two.driver.close()
  })

  test('while no process had the file open, at most a second is lost', async () => {
    const file = scratchFile()
    const clock = fakeClock()
    const one = await opened(file, clock)
    await one.driver.add('q', [{ ...ask('old'), delayMs: 999 }], askOptions)
    await clock.step(999)
    const leases = (await one.driver.claim('q', claimRequest(1))).claims
    assert.equal(leases[0]?.key, 'old')
    await one.driver.add('q', [ask('ready')], askOptions)
    await one.driver.close()
    clock.setTime(clock.now() - hour)
    const two = await opened(file, clock)
    await clock.step(1_000)
    assert.deepEqual(await keysOf(two), ['ready'])
    await two.driver.close()
  })

  test('the time before it counts, if a process was only waiting meanwhile', async () => {
    const clock = fakeClock()
    const one = await opened(scratchFile(), clock)
    one.driver.watch(() => {})
    await one.driver.add('q', [{ ...ask('delayed'), delayMs: 900 }], askOptions)
    await clock.step(899)
    await one.real.step(5)
    clock.setTime(clock.now() - 500)
    assert.deepEqual(await keysOf(one), [])
    await clock.step(1)
    assert.deepEqual(await keysOf(one), ['delayed'])
    await one.driver.close()
  })
})

test('processes that read different clocks agree on the later one to a second, and stay there', async () => {
  const file = scratchFile()
  const behind = fakeClock()
  const ahead = fakeClock(behind.now() + hour)
  const one = await opened(file, behind)
  const two = await opened(file, ahead)
  for (let nth = 0; nth < 5; nth += 1) {
    await one.driver.add('q', [ask(`one ${nth}`)], askOptions)
    await two.driver.add('q', [ask(`two ${nth}`)], askOptions)
    await Promise.all([behind.step(1_000), ahead.step(1_000)])
  }
  const behindMs = ahead.now() - (await one.driver.list('q', { limit: 1 })).now
  assert.ok(behindMs >= 0 && behindMs <= 1_000, `${behindMs} ms`)
  assert.equal((await two.driver.list('q', { limit: 1 })).now, ahead.now())
  assert.equal(two.driver.ahead, 0, 'they do not push each other forward')
  await one.driver.close()
  await two.driver.close()
})

for (const now of [0, -5_000]) {
  test(`a file is made where the system clock says ${now}, as fake timers of a test do`, async () => {
    const spy = vi.spyOn(Date, 'now').mockReturnValue(now)
    onTestFinished(() => spy.mockRestore())
    const { driver } = storeOn(scratchFile())
    await driver.open({ clock: systemClock })
    await driver.add('q', [ask('a')], askOptions)
    const { claims } = await driver.claim('q', claimRequest(1))
    assert.deepEqual(
      claims.map(({ key, token }) => [key, token > 0]),
      [['a', true]],
    )
    await driver.close()
  })
}

test('a claim that finds nothing costs no more after an add with a clock that was ahead', async () => {
  const clock = fakeClock()
  const { driver, library } = await opened(scratchFile(), clock)
  const delayed = Array.from({ length: 1_000 }, (_, nth) => ({
    ...ask(''),
    nth,
    delayMs: 50 * hour,
  }))
  const before = clock.now()
  clock.setTime(before + 365 * 24 * hour)
  await driver.add('q', [{ ...ask('ahead'), delayMs: hour }], askOptions)
  clock.setTime(before)
  // real time: what a claim reads shows in nothing else.
  const leastMs = async (): Promise<number> => {
    const took: number[] = []
    for (let nth = 0; nth < 101; nth += 1) {
      const startedAt = performance.now()
      assert.deepEqual((await driver.claim('q', claimRequest())).claims, [])
      await driver.tick('q', tickRequest)
      took.push(performance.now() - startedAt)
    }
    return Math.min(...took)
  }
  const beforeMs = await leastMs()
  for (let batch = 0; batch < 100; batch += 1) {
    const asks = delayed.map(({ nth, ...each }) => ({ ...each, key: `${batch}/${nth}` }))
    await driver.add('q', asks, askOptions)
  }
  const afterMs = await leastMs()
  // To read 100,000 keys takes more than 50 times as long.
  assert.ok(afterMs < 10 * beforeMs, `${afterMs} ms, ${beforeMs} ms before`)
  assert.ok(library.statements > 0)
  await driver.close()
})

test('an imported key that is due is ready, although its position is in the future of this store', async () => {
  const file = scratchFile()
  const clock = fakeClock()
  const { driver } = await opened(file, clock)
  const now = clock.now()
  await driver.add('q', [ask('a')], askOptions)
  const { rows } = await driver.list('q', { limit: 1 })
  const [row] = rows
  assert.ok(row)
  await driver.transfer.importRows('r', [{ ...row, readyAt: now + hour }])
  assert.equal((await driver.claim('r', claimRequest())).claims[0]?.key, 'a')
  await driver.close()
  assert.deepEqual((await examineStore({ file })).findings, [])
})

describe('the token counter', () => {
  for (const year of [1970, 9999]) {
    test(`starts above those of earlier files also if the clock of a test starts in ${year}`, async () => {
      const least = Date.now() * 1_000
      const { driver } = await opened(scratchFile(), fakeClock(Date.UTC(year)))
      await driver.add('q', [ask('a')], askOptions)
      const { claims } = await driver.claim('q', claimRequest())
      assert.ok(claims[0] !== undefined && claims[0].token > least)
      await driver.close()
    })
  }

  test('is not passed beyond 2^53', async () => {
    const { driver } = await opened(scratchFile(), fakeClock())
    await driver.add('q', ['a', 'b', 'c'].map(ask), askOptions)
    await driver.transfer.raiseTokens(Number.MAX_SAFE_INTEGER - 2)
    const { claims } = await driver.claim('q', claimRequest(2))
    assert.deepEqual(
      claims.map(({ token }) => token),
      [Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER],
    )
    await assert.rejects(
      async () => await driver.claim('q', claimRequest()),
      (error) => SluiceError.is(error, 'ERR_STORE') && !error.retryable,
    )
    const [a] = claims
    assert.ok(a)
    const done = { as: 'done', key: a.key, token: a.token, forget: true } as const
    assert.equal((await driver.finish('q', [done], askOptions))[0]?.outcome, 'idle')
    assert.equal((await driver.add('q', [ask('d')], askOptions))[0]?.outcome, 'added')
    await driver.close()
  })

  test('is reported by every verb and by an examination if its row is missing', async () => {
    const file = scratchFile()
    const { driver, library } = await opened(file, fakeClock())
    await driver.add('q', [ask('a')], askOptions)
    const database = library.open(file)
    database.exec('delete from sluice_store')
    database.close()
    const verbs = [
      async () => await driver.add('q', [ask('b')], askOptions),
      async () => await driver.claim('q', claimRequest()),
      async () => await driver.tick('q', tickRequest),
    ]
    for (const verb of verbs) {
      await assert.rejects(verb, (error) => SluiceError.is(error, 'ERR_STORE_DAMAGED'))
    }
    await driver.close()
    const { findings } = await examineStore({ file })
    assert.ok(findings.includes('the row of the token counter is missing'), findings.join('; '))
  })
})
