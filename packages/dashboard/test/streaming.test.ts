import type { Driver } from '@sluice/core'
import { fakeClock } from '@sluice/core/testing'
import { memoryDriver } from '@sluice/memory'
import { createRateLimitingQueue, type RateLimitingQueue, SluiceError } from 'sluice'
import { afterEach, describe, expect, test } from 'vitest'
import type { Delta, Overview, QueueRow, SessionInfo } from '../src/wire.ts'
import { EventReader } from './event-reader.ts'
import { actingSite, Site, token } from './site.ts'

const open: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const one of open.splice(0)) await one.close()
})

function kept<One extends { close(): Promise<void> }>(one: One): One {
  open.push(one)
  return one
}

function queueOf(site: Site, name: string): RateLimitingQueue<string> {
  return kept(createRateLimitingQueue<string>({ name, driver: site.driver, clock: site.clock }))
}

async function watch(
  site: Site,
  query: string,
  headers: Record<string, string> = {},
): Promise<EventReader> {
  const response = await site.send(`/api/stream?${query}`, { headers })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  return new EventReader(response)
}

/** How often each verb of a driver is called. */
function counted(inner: Driver): { driver: Driver; calls: Record<string, number> } {
  const calls: Record<string, number> = {}
  const driver = new Proxy(inner, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        calls[String(name)] = (calls[String(name)] ?? 0) + 1
        return value.apply(target, args)
      }
    },
  })
  return { driver, calls }
}

/** Lets a read end that yields to the event loop after every few queues. */
async function manyTurns(): Promise<void> {
  for (let turn = 0; turn < 300; turn += 1) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve)
    })
  }
}

/** The view that results from a snapshot and the deltas after it. */
function applied(
  before: Overview,
  { set, unset = [], rows = {}, gone = [], order }: Delta,
): Overview {
  const known = new Map(before.queues.map((row) => [row.queue, row]))
  for (const name of gone) known.delete(name)
  for (const [name, row] of Object.entries(rows)) known.set(name, row)
  const names = order ?? [...known.keys()]
  const rest = Object.entries({ ...before, ...set }).filter(([name]) => !unset.includes(name))
  return {
    ...(Object.fromEntries(rest) as unknown as Overview),
    queues: names.map((name) => known.get(name) as QueueRow),
  }
}

/** A store that fails with a given error. */
function failing(): { driver: Driver; fail: { with: unknown } } {
  const fail: { with: unknown } = { with: undefined }
  const inner = memoryDriver()
  const failingVerbs: ProxyHandler<object> = {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown
      if (name === 'operate') return new Proxy(value as object, failingVerbs)
      if (typeof value !== 'function') return value
      if (name === 'close') return value.bind(target)
      return (...args: unknown[]) => {
        if (fail.with !== undefined) throw fail.with
        return value.apply(target, args)
      }
    },
  }
  const driver = new Proxy<Driver>(inner, failingVerbs)
  return { driver, fail }
}

/** The error of an unreachable store, with a password in it. */
const gone = new SluiceError('ERR_STORE', 'cannot reach postgres://joe:hush@db/x: refused', {
  retryable: true,
})

