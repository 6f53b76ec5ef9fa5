/** The server's wall clock is stepped: the store's time never goes back, for any process. */
import type { Driver } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { needs } from '@sluice/needs'
import { fakeTimeLibrary } from '@sluice/needs/stepped-clock'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { postgresDriver } from '../../src/index.ts'
import { askOptions as options } from '../support/asks.ts'
import { sql } from '../support/server.ts'
import { type SteppedServer, startSteppedServer } from '../support/stepped-server.ts'

// A server that is not ours has the clock of its machine.
const isOurs = process.env['SLUICE_TEST_POSTGRES_URL'] === undefined
const canStep =
  needs('libfaketime', fakeTimeLibrary !== undefined) && needs('a server of our own', isOurs)

const tickRequest = { holder: 'h', limit: 100, failuresExpireMs: 86_400_000 }
const leaseMs = 60_000
/** How much a step may move the store's time, in milliseconds, in addition to the time that passes. */
const slackMs = 1_000
/** How late an answer may be read, in milliseconds. */
const slackOfAnswersMs = 50

function ask(key: string, delayMs = 0) {
  return { key, item: undefined, priority: 0, delayMs }
}

function claimOf(driver: Driver, limit = 10) {
  return driver.claim('q', { limit, holder: 'h', claimId: `c${Math.random()}`, leaseMs })
}

