import { createRequire } from 'node:module'
import type { Driver } from '@sluice/core'
import { type FakeClock, fakeClock } from '@sluice/core/testing'
import { memoryDriver } from '@sluice/memory'
import { postgresDriver } from '@sluice/postgres'
import { redisDriver } from '@sluice/redis'
import { type SqliteDatabase, sqliteDriver } from '@sluice/sqlite'
import { startPostgres } from '@sluice/test-postgres'
import { hasRedis, startRedis } from '@sluice/test-redis'
import pg from 'pg'
import { createRateLimitingQueue, createWorker, type RateLimitingQueue, type Worker } from 'sluice'
import { describe, expect, onTestFinished, test } from 'vitest'
import { countedDriver } from '../../support/idle/counted-driver.ts'
import { SkippedTime } from '../../support/idle/skipped-time.ts'
import { watchUnanswered } from '../../support/idle/unanswered.ts'
import { emptyFile } from '../../support/stores/empty-file.ts'

// A worker waits for 24 virtual hours, with `quietAfterMs`. The database counts what it is asked. Both
// the time of the queue and that of the driver's own timers pass.

const minuteMs = 60_000
const hourMs = 60 * minuteMs

interface QuietStore {
  readonly driver: Driver
  /** The driver of another process; absent where there can be none. */
  readonly peer?: Driver
  /** How many statements or commands the database has counted. */
  asked(): number | Promise<number>
  /** Set if a driver asks a server of its own accord, too, beside the calls of its verbs. */
  readonly isServer?: boolean
  /** Checks that no connection is left. */
  expectUnconnected?(): Promise<void>
}

/** Counts the calls of a driver that have no answer yet. */
function inFlight(driver: Driver): { readonly driver: Driver; readonly count: () => number } {
  let count = 0
  const proxy = new Proxy(driver, {
    get(_, name) {
      const value: unknown = Reflect.get(driver, name, driver)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        const answer: unknown = Reflect.apply(value, driver, args)
        if (!(answer instanceof Promise)) return answer
        count += 1
        return answer.finally(() => {
          count -= 1
        })
      }
    },
  })
  return { driver: proxy, count: () => count }
}

/** A worker that becomes quiet after a minute, and the keys that it has run. */
class QuietWorker {
  readonly clock: FakeClock
  readonly queue: RateLimitingQueue<string>
  readonly worker: Worker
  readonly ran: string[] = []
  readonly #store: QuietStore
  readonly #count: () => number
  readonly #time: SkippedTime
  readonly #isUnanswered = watchUnanswered()
  #isAnswering = true