describe('a stream', () => {
  test('begins with a snapshot, and continues with changes', async () => {
    const site = kept(new Site())
    const queue = queueOf(site, 'orders')
    await queue.add('a')
    const events = await watch(site, 'about=overview')
    await site.clock.step(0)
    const first = await events.next()
    expect(first).toMatchObject({ event: 'snapshot', id: expect.stringMatching(/^\d+$/) })
    expect(first?.data.queues).toMatchObject([{ queue: 'orders', severity: 'no workers' }])

    await queueOf(site, 'mails').add('b')
    await queue.inspect.pause()
    await site.clock.step(1_000)
    const second = await events.next()
    expect(second).toMatchObject({
      event: 'delta',
      data: {
        rows: { mails: { queue: 'mails' }, orders: { severity: 'paused' } },
        order: ['mails', 'orders'],
      },
    })
    expect(Number(second?.id)).toBeGreaterThan(Number(first?.id))
    const now = await site.ask<Overview>('/api/overview')
    expect(applied(first?.data, second?.data)).toEqual(now.body)

    await queue.inspect.purge()
    await queue.inspect.resume()
    await site.clock.step(1_000)
    expect(await events.next()).toMatchObject({ event: 'delta', data: { gone: ['orders'] } })
  })

  test('sends a ping for each tick without a change', async () => {
    const site = kept(new Site())
    const events = await watch(site, 'about=overview')
    await site.clock.step(0)
    const { data } = (await events.next()) ?? {}
    await site.clock.step(1_000)
    expect(await events.next()).toEqual({
      event: 'ping',
      id: undefined,
      data: { at: data.at + 1_000 },
    })
  })

  test('is never silent for more than 15 seconds, however slow the store is', async () => {
    const driver = memoryDriver()
    const site = kept(new Site({ driver, tickMs: 60_000 }))
    const events = await watch(site, 'about=overview')
    await site.clock.step(0)
    expect((await events.next())?.event).toBe('snapshot')
    for (let beats = 0; beats < 3; beats += 1) {
      await site.clock.step(15_000)
      expect((await events.next())?.event).toBe('ping')
    }
  })

  test('about a queue follows it, and about a key contains the observed steps', async () => {
    const site = kept(new Site())
    const queue = queueOf(site, 'orders')
    await queue.add('a')
    const whole = await watch(site, 'about=queue&queue=orders')
    const one = await watch(site, 'about=key&queue=orders&key=a')
    await site.clock.step(0)
    expect(await whole.next()).toMatchObject({ event: 'snapshot', data: { counts: { ready: 1 } } })
    expect(await one.next()).toMatchObject({ event: 'snapshot', data: { state: 'ready' } })
    const held = await queue.get()
    await site.clock.step(1_000)
    expect(await whole.next()).toMatchObject({
      event: 'delta',
      data: {
        set: { counts: { ready: 0, processing: 1 }, leases: [{ key: 'a', isDirty: false }] },
      },
    })
    expect(await one.next()).toMatchObject({ data: { set: { state: 'processing' } } })
    await held?.retry(new Error('no'))
    await site.clock.step(1_000)
    const { data } = (await one.next()) ?? {}
    expect(data.set.errors).toMatchObject([{ message: 'no', at: expect.any(Number) }])
    // Observed, and recorded by the store: one step, with the time of the store.
    expect(data.set.steps.slice(-2)).toMatchObject([
      { from: 'row', to: 'backoff', note: 'failed, failure 1' },
      { from: 'row', to: 'ready', note: 'became due' },
    ])
    expect(await whole.next()).toMatchObject({ data: { set: { leases: [] } } })
  })

  test('about a queue called __proto__ is one like others', async () => {
    const site = kept(new Site())
    const queue = queueOf(site, '__proto__')
    const events = await watch(site, 'about=overview')
    await site.clock.step(0)
    await events.next()
    await queue.add('a')
    await site.clock.step(1_000)
    const { data } = (await events.next()) ?? {}
    expect(Object.keys(data.rows)).toEqual(['__proto__'])
  })
})