describe.skipIf(!canStep)('the server is stepped', () => {
  let server: SteppedServer
  let made = 0
  const open: Driver[] = []

  async function opened(): Promise<Driver> {
    const driver = postgresDriver({
      connectionString: server.url,
      schema: `steps_${made}`,
      poolSize: 2,
      notify: false,
      onWarning() {},
    })
    await driver.open({})
    open.push(driver)
    return driver
  }

  /** The present by the first claim of a process, and how much passed on the machine's clock. */
  async function presentOf(driver: Driver): Promise<number> {
    return (await driver.tick('clock', tickRequest)).now
  }

  /**
   * The same from an answer that was read soon. A process that reads one late is behind by as much, until
   * the next one: it counts the time from when it read it.
   */
  async function presentInTime(driver: Driver): Promise<number> {
    for (;;) {
      const sentAt = performance.now()
      const now = await presentOf(driver)
      if (performance.now() - sentAt < slackOfAnswersMs) return now
    }
  }

  beforeAll(async () => {
    server = await startSteppedServer()
  })

  /**
   * By how much a process knows the store's time to be ahead. The process that is answered with a
   * time of the past sets it forward after it has passed that answer on, not before.
   */
  function aheadOf(driver: Driver) {
    return expect.poll(async () => {
      await presentOf(driver)
      return driver.ahead ?? 0
    })
  }

  afterAll(async () => {
    await server.stop()
  })

  beforeEach(() => {
    made += 1
    server.setOffset(0)
  })

  afterEach(async () => {
    for (const driver of open.splice(0)) await driver.close()
  })

  for (const stepMs of [1_000, 60_000, 3_600_000]) {
    test(`${stepMs} ms back: ready keys stay ready, and delays end on time`, async () => {
      const driver = await opened()
      const other = await opened()
      await driver.add('q', [ask('ready'), ask('soon', 200), ask('later', 30_000)], options)
      const askedAt = performance.now()
      await presentInTime(other)
      const before = await presentInTime(driver)
      const startedAt = performance.now()
      server.setOffset(-stepMs)
      // By two processes, one of which has heard nothing lately.
      const keys = new Set<string>()
      let [newest, latest] = [before, before]
      while (keys.size < 2) {
        const sentMs = performance.now() - startedAt
        for (const one of [other, driver]) {
          const { claims, now } = await claimOf(one)
          if (one === driver) {
            expect(now).toBeGreaterThanOrEqual(latest)
            latest = now
          }
          expect(now).toBeGreaterThan(newest - 100 - slackOfAnswersMs)
          newest = Math.max(newest, now)
          for (const { key, leaseUntil } of claims) {
            keys.add(key)
            // Its lease is as long as that of any other claim.
            expect(leaseUntil).toBeGreaterThan(before + leaseMs - slackMs)
          }
        }
        // However late claims are answered: those that were sent after its delay find the key.
        if (keys.size < 2) expect(sentMs).toBeLessThan(200 + slackMs)
      }
      expect([...keys].sort()).toEqual(['ready', 'soon'])
      // A process that starts afterwards agrees; its delays are not shorter either.
      const late = await opened()
      const passedMs = performance.now() - startedAt
      const present = await presentOf(late)
      expect(present).toBeGreaterThan(before + passedMs - slackMs)
      expect(present).toBeLessThan(before + (performance.now() - askedAt) + slackMs)
      await late.add('q', [ask('new'), ask('newer', 30_000)], options)
      expect((await claimOf(driver)).claims.map(({ key }) => key)).toEqual(['new'])
      for (const one of [driver, other, late]) {
        await aheadOf(one).toBeGreaterThan(stepMs - slackMs)
        expect(one.ahead).toBeLessThan(stepMs + slackMs)
      }
    })
  }

  test('steps back while no process is open are found by the next one', async () => {
    const first = await opened()
    await first.add('q', [ask('ready')], options)
    // The tick notes the present once it is nine seconds newer than what is noted.
    await sql(server.url, `select setval('steps_${made}.latest', 1)`)
    const before = await presentOf(first)
    await first.close()
    server.setOffset(-3_600_000)
    const second = await opened()
    const reply = await claimOf(second)
    expect(reply.claims.map(({ key }) => key)).toEqual(['ready'])
    // The present is noted in whole microseconds; a number of milliseconds holds fewer digits.
    expect(reply.now).toBeGreaterThan(before - 0.01)
    // Known to others, and to the next.
    const third = await opened()
    await aheadOf(third).toBeGreaterThan(3_590_000)
    expect((await claimOf(third)).now).toBeGreaterThanOrEqual(reply.now)
  })

  test('a process makes up for the second step back as for the first', async () => {
    const driver = await opened()
    await driver.add('q', [ask('ready')], options)
    for (const backMs of [60_000, 3_600_000]) {
      await presentInTime(driver)
      server.setOffset(-backMs)
      await aheadOf(driver).toBeGreaterThan(backMs - slackMs)
      expect(driver.ahead).toBeLessThan(backMs + slackMs)
    }
  })

  for (const stepMs of [60_000, 3_600_000, 10 * 31_557_600_000]) {
    test(`${stepMs} ms forward and back: delays end early, and time goes on`, async () => {
      const driver = await opened()
      const before = await presentOf(driver)
      await driver.add('q', [ask('a', stepMs - 10_000)], options)
      server.setOffset(stepMs)
      expect((await claimOf(driver)).claims).toHaveLength(1)
      const after = await presentOf(driver)
      expect(after).toBeGreaterThan(before + stepMs - slackMs)
      expect(driver.ahead).toBe(0)
      server.setOffset(0)
      await driver.add('q', [ask('b', 100), ask('c', 60_000)], options)
      const startedAt = performance.now()
      let keys: string[] = []
      while (keys.length === 0) {
        const sentMs = performance.now() - startedAt
        keys = (await claimOf(driver)).claims.map(({ key }) => key)
        if (keys.length === 0) expect(sentMs).toBeLessThan(100 + slackMs)
      }
      expect(keys).toEqual(['b'])
      await aheadOf(driver).toBeGreaterThan(stepMs - slackMs)
    })
  }

  test('a held key is not reported as expired by a step back', async () => {
    const driver = await opened()
    const other = await opened()
    await driver.add('q', [ask('a')], options)
    server.setOffset(-3_600_000)
    const [{ token = 0 } = {}] = (await claimOf(driver)).claims
    await presentOf(driver)
    const tick = await other.tick('q', tickRequest)
    expect(tick.leaseEnds).toEqual([])
    const [renewed] = await other.renew('q', [{ key: 'a', token }], leaseMs)
    expect(renewed).toMatchObject({ outcome: 'renewed' })
  })

  test('ticks of an idle store note the present at most once in nine seconds', async () => {
    const driver = await opened()
    const noted = async (): Promise<string> => {
      const [result] = await sql(server.url, `select last_value from steps_${made}.latest`)
      return String(result?.rows[0]?.last_value)
    }
    await presentOf(driver)
    const first = await noted()
    for (let times = 0; times < 5; times += 1) await presentOf(driver)
    expect(await noted()).toBe(first)
    server.setOffset(10_000)
    await presentOf(driver)
    expect(Number(await noted())).toBeGreaterThan(Number(first))
  })

  test('a clock that is given never goes back either, and is no concern of the server', async () => {
    const clock = fakeClock()
    const driver = postgresDriver({
      connectionString: server.url,
      schema: `steps_${made}`,
      notify: false,
    })
    await driver.open({ clock })
    open.push(driver)
    await driver.add('q', [ask('ready'), ask('later', 1_000)], options)
    clock.setTime(clock.now() - 3_600_000)
    expect((await claimOf(driver)).claims.map(({ key }) => key)).toEqual(['ready'])
    expect(driver.ahead).toBeCloseTo(3_600_000)
    await clock.step(1_000)
    expect((await claimOf(driver)).claims.map(({ key }) => key)).toEqual(['later'])
  })
})
