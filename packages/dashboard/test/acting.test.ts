import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Driver, type SluiceEvent, sluiceChannel } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { memoryDriver } from '@sluice/memory'
import { postgresDriver } from '@sluice/postgres'
import { sqliteDriver } from '@sluice/sqlite'
import { type PostgresServer, startPostgres } from '@sluice/test-postgres'
import { createRateLimitingQueue, createWorker, exponential, type RateLimitingQueue } from 'sluice'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ActionResult, KeyLine, Overview } from '../src/wire.ts'
import { type Answer, actingSite, kept, type Site, withQuery } from './site.ts'

let postgres: PostgresServer
let folder: string
let schemas = 0

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-dashboard-'))
  postgres = await startPostgres()
})

afterAll(async () => {
  await postgres.dispose()
  rmSync(folder, { recursive: true, force: true })
})

const stores: Record<string, () => Driver> = {
  memory: () => memoryDriver(),
  sqlite: () => sqliteDriver({ file: join(folder, `${schemas++}.db`), durability: 'process' }),
  postgres: () => {
    const schema = `acting_${schemas++}`
    return postgresDriver({ connectionString: postgres.url, schema, onWarning() {} })
  },
}

for (const [name, make] of Object.entries(stores)) {
  describe(`acting on ${name}`, () => {
    async function setUp(): Promise<{ site: Site; queue: RateLimitingQueue<unknown> }> {
      const clock = fakeClock()
      const driver = make()
      const limiter = exponential({ baseMs: 1_000, maxMs: 60_000 })
      const queue = kept(
        createRateLimitingQueue<unknown>({ name: 'orders', driver, clock, limiter }),
      )
      const site = kept(await actingSite({ driver, clock }))
      return { site, queue }
    }

    async function done(site: Site, action: object): Promise<ActionResult> {
      const { status, body } = await site.act({ queue: 'orders', ...action })
      expect(status, JSON.stringify(body)).toBe(200)
      return body as unknown as ActionResult
    }

    async function line(site: Site, key: string): Promise<KeyLine | undefined> {
      const path = withQuery('/api/key', { queue: 'orders', key, item: 1 })
      return (await site.ask<{ line?: KeyLine }>(path)).body.line
    }

    async function refused(answer: Promise<Answer<Record<string, unknown>>>): Promise<unknown> {
      const { status, body } = await answer
      expect(status, JSON.stringify(body)).toBe(400)
      return body['code']
    }

    test('adds keys with their items, later, and before others', async () => {
      const { site } = await setUp()
      expect(await done(site, { action: 'add', item: { id: 1 } })).toMatchObject({ changed: 1 })
      expect(await line(site, 'json:{"id":1}')).toMatchObject({ state: 'ready', item: { id: 1 } })
      expect(await done(site, { action: 'add', key: 'a', item: null, priority: 7 })).toMatchObject({
        ...{ changed: 1, unchanged: 0, words: 'The key was added.' },
      })
      expect(await line(site, 'a')).toMatchObject({ state: 'ready', item: null, priority: 7 })
      await done(site, { action: 'add', item: 'later', afterMs: 5_000 })
      expect(await line(site, 'later')).toMatchObject({ state: 'delayed', item: 'later' })
      expect(await done(site, { action: 'add', key: 'a' })).toMatchObject({
        changed: 0,
        unchanged: 1,
      })
      expect(await line(site, 'a')).toMatchObject({ item: null, priority: 7 })
      expect(await done(site, { action: 'add', key: 'later' })).toMatchObject({ changed: 1 })
      // What is not stored is its own item, as on the command line.
      expect(await done(site, { action: 'add', key: 'never seen' })).toMatchObject({ changed: 1 })
      expect(await line(site, 'later')).toMatchObject({ state: 'ready' })
    })

    test('adds nothing that cannot be added', async () => {
      const { site, queue } = await setUp()
      const wrong = [
        { action: 'add' },
        { action: 'add', key: 'json:{' },
        { action: 'add', key: '' },
        { action: 'add', key: 1 },
        { action: 'add', item: 'x', afterMs: 'soon' },
        { action: 'add', item: 'x', afterMs: 1e300 },
        { action: 'add', item: 'x', priority: 1_001 },
        { action: 'add', item: 'x', priority: 1.5 },
        { action: 'add', item: 'x', all: {} },
        { action: 'add', item: 'x'.repeat(513) },
        // In memory, a queue may have no name.
        ...(name === 'memory' ? [] : [{ action: 'add', item: 'x', queue: '' }]),
        { action: 'add', item: 'x', queue: 'x'.repeat(129) },
      ]
      for (const action of wrong) {
        const code = await refused(site.act({ queue: 'orders', ...action }))
        expect(code, JSON.stringify(action).slice(0, 80)).toBe('ERR_INVALID_INPUT')
      }
      expect((await queue.inspect.list()).keys).toEqual([])
    })

    test('changes one key, and says if there was nothing to change', async () => {
      const { site, queue } = await setUp()
      await queue.addAfter('a', 60_000)
      const key = 'a'
      const steps: [object, string | undefined, number][] = [
        [{ action: 'runNow', key }, 'ready', 1],
        [{ action: 'runNow', key }, 'ready', 0],
        [{ action: 'park', key }, 'parked', 1],
        [{ action: 'park', key }, 'parked', 0],
        [{ action: 'unpark', key }, 'ready', 1],
        [{ action: 'unpark', key }, 'ready', 0],
        [{ action: 'forget', key }, 'ready', 0],
        [{ action: 'remove', key }, undefined, 1],
        [{ action: 'remove', key }, undefined, 0],
        [{ action: 'park', key }, undefined, 0],
      ]
      for (const [action, state, changed] of steps) {
        const result = await done(site, action)
        const what = JSON.stringify(action)
        expect(result, what).toMatchObject({ changed, unchanged: 1 - changed, capped: false })
        expect(result.words, what).toMatch(/^[A-Z].*\.$/)
        expect((await line(site, 'a'))?.state, what).toBe(state)
      }
    })

    test('forgets failures, of one key and when it is put back', async () => {
      const { site, queue } = await setUp()
      await queue.addMany(['a', 'b'])
      for (let run = 0; run < 2; run += 1) await (await queue.get())?.park(new Error('no'))
      const failures = async (key: string): Promise<number | undefined> =>
        (await line(site, key))?.failures
      for (const key of ['a', 'b']) {
        await done(site, { action: 'unpark', key })
        await (await queue.get())?.retry(new Error('no'))
      }
      const before = await failures('a')
      expect(before).toBeGreaterThan(0)
      expect(await done(site, { action: 'forget', key: 'a' })).toMatchObject({ changed: 1 })
      expect(await failures('a')).toBe(0)
      await done(site, { action: 'park', key: 'b' })
      expect(await failures('b')).toBe(before)
      await done(site, { action: 'unpark', key: 'b', forget: true })
      expect(await failures('b')).toBe(0)
    })

    test('says what became of an add, and forgets the failures of many', async () => {
      const { site, queue } = await setUp()
      const add = { action: 'add', key: 'a' }
      const wordsOf = async (action: object): Promise<unknown> => {
        const { changed, unchanged, words } = await done(site, action)
        return [changed, unchanged, words]
      }
      await queue.addAfter('a', 60_000)
      const earlier = 'The key was already pending; it now runs earlier.'
      expect(await wordsOf({ ...add, afterMs: 30_000 })).toEqual([1, 0, earlier])
      expect(await wordsOf(add)).toEqual([1, 0, 'The key was added.'])
      const same = 'The key was already pending; nothing changed.'
      expect(await wordsOf(add)).toEqual([0, 1, same])
      await (await queue.get())?.park(new Error('no'))
      const parked = 'The key is parked; it will run once it is unparked.'
      expect(await wordsOf(add)).toEqual([1, 0, parked])
      expect((await line(site, 'a'))?.failures).toBeGreaterThan(0)
      const all = { action: 'unpark', all: { state: 'parked' }, expected: 1, forget: true }
      expect(await wordsOf(all)).toEqual([1, 0, '1 key was unparked.'])
      expect((await line(site, 'a'))?.failures).toBe(0)
    })

    test('does not interrupt the holder of a key', async () => {
      const { site, queue } = await setUp()
      await queue.add('a')
      const held = await queue.get()
      await done(site, { action: 'remove', key: 'a' })
      await done(site, { action: 'park', key: 'a' })
      expect(await line(site, 'a')).toMatchObject({ state: 'processing', parked: true })
      expect(await held?.done()).toBe('parked')
    })

    test('releases the run that was seen, and no later one', async () => {
      const { site, queue } = await setUp()
      await queue.add('a')
      const first = await queue.get()
      const release = { action: 'release', key: 'a', token: first?.token }
      expect(await done(site, release)).toMatchObject({ changed: 1, unchanged: 0 })
      expect(await first?.done()).toBe('lost')
      const second = await queue.get()
      const late = await done(site, release)
      expect(late).toMatchObject({ changed: 0, unchanged: 1, words: 'That run has already ended.' })
      expect(await line(site, 'a')).toMatchObject({ state: 'processing' })
      expect(await done(site, { action: 'release', key: 'a' })).toMatchObject({ changed: 1 })
      expect(await second?.done()).toBe('lost')
      expect(await done(site, { action: 'release', key: 'b' })).toMatchObject({
        ...{ changed: 0, unchanged: 1, words: 'This key is no longer stored.' },
      })
    })

    test('pauses and resumes a queue', async () => {
      const { site, queue } = await setUp()
      await queue.add('a')
      await done(site, { action: 'pause' })
      expect((await queue.inspect.counts()).paused).toBe(true)
      expect((await done(site, { action: 'pause' })).words).toMatch(/othing changed/)
      await done(site, { action: 'resume' })
      expect((await queue.inspect.counts()).paused).toBe(false)
      const held = await queue.get()
      expect(held?.key).toBe('a')
      await held?.done()
    })

    test('purges a queue only with its name typed', async () => {
      const { site, queue } = await setUp()
      await queue.addMany(['a', 'b', 'c'])
      for (const confirm of [undefined, '', 'order', 'Orders', true]) {
        const code = await refused(site.act({ queue: 'orders', action: 'purge', confirm }))
        expect(code).toBe('ERR_NOT_CONFIRMED')
      }
      expect((await queue.inspect.counts()).ready).toBe(3)
      expect(await done(site, { action: 'purge', confirm: 'orders' })).toMatchObject({ changed: 3 })
      expect((await queue.inspect.counts()).ready).toBe(0)
    })

    test('changes no more than 10,000 keys, however many are confirmed', async () => {
      const { site, queue } = await setUp()
      await queue.addMany(Array.from({ length: 10_001 }, (_, at) => `order/${at}`))
      const park = { action: 'park', all: {}, expected: 1_000_000 }
      expect(await done(site, park)).toEqual({
        ...{ action: 'park', changed: 10_000, unchanged: 0, capped: true },
        words:
          '10,000 keys were parked. More than 10,000 keys match; the others were left unchanged.',
      })
      expect(await queue.inspect.counts()).toMatchObject({ ready: 1, parked: 10_000 })
    })

    test('changes every key that matches a filter, up to the confirmed number', async () => {
      const { site, queue } = await setUp()
      const keys = Array.from({ length: 30 }, (_, at) => `order/${String(at).padStart(2, '0')}`)
      await queue.addMany([...keys, 'other'])
      const all = { prefix: 'order/' }
      expect((await site.ask('/api/matching?queue=orders&prefix=order/')).body).toEqual({
        ...{ count: 30, capped: false, lookedAt: 30 },
      })
      const half = await done(site, { action: 'park', all, expected: 20 })
      expect(half).toMatchObject({ changed: 20, unchanged: 0, capped: true })
      expect(half.words).toMatch(/^20 keys were parked\. .*More than 20 keys.*left unchanged\.$/)
      expect((await queue.inspect.counts()).parked).toBe(20)
      expect(
        await done(site, { action: 'park', all: { prefix: 'no' }, expected: 9 }),
      ).toMatchObject({
        ...{ changed: 0, unchanged: 0, capped: false, words: '0 keys were parked.' },
      })
      expect(await done(site, { action: 'park', all, expected: 30 })).toMatchObject({
        ...{ changed: 10, unchanged: 0, capped: false },
      })
      const parked = { state: 'parked' }
      expect(await done(site, { action: 'unpark', all: parked, expected: 30 })).toMatchObject({
        changed: 30,
      })
      expect(await done(site, { action: 'forget', all, expected: 30 })).toMatchObject({
        ...{ changed: 0, unchanged: 0 },
      })
      expect(await done(site, { action: 'runNow', all, expected: 0 })).toMatchObject({ changed: 0 })
      const remove = { queue: 'orders', action: 'remove', all, expected: 30 }
      expect(await refused(site.act(remove))).toBe('ERR_NOT_CONFIRMED')
      expect((await queue.inspect.counts()).ready).toBe(31)
      expect(await done(site, { ...remove, confirm: 'orders' })).toMatchObject({ changed: 30 })
      expect((await queue.inspect.list()).keys.map(({ key }) => key)).toEqual(['other'])
    })

    test('changes nothing for a request that says something else than it may', async () => {
      const { site, queue } = await setUp()
      await queue.add('a')
      const before = await queue.inspect.list()
      const wrong = [
        {},
        { action: 'drop', key: 'a' },
        { action: 'toString', key: 'a' },
        { action: '__proto__', key: 'a' },
        { action: ['park'], key: 'a' },
        { action: 'park' },
        { action: 'park', key: 'a', all: {}, expected: 1 },
        { action: 'park', all: {} },
        { action: 'park', all: {}, expected: -1 },
        { action: 'park', all: {}, expected: '1' },
        { action: 'park', all: [], expected: 1 },
        { action: 'park', all: 'a', expected: 1 },
        { action: 'park', all: { status: 'ready' }, expected: 1 },
        { action: 'park', all: { state: 'happy' }, expected: 1 },
        { action: 'park', all: { prefix: 1 }, expected: 1 },
        { action: 'park', all: { failuresMin: '0' }, expected: 1 },
        { action: 'park', key: 'a', item: 1 },
        { action: 'park', key: 'a', priority: 1 },
        { action: 'unpark', key: 'a', forget: 'yes' },
        { action: 'pause', key: 'a' },
        { action: 'pause', all: {}, expected: 1 },
        { action: 'purge', key: 'a', confirm: 'orders' },
        { action: 'release' },
        { action: 'release', key: 'a', token: '1' },
        { action: 'release', key: 'a', token: 1.5 },
        { action: 'release', key: 'a', all: {}, expected: 1 },
        { action: 'runNow', key: 'a', token: 1 },
        { action: 'runNow', key: 'a', afterMs: 1 },
        { action: 'park', all: null, expected: 1 },
        { action: 'park', all: { errorCode: 'x'.repeat(513) }, expected: 1 },
        { action: 'park', all: { prefix: 'a\0' }, expected: 1 },
        { action: 'park', key: 'a', quee: 'x' },
      ]
      for (const action of wrong) {
        const code = await refused(site.act({ queue: 'orders', ...action }))
        expect(code, JSON.stringify(action)).toBe('ERR_INVALID_INPUT')
      }
      expect(await refused(site.act({ action: 'park', key: 'a' }))).toBe('ERR_INVALID_INPUT')
      expect(await queue.inspect.list()).toEqual(before)
    })

    test('shows a queue of which every key is done, since a worker is there for the next', async () => {
      const { site, queue } = await setUp()
      await queue.add('a')
      const worker = createWorker({ queue, handler: async () => {} })
      await worker.runUntilIdle()
      expect((await queue.inspect.list()).keys).toEqual([])
      // A worker takes keys before the store has answered its registration.
      await expect.poll(() => queue.inspect.workers()).toHaveLength(1)
      const { body } = await site.ask<Overview>('/api/overview')
      expect(body.queues).toMatchObject([{ queue: 'orders', severity: 'ok' }])
    })

    test('is published for audit logs, with the visitor and without the item', async () => {
      const { site } = await setUp()
      const acted: SluiceEvent[] = []
      const end = (event: SluiceEvent): void => {
        if (event.verb === 'acted') acted.push(event)
      }
      const others = { start() {}, asyncStart() {}, asyncEnd() {}, error() {} }
      sluiceChannel.subscribe({ ...others, end })
      try {
        await done(site, { action: 'add', key: 'a', item: { secret: 1 } })
        await site.act({ queue: 'orders', action: 'park' })
      } finally {
        sluiceChannel.unsubscribe({ ...others, end })
      }
      expect(acted).toMatchObject([
        { queue: 'orders', request: { who: 'token', action: 'add', key: 'a' } },
      ])
      expect(JSON.stringify(acted[0]?.request)).not.toContain('secret')
    })
  })
}