describe('a reader that reconnects', () => {
  test('gets what it missed, and nothing twice', async () => {
    const site = kept(new Site())
    const queue = queueOf(site, 'orders')
    const staying = await watch(site, 'about=overview')
    const leaving = await watch(site, 'about=overview')
    await site.clock.step(0)
    await staying.next()
    const { id = '' } = (await leaving.next()) ?? {}
    await leaving.cancel()
    const sent: unknown[] = []
    for (const key of ['a', 'b', 'c']) {
      await queue.add(key)
      await site.clock.step(1_000)
      sent.push(await staying.next())
    }
    const back = await watch(site, 'about=overview', { 'last-event-id': id })
    expect([await back.next(), await back.next(), await back.next()]).toEqual(sent)
    await queue.add('d')
    await site.clock.step(1_000)
    expect(await back.next()).toEqual(await staying.next())
  })

  test('continues where it was if there were no other readers meanwhile', async () => {
    const site = kept(new Site())
    const queue = queueOf(site, 'orders')
    const first = await watch(site, 'about=overview')
    await site.clock.step(0)
    const { id = '', data } = (await first.next()) ?? {}
    await first.cancel()
    await queue.add('a')
    await site.clock.step(10_000)
    const back = await watch(site, 'about=overview', { 'last-event-id': id })
    await site.clock.step(0)
    const next = await back.next()
    expect(next).toMatchObject({
      event: 'delta',
      data: { rows: { orders: { counts: { ready: 1 } } } },
    })
    expect(applied(data, next?.data).queues).toHaveLength(1)
  })

  test('gets all of it again after a gap that cannot be filled', async () => {
    const site = kept(new Site())
    const queue = queueOf(site, 'orders')
    const staying = await watch(site, 'about=overview')
    await site.clock.step(0)
    const { id = '' } = (await staying.next()) ?? {}
    for (let key = 0; key < 210; key += 1) {
      await queue.add(`k${key}`)
      await site.clock.step(1_000)
      await staying.next()
    }
    for (const lastId of [id, '1', '-1', 'x', '', String(Number.MAX_SAFE_INTEGER)]) {
      const back = await watch(site, 'about=overview', { 'last-event-id': lastId })
      const event = await back.next()
      expect(event, lastId).toMatchObject({ event: 'snapshot' })
      expect(event?.data.queues[0].counts.ready).toBe(210)
      await back.cancel()
    }
  })

  test('from before a restart, or from another view, gets all of it', async () => {
    const site = kept(new Site())
    const one = await watch(site, 'about=overview')
    await site.clock.step(0)
    const { id = '' } = (await one.next()) ?? {}
    const other = await watch(site, 'about=queue&queue=orders', { 'last-event-id': id })
    await site.clock.step(0)
    expect((await other.next())?.event).toBe('snapshot')
    await site.clock.step(1)
    const restarted = kept(new Site({}, site.clock))
    const again = await watch(restarted, 'about=overview', { 'last-event-id': id })
    await site.clock.step(0)
    const event = await again.next()
    expect(event?.event).toBe('snapshot')
    expect(Number(event?.id)).toBeGreaterThan(Number(id))
  })
})

describe('reading', () => {
  test('happens once per tick for all readers, and not without readers', async () => {
    const { driver, calls } = counted(memoryDriver())
    const site = kept(new Site({ driver }))
    await queueOf(site, 'orders').add('a')
    const readers: EventReader[] = []
    for (let reader = 0; reader < 20; reader += 1) readers.push(await watch(site, 'about=overview'))
    await site.clock.step(0)
    const before = calls['counts'] ?? 0
    for (let tick = 0; tick < 5; tick += 1) await site.clock.step(1_000)
    expect((calls['counts'] ?? 0) - before).toBe(5)
    for (const reader of readers) await reader.cancel()
    const after = { ...calls }
    await site.clock.step(600_000)
    expect(calls).toEqual(after)
    expect(site.assembled.live.size).toBe(0)
  })

  test('takes no more than a tenth of the time', async () => {
    const site = kept(new Site())
    let looks = 0
    const { driver } = site
    const queues = driver.queues?.bind(driver)
    Object.assign(driver, {
      async queues() {
        looks += 1
        // The store takes 2 seconds, while time passes for everything else.
        await new Promise<void>((resolve) => {
          site.clock.startTimer(2_000, resolve)
        })
        return await queues?.()
      },
    })
    const events = await watch(site, 'about=overview')
    for (let second = 0; second < 100; second += 1) await site.clock.step(1_000)
    expect(looks).toBeGreaterThanOrEqual(5)
    expect(looks).toBeLessThanOrEqual(6)
    await events.cancel()
  })

  test('leaves no timer behind when the last reader has gone', async () => {
    const site = kept(new Site())
    const waiting = site.clock.waiters()
    const readers = [await watch(site, 'about=overview'), await watch(site, 'about=queue&queue=a')]
    await site.clock.step(2_500)
    for (const reader of readers) await reader.cancel()
    // The view is kept for a while, for readers that reconnect.
    await site.clock.step(30_000)
    expect(site.clock.waiters()).toBe(waiting)
  })
})