  constructor(store: QuietStore, time: SkippedTime) {
    this.#time = time
    const { driver, count } = inFlight(store.driver)
    this.#store = store
    this.#count = count
    this.clock = fakeClock(undefined, { settle: () => this.#answers() })
    const { clock } = this
    this.queue = createRateLimitingQueue<string>({
      name: 'orders',
      driver,
      clock,
      leaseMs: 30_000,
      quietAfterMs: minuteMs,
      limiter: { when: () => hourMs, forget: () => undefined, numRequeues: () => 0 },
    })
    this.worker = createWorker<string>({
      queue: this.queue,
      handler: (key, { failures }) => {
        this.ran.push(key)
        if (key === 'failing' && failures === 0) throw new Error('once')
      },
    })
  }

  /** Adds as another process does. */
  async addElsewhere(key: string, driver: Driver): Promise<void> {
    const theirs = createRateLimitingQueue<string>({ name: 'orders', driver, clock: this.clock })
    await theirs.add(key)
    await theirs.close()
  }

  /** While calls are expected: lets those under way be answered before time passes. */
  async #answers(): Promise<void> {
    await new Promise(setImmediate)
    if (!this.#isAnswering) return
    let mustWait = this.#store.isServer === true
    while (mustWait || this.#count() > 0 || this.#isUnanswered()) {
      mustWait = false
      // real time: databases answer in it.
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }

  async ranAll(...keys: readonly string[]): Promise<void> {
    await expect.poll(() => this.ran).toEqual(keys)
  }

  /** Five minutes, after which nothing may be asked. */
  async becomeQuiet(): Promise<void> {
    await this.#pass(5 * minuteMs, 1_000)
    await this.#store.expectUnconnected?.()
  }

  async #pass(ms: number, stepMs: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await this.clock.step(stepMs)
      await this.#time.skip(stepMs, () => this.#answers())
    }
  }

  async passUnasked(ms: number): Promise<void> {
    const before = await this.#store.asked()
    this.#isAnswering = false
    await this.#pass(ms, minuteMs)
    this.#isAnswering = true
    await this.clock.step(0)
    expect((await this.#store.asked()) - before, `asked in ${ms / hourMs} hours`).toBe(0)
  }
}

async function waitADay(make: () => QuietStore): Promise<void> {
  const time = SkippedTime.begin()
  const store = make()
  const it = new QuietWorker(store, time)
  const { clock, queue, worker, ran } = it
  await queue.add('first')
  await it.ranAll('first')
  const atWork = await store.asked()
  await clock.step(minuteMs)
  expect(await store.asked(), 'asked while it is not quiet').toBeGreaterThan(atWork)
  await it.becomeQuiet()
  await it.passUnasked(24 * hourMs)

  // An add in this process ends the quiet.
  await queue.add('second')
  await it.ranAll('first', 'second')

  // So does the time of a delayed key, and of one in back-off; nothing is asked until then.
  await queue.addAfter('delayed', 2 * hourMs)
  await it.becomeQuiet()
  await it.passUnasked(hourMs)
  await clock.step(hourMs)
  await it.ranAll('first', 'second', 'delayed')
  ran.length = 0
  await queue.add('failing')
  await it.ranAll('failing')
  await it.becomeQuiet()
  await it.passUnasked(hourMs / 2)
  await clock.step(hourMs / 2)
  await it.ranAll('failing', 'failing')

  // Keys of another process are found when this one is woken, and not before.
  ran.length = 0
  if (store.peer !== undefined) {
    await it.becomeQuiet()
    await it.addElsewhere('theirs', store.peer)
    await it.clock.step(hourMs)
    expect(ran).toEqual([])
    queue.wake()
    await it.ranAll('theirs')
    await it.becomeQuiet()
    await it.passUnasked(hourMs)
    ran.length = 0
  }

  // A paused queue becomes quiet with a ready key in it, and goes on when it is resumed.
  await it.becomeQuiet()
  await queue.inspect.pause()
  await queue.add('paused')
  await it.becomeQuiet()
  await it.passUnasked(hourMs)
  expect(ran).toEqual([])
  await queue.inspect.resume()
  await it.ranAll('paused')

  await it.becomeQuiet()
  await worker.stop()
  await queue.close()
  expect(worker.health().reasons).toEqual(['STOPPED'])
}

describe('a quiet store is asked nothing for 24 hours', () => {
  test('memory, with leases: calls of the driver', async () => {
    const calls: Record<string, number> = {}
    await waitADay(() => ({
      driver: countedDriver(memoryDriver(), calls),
      asked: () => Object.values(calls).reduce((sum, count) => sum + count, 0),
    }))
  })

  test('SQLite: statements', async () => {
    const file = emptyFile()
    let statements = 0
    const Database = createRequire(import.meta.resolve('@sluice/sqlite'))('better-sqlite3')
    const database: SqliteDatabase = new Database(file, {
      verbose() {
        statements += 1
      },
    })
    onTestFinished(() => void database.close())
    await waitADay(() => ({
      driver: sqliteDriver({ database, exclusive: true }),
      peer: sqliteDriver({ file }),
      asked: () => statements,
    }))
  })

  test('Postgres: statements and connections', async () => {
    let log = ''
    const server = await startPostgres({
      settings: ['log_statement=all', 'log_line_prefix=db=%d '],
      onLog: (text) => {
        log += text
      },
    })
    onTestFinished(() => server.dispose())
    const watching = new pg.Client({ connectionString: server.url })
    await watching.connect()
    onTestFinished(() => watching.end())
    await watching.query('create database quiet')
    const url = new URL(server.url)
    url.pathname = '/quiet'
    const [pool, other] = [0, 1].map(() => {
      // Connections without a statement are closed, by default after 10 s of real time.
      const each = new pg.Pool({ connectionString: url.href, idleTimeoutMillis: 50 })
      each.on('error', () => {})
      onTestFinished(() => each.end())
      return each
    }) as [pg.Pool, pg.Pool]
    let marks = 0
    await waitADay(() => ({
      driver: postgresDriver({ pool, onWarning() {} }),
      peer: postgresDriver({ pool: other, onWarning() {} }),
      isServer: true,
      async asked() {
        marks += 1
        await watching.query(`select 'mark ${marks}'`)
        await expect.poll(() => log).toContain(`'mark ${marks}'`)
        return log.match(/^db=quiet LOG: {2}(?:statement|execute)/gm)?.length ?? 0
      },
      async expectUnconnected() {
        const connected = "select 1 from pg_stat_activity where datname = 'quiet'"
        await expect.poll(async () => (await watching.query(connected)).rows).toEqual([])
      },
    }))
  })

  describe.skipIf(!hasRedis)('redis-server', () => {
    test.for(['redis', 'ioredis'] as const)('Redis with %s: commands', async (library) => {
      const server = await startRedis()
      onTestFinished(() => server.dispose())
      await waitADay(() => ({
        driver: redisDriver({ url: server.url, library }),
        peer: redisDriver({ url: server.url, library }),
        isServer: true,
        async asked() {
          const stats = String(await server.command('INFO', 'commandstats'))
          const calls = [...stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)]
          return calls.reduce((sum, [, name, n]) => (name === 'info' ? sum : sum + Number(n)), 0)
        },
      }))
    })
  })
})

test('a delayed key is on time although the machine was suspended meanwhile', async () => {
  const clock = fakeClock()
  const inner = sqliteDriver({ file: emptyFile() })
  // The queue knows the store's time by its answers and the monotonic clock, as with a server.
  const capabilities = { ...inner.capabilities, clock: false }
  const driver = new Proxy(inner, {
    get(_, name) {
      if (name === 'capabilities') return capabilities
      const value: unknown = Reflect.get(inner, name, inner)
      return typeof value === 'function' ? value.bind(inner) : value
    },
  })
  const options = { name: 'q', driver, clock, quietAfterMs: minuteMs }
  const queue = createRateLimitingQueue<string>(options)
  onTestFinished(() => queue.close())
  const getting = queue.get()
  await queue.addAfter('late', 6 * hourMs)
  await clock.step(hourMs)
  // The wall clock goes on during a suspension, and the monotonic clock stands still.
  clock.setTime(clock.now() + 5 * hourMs)
  await clock.step(20_000)
  expect((await Promise.race([getting, Promise.resolve(undefined)]))?.key).toBe('late')
})
