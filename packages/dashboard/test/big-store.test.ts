import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FakeClock, fakeClock } from '@sluice/core/testing'
import { sqliteDriver } from '@sluice/sqlite'
import { createQueue, createRateLimitingQueue } from 'sluice'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ExactCounts, KeyLines, Matching, Overview, QueueView } from '../src/wire.ts'
import { CountingDatabase } from './counting-sqlite.ts'
import { EventReader } from './event-reader.ts'
import { actingSite, type Site, withQuery } from './site.ts'

const queuesMax = 100
const keysPerQueue = 1_000
const keysInBig = 1_000_000 - (queuesMax - 1) * keysPerQueue

let folder: string
let database: CountingDatabase
let clock: FakeClock
let site: Site

/** Lets everything run that yields to the event loop. */
async function manyTurns(): Promise<void> {
  for (let turn = 0; turn < 100; turn += 1) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve)
    })
  }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-dashboard-'))
  database = new CountingDatabase(join(folder, 'big.db'))
  clock = fakeClock(undefined, { settle: manyTurns })
  const driver = sqliteDriver({ database, exclusive: true, durability: 'process' })
  const ask = { dedupe: 'client-go', failuresExpireMs: 86_400_000, maxPending: undefined } as const
  const first = createQueue<string>({ name: 'queue 000', driver, clock })
  await first.inspect.counts()
  for (let queue = 0; queue < queuesMax; queue += 1) {
    const name = queue === 0 ? 'big' : `queue ${String(queue).padStart(3, '0')}`
    const keys = queue === 0 ? keysInBig : keysPerQueue
    for (let from = 0; from < keys; from += 1_000) {
      // Nine in ten are ready, one is delayed.
      const asks = Array.from({ length: Math.min(1_000, keys - from) }, (_, at) => ({
        key: `order/${String(from + at).padStart(7, '0')}`,
        item: undefined,
        priority: at % 3,
        delayMs: at % 10 === 0 ? 3_600_000 + at : 0,
      }))
      await driver.add(name, asks, ask)
    }
  }
  // One key in a million is parked, and one has failed; both stand near the end.
  const big = createRateLimitingQueue<string>({ name: 'big', driver, clock })
  await big.inspect.park('order/0900000')
  await big.addRateLimited('order/0900003')
  site = await actingSite({ driver, clock })
}, 300_000)