describe('streams', () => {
  test('are limited in number; further ones are rejected with the reason', async () => {
    const site = kept(new Site({ streamsMax: 3 }))
    const readers: EventReader[] = []
    // A browser hides why a stream was refused, so the session says it.
    const whyNot = async () => (await site.ask<SessionInfo>('/api/session')).body.noStreamBecause
    for (let reader = 0; reader < 3; reader += 1) {
      expect(await whyNot()).toBeUndefined()
      readers.push(await watch(site, 'about=overview'))
    }
    const { status, headers, body } = await site.ask('/api/stream?about=overview')
    expect([status, headers.get('retry-after')]).toEqual([503, '10'])
    expect(body).toMatchObject({ code: 'ERR_TOO_MANY_STREAMS', message: await whyNot() })
    expect(await whyNot()).toMatch(/the limit of 3 open pages/)
    await readers[0]?.cancel()
    expect(await whyNot()).toBeUndefined()
    await watch(site, 'about=overview')
  })

  test('end when their reader goes away, however it does, and only once', async () => {
    const site = kept(new Site())
    const aborting = new AbortController()
    const response = await site.send('/api/stream?about=overview', { signal: aborting.signal })
    const events = new EventReader(response)
    await site.clock.step(0)
    expect((await events.next())?.event).toBe('snapshot')
    expect(site.assembled.live.size).toBe(1)
    aborting.abort()
    expect(await events.next()).toBeUndefined()
    await events.cancel()
    aborting.abort()
    expect(site.assembled.live.size).toBe(0)
    const gone = AbortSignal.abort()
    const late = await site.send('/api/stream?about=overview', { signal: gone })
    expect(await late.text()).toBe('')
    expect(site.assembled.live.size).toBe(0)
  })

  test('are not opened for answers without a body', async () => {
    const site = kept(new Site())
    const { status } = await site.send('/api/stream?about=overview', { method: 'HEAD' })
    expect([status, site.assembled.live.size]).toEqual([405, 0])
  })

  test('end with the session that opened them', async () => {
    const site = kept(new Site({ auth: { token }, tickMs: 60_000 }))
    await site.signIn()
    const lasting = await watch(site, 'about=overview')
    await site.clock.step(60_000)
    await site.signIn()
    const leaving = await watch(site, 'about=overview')
    expect(site.assembled.live.size).toBe(2)
    await site.ask('/api/sign-out', { method: 'POST', body: {} })
    expect(site.assembled.live.size).toBe(1)
    expect(await leaving.nextBut('snapshot')).toBeUndefined()
    await site.clock.step(12 * 60 * 60 * 1_000 - 30_000)
    expect(site.assembled.live.size).toBe(0)
    expect(await lasting.nextBut('snapshot', 'ping')).toBeUndefined()
  })

  test('end when the application no longer trusts their visitor', async () => {
    const visitors: (string | undefined)[] = ['ann', 'bob', 'cem', 'dee']
    const asked = [0, 0, 0, 0]
    const trust = (request: Request): string | undefined | Promise<string> => {
      const index = Number(request.headers.get('cookie'))
      asked[index] = (asked[index] ?? 0) + 1
      if (visitors[index] === 'failing') throw new Error('the users cannot be read')
      if (visitors[index] === 'silent') return new Promise<never>(() => undefined)
      return visitors[index]
    }
    const site = kept(new Site({ auth: { trust } }))
    const streams = []
    for (const cookie of ['0', '1', '2', '3']) {
      streams.push(await watch(site, 'about=overview', { cookie }))
    }
    const pass = async (): Promise<void> => {
      for (let second = 0; second < 61; second += 1) await site.clock.step(1_000)
    }
    await pass()
    expect(site.assembled.live.size).toBe(4)
    // Not for every event: `trust` may read a database.
    expect(Math.max(...asked)).toBeLessThan(5)
    visitors[0] = undefined
    visitors[1] = 'eve'
    visitors[2] = 'failing'
    visitors[3] = 'silent'
    await pass()
    await pass()
    expect(site.assembled.live.size).toBe(0)
    for (const stream of streams) {
      expect(await stream.nextBut('snapshot', 'ping', 'delta')).toBeUndefined()
    }
  })

  test('end with the dashboard, which can be closed twice', async () => {
    const site = kept(new Site())
    const events = await watch(site, 'about=overview')
    await Promise.all([site.close(), site.close()])
    expect(await events.next()).toBeUndefined()
    expect((await site.ask('/api/stream?about=overview')).status).toBe(503)
    expect((await site.ask('/api/overview')).body).toMatchObject({ code: 'ERR_CLOSED' })
    expect(site.clock.waiters()).toBe(0)
  })

  test('of readers that stop reading are skipped, then closed, and nothing is buffered for them', async () => {
    const site = kept(new Site())
    for (let queue = 0; queue < 100; queue += 1) await queueOf(site, `queue ${queue}`).add('a')
    const reading = await watch(site, 'about=overview')
    const lazy = await site.send('/api/stream?about=overview')
    const changing = queueOf(site, 'queue 0')
    await site.clock.step(0)
    expect((await reading.next())?.event).toBe('snapshot')
    // Each change sends a row of about half a kilobyte: more than may wait for a reader.
    let ticks = 0
    while (site.assembled.live.size === 2 && ticks < 10_000) {
      ticks += 1
      for (let queue = 0; queue < 100; queue += 1) {
        await changing.inspect.park('a')
      }
      await site.clock.step(1_000)
      await reading.next()
    }
    expect(ticks).toBeGreaterThan(30)
    expect(site.assembled.live.size).toBe(1)
    await expect(lazy.text()).rejects.toThrow('has stopped reading')
  })

  test('that were passed over go on with all of it once their reader reads', async () => {
    const site = kept(new Site({}, fakeClock(undefined, { settle: manyTurns })))
    const name = 'x'.repeat(100)
    const queues = Array.from({ length: 900 }, (_, at) => queueOf(site, `${name} ${at}`))
    for (const queue of queues) await queue.add('a')
    const slow = await watch(site, 'about=overview')
    // The snapshot alone is more than may wait.
    await site.clock.step(0)
    await queues[0]?.inspect.pause()
    await site.clock.step(1_000)
    await queues[1]?.inspect.pause()
    await site.clock.step(1_000)
    expect(site.assembled.live.size).toBe(1)
    const first = await slow.next()
    expect(first?.event).toBe('snapshot')
    await site.clock.step(1_000)
    const second = await slow.next()
    expect(second?.event).toBe('snapshot')
    const paused = second?.data.queues.filter((row: QueueRow) => row.counts.paused)
    expect(paused).toHaveLength(2)
    expect(Number(second?.id)).toBeGreaterThan(Number(first?.id))
  })
})

describe('a store that cannot be reached', () => {
  test('is reported with its code and its beginning, retried, and shown again when it is back', async () => {
    const { driver, fail } = failing()
    const site = kept(new Site({ driver }))
    const queue = queueOf(site, 'orders')
    await queue.add('a')
    const events = await watch(site, 'about=overview')
    await site.clock.step(0)
    expect((await events.next())?.event).toBe('snapshot')
    fail.with = gone
    const answer = await site.ask('/api/overview')
    expect([answer.status, answer.body['code']]).toEqual([503, 'ERR_STORE'])
    expect(answer.text).not.toContain('hush')
    const told: number[] = []
    for (let second = 0; second < 60; second += 1) {
      await site.clock.step(1_000)
    }
    fail.with = undefined
    await queue.add('b')
    await site.clock.step(10_000)
    for (;;) {
      const event = await events.nextBut('ping')
      if (event?.event !== 'trouble') {
        expect(event).toMatchObject({ event: 'snapshot' })
        expect(event?.data.queues[0].counts.ready).toBe(2)
        break
      }
      expect(event.data).toMatchObject({
        code: 'ERR_STORE',
        message: expect.stringContaining('db/x'),
      })
      expect(event.data.message).not.toContain('hush')
      told.push(event.data.sinceMs)
    }
    // After 1, 2, 4, 8 seconds and then every 10.
    expect(told).toEqual([0, 1_000, 3_000, 7_000, 15_000, 25_000, 35_000, 45_000, 55_000])
    await site.clock.step(1_000)
    expect((await events.next())?.event).toBe('delta')
  })

  test('is reported to new readers, with the last view', async () => {
    const { driver, fail } = failing()
    const site = kept(new Site({ driver }))
    await queueOf(site, 'orders').add('a')
    const first = await watch(site, 'about=overview')
    await site.clock.step(0)
    await first.next()
    fail.with = gone
    await site.clock.step(1_000)
    expect((await first.next())?.event).toBe('trouble')
    const second = await watch(site, 'about=overview')
    expect(await second.next()).toMatchObject({ event: 'snapshot', data: { queues: [{}] } })
    expect(await second.next()).toMatchObject({ event: 'trouble', data: { sinceMs: 0 } })
    const other = await watch(site, 'about=queue&queue=orders')
    await site.clock.step(0)
    expect((await other.next())?.event).toBe('trouble')
    fail.with = undefined
    await site.clock.step(10_000)
    expect((await other.nextBut('trouble'))?.event).toBe('snapshot')
  })

  test('by a mistake of ours is no reason to stop: it is reported, without its words', async () => {
    const { driver, fail } = failing()
    const site = kept(new Site({ driver }))
    const events = await watch(site, 'about=overview')
    fail.with = new Error('secret of the inside')
    await site.clock.step(0)
    const { event, data } = (await events.next()) ?? {}
    expect([event, data.code]).toEqual(['trouble', 'ERR_INTERNAL'])
    expect(JSON.stringify(data)).not.toContain('secret')
    expect(site.errors.length).toBeGreaterThan(0)
    fail.with = undefined
    await site.clock.step(10_000)
    expect((await events.nextBut('trouble'))?.event).toBe('snapshot')
  })
})