afterAll(async () => {
  await site.close()
  database.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The cost of an answer; printed with the time, which depends on the machine. */
async function cost(what: string, ask: () => Promise<unknown>): Promise<CountingDatabase['asked']> {
  database.reset()
  const before = performance.now()
  await ask()
  const ms = performance.now() - before
  const { statements, rows } = database.asked
  console.log(`${what}: ${statements} statements, ${rows} rows, ${ms.toFixed(0)} ms`)
  expect(database.scans(), what).toEqual([])
  return database.asked
}

describe(`a store of ${queuesMax} queues and a million keys`, () => {
  test('shows its overview with a bounded number of reads for each queue, in a page and in a tick', async () => {
    let overview: Overview | undefined
    const page = await cost('the overview', async () => {
      overview = (await site.ask<Overview>('/api/overview')).body
    })
    expect(overview?.queues).toHaveLength(queuesMax)
    expect(overview?.queues.find(({ queue }) => queue === 'big')?.counts).toMatchObject({
      ...{ ready: 10_000, capped: true },
    })
    // Counts of seven states at three priorities, the workers, the history and the failed runs.
    expect(page.statements).toBeLessThan(queuesMax * 35)
    expect(page.rows).toBeLessThan(queuesMax * 40)

    const events = new EventReader(await site.send('/api/stream?about=overview'))
    await clock.step(0)
    await events.next()
    const tick = await cost('a tick of the overview', () => clock.step(1_000))
    expect(tick.statements).toBeLessThan(queuesMax * 35)
    // Nothing has changed but the age of the oldest keys.
    expect((await events.next())?.event).toBe('ping')
    await events.cancel()
  })

  test('shows its biggest queue by reading some thousand keys, and few while it is watched', async () => {
    let view: QueueView | undefined
    const page = await cost('the queue of 901,000 keys', async () => {
      view = (await site.ask<QueueView>('/api/queue?queue=big')).body
    })
    expect(view?.counts).toMatchObject({ ready: 10_000, parked: 1, capped: true })
    expect(page.rows).toBeLessThan(12_000)
    const events = new EventReader(await site.send('/api/stream?about=queue&queue=big'))
    await clock.step(0)
    await events.next()
    const tick = await cost('a tick of it', () => clock.step(1_000))
    expect(tick.statements).toBeLessThan(60)
    expect(tick.rows).toBeLessThan(200)
    await events.cancel()
  })

  test('lists keys page by page with every filter, reading a bounded number', async () => {
    const queries: Record<string, Record<string, string | number>> = {
      'the first page': {},
      'a page far behind': { cursor: 'order/0800000' },
      'keys by prefix': { prefix: 'order/08999' },
      'delayed keys': { state: 'delayed' },
      'parked keys': { state: 'parked' },
      'keys that back off, of which there are none': { state: 'backoff' },
      'keys that have failed, of which there is one': { failuresMin: 1 },
      'keys by the code of their error': { errorCode: 'ECONNREFUSED' },
    }
    for (const [what, query] of Object.entries(queries)) {
      let lines: KeyLines | undefined
      const { statements, rows } = await cost(what, async () => {
        const path = withQuery('/api/keys', { queue: 'big', ...query })
        lines = (await site.ask<KeyLines>(path)).body
      })
      // A search reads 10,000 keys for each request, 200 at a time; a list of a store's own few hundred.
      const isSearch = 'failuresMin' in query || 'errorCode' in query
      expect(statements, what).toBeLessThan(isSearch ? 500 : 100)
      expect(rows, what).toBeLessThan(isSearch ? 12_000 : 4_000)
      expect(lines?.keys.length, what).toBeLessThanOrEqual(100)
      // The search can continue from the cursor.
      if (lines?.keys.length === 0) expect(lines.cursor, what).toBeDefined()
    }
  })

  test('finds the one key that has failed, in less than a hundred requests', async () => {
    const found: string[] = []
    let requests = 0
    await cost('the search of the whole queue', async () => {
      let cursor: string | undefined
      do {
        const query = { queue: 'big', failuresMin: 1, ...(cursor === undefined ? {} : { cursor }) }
        const { body } = await site.ask<KeyLines>(withQuery('/api/keys', query))
        found.push(...body.keys.map(({ key }) => key))
        cursor = body.cursor
        requests += 1
      } while (cursor !== undefined)
    })
    expect(found).toEqual(['order/0900003'])
    expect(requests).toBeLessThan(100)
  })

  test('counts every key on demand', async () => {
    await cost('counting 901,000 keys', async () => {
      const { body } = await site.ask<ExactCounts>('/api/counts?queue=big')
      const { ready, delayed, backoff, parked, capped } = body.counts
      expect([ready + delayed + backoff + parked, capped]).toEqual([keysInBig, false])
    })
  })

  test('counts the keys that match a filter up to a cap', async () => {
    const queries: Record<string, [Record<string, string | number>, Partial<Matching>]> = {
      'all keys': [{}, { count: 10_000, capped: true }],
      'parked keys': [{ state: 'parked' }, { count: 1, capped: false }],
      'keys of a prefix': [{ prefix: 'order/0899' }, { count: 1_000, capped: false }],
      // The one that has failed is far behind: counting continues from a cursor.
      'failed keys': [
        { failuresMin: 1 },
        { count: 0, capped: false, lookedAt: 20_000, cursor: expect.any(String) as never },
      ],
    }
    for (const [what, [query, expected]] of Object.entries(queries)) {
      let matching: Matching | undefined
      const { rows } = await cost(`counting ${what}`, async () => {
        matching = (
          await site.ask<Matching>(withQuery('/api/matching', { queue: 'big', ...query }))
        ).body
      })
      expect(matching, what).toMatchObject(expected)
      expect(matching?.cursor !== undefined, what).toBe(expected.cursor !== undefined)
      expect(rows, what).toBeLessThan(25_000)
    }
  })

  test('shows one key by reading it, and changes it', async () => {
    const key = 'order/0512345'
    const page = await cost('one key', () =>
      site.ask(withQuery('/api/key', { queue: 'big', key, item: 1 })),
    )
    expect(page.statements).toBeLessThan(40)
    await cost('parking one key', () => site.act({ queue: 'big', action: 'park', key }))
    const all = { state: 'parked' }
    await cost('putting all parked keys back', () =>
      site.act({ queue: 'big', action: 'unpark', all, expected: 10 }),
    )
    // Other tests read the one that was parked before.
    await site.act({ queue: 'big', action: 'park', key: 'order/0900000' })
  })
})