describe('an action', () => {
  test('is announced also if the store failed', async () => {
    const { driver, fail } = failing()
    const site = kept(await actingSite({ driver }))
    const events = await watch(site, 'about=overview')
    await site.clock.step(0)
    await events.next()
    fail.with = gone
    const { status, text } = await site.act({ queue: 'orders', action: 'pause' })
    expect(status).toBe(503)
    expect(text).not.toContain('hush')
    const { event, data } = (await events.next()) ?? {}
    expect([event, data.action]).toEqual(['audit', 'pause'])
    expect(data.words).toMatch(/^It failed: cannot reach/)
    expect(data.words).not.toContain('hush')
    fail.with = undefined
  })

  test('is announced to every reader, and shown at once', async () => {
    const site = kept(await actingSite())
    await queueOf(site, 'orders').add('a')
    const overview = await watch(site, 'about=overview')
    const key = await watch(site, 'about=key&queue=orders&key=a')
    await site.clock.step(0)
    await overview.next()
    await key.next()
    await site.act({ queue: 'orders', action: 'park', key: 'a' })
    const audit = {
      event: 'audit',
      data: { queue: 'orders', action: 'park', words: 'a: The key was parked.' },
    }
    expect(await overview.next()).toMatchObject(audit)
    expect(await key.next()).toMatchObject(audit)
    await site.clock.step(0)
    expect(await overview.next()).toMatchObject({ event: 'delta' })
    expect(await key.next()).toMatchObject({ data: { set: { state: 'parked' } } })
  })
})
